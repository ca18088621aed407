/** Every route of the gateway in one list. Nothing is reachable that is not here. */
import type { MediaLinks } from "./access/media-links.ts";
import type { Route } from "./route.ts";
import { cronRoutes } from "./automation/cron-routes.ts";
import { webhookRoutes } from "./automation/hook-routes.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { chatRoutes } from "./routes/chat.ts";
import { mediaRoutes } from "./routes/media.ts";
import { messageRoutes } from "./routes/messages.ts";
import { operateRoutes } from "./routes/operate.ts";
import { outboxRoutes } from "./routes/outbox.ts";
import { pluginRoutes } from "./routes/plugins.ts";
import { pairingRoutes } from "./routes/pairing.ts";
import { publicRoutes } from "./routes/public.ts";
import { explainRouteRoutes } from "./routing/explain-route.ts";
import { sessionSettingRoutes } from "./routes/session-settings.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { type SignInDeps, signInRoutes } from "./routes/sign-in.ts";
import { toolRoutes } from "./routes/tools.ts";
import { turnRoutes } from "./routes/turns.ts";
import { usageRoutes } from "./usage/usage-routes.ts";
import { questionRoutes } from "./tools/question-routes.ts";
import type { HttpDeps, HttpOptions } from "./types.ts";

export interface TableDeps extends HttpDeps {
  readonly signIn: SignInDeps;
  readonly links: MediaLinks;
  readonly stopping: AbortSignal;
  isReady(): boolean | Promise<boolean>;
}

export function routeTable(deps: TableDeps, limits: HttpOptions["limits"]): readonly Route[] {
  return [
    ...publicRoutes(deps.page, deps.isReady),
    ...signInRoutes(deps.signIn),
    ...operateRoutes(deps),
    ...chatRoutes(deps, limits),
    ...messageRoutes(deps, limits),
    ...sessionRoutes(deps),
    ...sessionSettingRoutes(deps),
    ...turnRoutes(deps),
    ...toolRoutes(deps),
    ...mediaRoutes(deps, deps.links, limits),
    ...outboxRoutes(deps),
    ...approvalRoutes(deps),
    ...questionRoutes(deps),
    ...pluginRoutes(deps),
    ...cronRoutes(deps),
    ...webhookRoutes(deps),
    ...pairingRoutes(deps),
    ...explainRouteRoutes(deps),
    ...usageRoutes(deps),
  ];
}
