/** Every route of the gateway in one list, its files in the order of the list. Nothing is reachable that is not here, but for platform webhooks (routes/platform-webhooks.ts), whose paths come from the configuration. */
import type { Route } from "./route.ts";
import type { HttpDeps, ServerParts } from "./types.ts";
import { publicRoutes } from "./routes/public.ts";
import { docsRoutes } from "./routes/docs.ts";
import { type SignInDeps, signInRoutes } from "./routes/sign-in.ts";
import { browserRoutes } from "./routes/browsers.ts";
import { operateRoutes } from "./routes/operate.ts";
import { chatRoutes } from "./routes/chat.ts";
import { messageRoutes } from "./routes/messages.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { sessionSettingRoutes } from "./routes/session-settings.ts";
import { sessionCareRoutes } from "./routes/session-care.ts";
import { turnRoutes } from "./routes/turns.ts";
import { activityRoutes } from "./routes/activity.ts";
import { agentRoutes } from "./routes/agents.ts";
import { channelRoutes } from "./routes/channels.ts";
import { setupRoutes } from "./routes/setup.ts";
import { systemRoutes } from "./routes/system.ts";
import { updateRoutes } from "./routes/update.ts";
import { toolRoutes } from "./routes/tools.ts";
import { mediaRoutes } from "./routes/media.ts";
import { outboxRoutes } from "./routes/outbox.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { notificationRoutes } from "./routes/notifications.ts";
import { questionRoutes } from "./routes/questions.ts";
import { pluginRoutes } from "./routes/plugins.ts";
import { mcpServerRoutes } from "./routes/mcp-servers.ts";
import { cronRoutes } from "./routes/cron.ts";
import { automationRoutes } from "./routes/automations.ts";
import { webhookRoutes } from "./routes/incoming-webhooks.ts";
import { pairingRoutes } from "./routes/pairing.ts";
import { explainRouteRoutes } from "./routes/explain-route.ts";
import { peopleRoutes } from "./routes/people.ts";
import { modelRoutes } from "./routes/models.ts";
import { keyRoutes } from "./routes/keys.ts";
import { usageRoutes } from "./routes/usage.ts";
import { openAiRoutes } from "./routes/openai.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { responseRoutes } from "./routes/responses.ts";

interface TableParts extends ServerParts {
  readonly signIn: SignInDeps;
  isReady(): boolean | Promise<boolean>;
}

export function routeTable(deps: HttpDeps, server: TableParts): readonly Route[] {
  const { signIn, limits } = server;
  return [
    ...publicRoutes(deps.console, server.isReady),
    ...docsRoutes(deps.console),
    ...signInRoutes(signIn),
    ...browserRoutes(signIn),
    ...operateRoutes(deps),
    ...chatRoutes(deps, server),
    ...messageRoutes(deps, limits),
    ...sessionRoutes(deps),
    ...sessionSettingRoutes(deps),
    ...sessionCareRoutes(deps, limits),
    ...turnRoutes(deps),
    ...activityRoutes(deps),
    ...agentRoutes(deps),
    ...channelRoutes(deps),
    ...systemRoutes(deps),
    ...setupRoutes(deps),
    ...updateRoutes(deps),
    ...toolRoutes(deps),
    ...mediaRoutes(deps, server),
    ...outboxRoutes(deps),
    ...approvalRoutes(deps),
    ...notificationRoutes(deps),
    ...questionRoutes(deps),
    ...pluginRoutes(deps),
    ...mcpServerRoutes(deps),
    ...cronRoutes(deps),
    ...automationRoutes(deps),
    ...webhookRoutes(deps, signIn.auth),
    ...pairingRoutes(deps),
    ...explainRouteRoutes(deps),
    ...peopleRoutes(deps),
    ...modelRoutes(deps),
    ...usageRoutes(deps),
    ...keyRoutes(deps),
    ...openAiRoutes(deps, server),
    ...mcpRoutes(deps, signIn.auth),
    ...responseRoutes(deps, server),
  ];
}
