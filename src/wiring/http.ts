/** The port: the web console, the JSON API, the event socket and webhooks, with what each of them offers. */
import { type Config, publicConfig } from "../config/index.ts";
import type { ClientStream } from "../contracts/events.ts";
import type { McpDoor } from "../contracts/mcp-door.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { ResponsesDoor } from "../contracts/responses.ts";
import type { PluginHost } from "../contracts/plugin.ts";
import { createWaitingMessages } from "../flow/index.ts";
import { accessSettings, httpOptions, type HttpServer, openHttp, type HttpDeps } from "../http/index.ts";
import type { LiveMetrics } from "../observe/index.ts";
import { chooseSession, createRoleDirectory, explainRoute } from "../routing/index.ts";
import type { Updater } from "../contracts/update.ts";
import { createUpdater } from "../update/index.ts";
import { gaugesOf } from "../status.ts";
import { createAuditVerifier, openSecretFiles } from "../store/index.ts";
import type { Drain } from "../nodes/index.ts";
import { automationForPort } from "./automation-views.ts";
import type { Operations } from "./built-in-tools.ts";
import { type Core, ofModule } from "./core.ts";
import type { Groups } from "./groups.ts";
import { createModelKeys } from "./model-keys.ts";
import { anyOther, listNodes } from "./nodes.ts";
import { mcpServersForPort } from "./mcp-servers.ts";
import { openOperatorToken } from "./operator-token.ts";
import { storageOf } from "./retention.ts";
import { createSessionCare } from "./session-care.ts";
import { createSetup } from "./setup.ts";
import { createSystemLook } from "./system.ts";
import { openOpenAiDoors } from "./openai.ts";

/** With those that ended in the last days. */
const SHOWN_NODES = 200;

interface PortParts extends Groups {
  readonly plugins: PluginHost;
  readonly operations: Operations;
  readonly metrics: LiveMetrics;
  readonly stream: ClientStream;
  readonly mcp: McpDoor;
  readonly drain: Pick<Drain, "begin">;
  status(): GatewayStatus;
}

interface Port {
  readonly server: HttpServer;
  readonly responses: ResponsesDoor;
  /** Puts the settings for sign-in and host names of this configuration into effect. */
  reload(config: Config): void;
}

/** Throws GatewayError when the port is taken, or when webhooks have the gateway's own token. */
export async function openPort(whole: Core, parts: PortParts): Promise<Port> {
  const core = ofModule(whole, "http");
  const { clock, ids, log, events, store, config, options } = core;
  const { people, tools, agents, mcpServers, messages, automation } = parts;
  const notifications = parts.notifications.browsers;
  const { plugins, operations, metrics, stream, mcp, drain, status } = parts;
  const { queue, outbox, builtinChannels } = messages;
  const token = await openOperatorToken(core);
  const { mediaKey } = openSecretFiles({ ids, shared: config().store.secret }, options.home);
  const { severalGateways, elsewhere } = signInsElsewhere(core);
  const doors = openOpenAiDoors(core, parts);
  const auditVerifier = createAuditVerifier({ clock }, options.home, config().store.url);
  const waiting = createWaitingMessages({ events, queue, outbox });
  const system = createSystemLook(core, {
    status,
    plugins,
    verifier: auditVerifier,
    backups: operations.backups,
    tools: () => tools.list().tools,
    reload: operations.reloadConfig,
    token: () => token.of(config()),
  });
  const server = openHttp(
    {
      clock,
      ids,
      log,
      events,
      stream,
      store,
      console: options.console,
      messages: {
        receiver: { receive: messages.receiver.receive, prepare: messages.preparer.prepare },
        live: messages.live,
        waiting,
        care: createSessionCare(core, { waiting, abort: messages.live.abort }),
        files: messages.inboundFiles,
        webchat: builtinChannels.webchat,
        api: builtinChannels.api,
        sessions: { parse: (text, agent, key) => chooseSession(config(), text, agent, key) },
        models: agents.models,
        ...doors,
        platformWebhook: messages.platforms.webhook,
      },
      people: {
        commands: messages.commands,
        pairing: people.pairing,
        budget: people.budget,
        roles: createRoleDirectory({ clock, config, grants: people.grants, policies: people.policies }),
        keys: people.keys,
        counts: core.nodes.counts,
        ...(elsewhere ? { elsewhere } : {}),
        notifications,
        policyOf: people.policies.policyOf,
        isOwnChannel: core.channels.isOwn,
        accountOf: core.channels.accountOf,
        explainRoute: (facts) => explainRoute(config(), facts, people.policies, people.grants.current()),
      },
      tools: { ...tools, mcp },
      automation: automationForPort(core, automation, system.config),
      operations: {
        status,
        nodes: nodesForPort(core, drain),
        replyRetries: messages.replyRetries,
        storage: storageOf(core),
        metrics,
        plugins,
        mcpServers: mcpServersForPort(core, mcpServers, () => status().config.file),
        views: {
          agents: agents.look,
          system,
          auditVerifier,
          modelKeys: createModelKeys(core),
          updater: updaterForPort(core, status),
          setup: createSetup(core, { status, editor: system.config, notifications }),
        },
        publicConfig: () => publicConfig(config()),
        reloadConfig: operations.reloadConfig,
        rotateToken: token.rotate,
        restart: operations.restart,
      },
    },
    httpOptions(config, { token: token.of(config()), mediaKey, severalGateways }),
  );
  const reload = (next: Config): void => server.update(accessSettings(next, token.of(next)));
  token.onChange(() => reload(config()));
  shareSignIns(core, server);
  metrics.registerGauges(() => gaugesOf(status(), server));
  return { server, responses: doors.responses, reload };
}

/** Where one gateway has the database, nobody is asked. */
function signInsElsewhere({ store, nodes: { others } }: Pick<Core, "store" | "nodes">) {
  if (!store.nodes.several) return { severalGateways: false };
  const useCode = (digest: string): Promise<boolean> =>
    anyOther(others, (node) => others.ask(node, "sign-ins.useCode", { digest }));
  return { severalGateways: true, elsewhere: { useCode, signedOut: () => others.agree("sign-ins") } };
}

function shareSignIns({ nodes }: Pick<Core, "nodes">, server: Pick<HttpServer, "useCode" | "closeSignedOut">): void {
  nodes.others.answer("sign-ins.useCode", async ({ digest }) => server.useCode(digest));
  nodes.onReload("sign-ins", server.closeSignedOut);
}

function updaterForPort({ clock, log, options }: Core, status: PortParts["status"]): Updater {
  const { home, version, environment } = options;
  return createUpdater(
    { clock, log },
    {
      home,
      version,
      launcher: environment.variables("PI_GATEWAY_LAUNCHER"),
      main: Bun.main,
      config: () => status().config.file,
    },
  );
}

function nodesForPort({ store }: Core, drain: Pick<Drain, "begin">): HttpDeps["operations"]["nodes"] {
  return {
    list: () => listNodes(store, SHOWN_NODES),
    drain: (asked) => drain.begin(asked === "self" ? store.instanceId : asked),
  };
}
