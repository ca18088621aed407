/**
 * Starts the gateway, group by group; read this first. Each group is one file of `wiring/`, and uses only groups above it. Stop is the
 * reverse of the order in which parts were handed to `life`: new messages are refused, running turns finish, their replies are delivered,
 * the port closes, agents end, and the database closes last.
 */
import type { Conversations } from "./contracts/conversations.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { GatewayError } from "./contracts/errors.ts";
import type { HttpServer } from "./http/index.ts";
import { background } from "./kit/background.ts";
import type { Clock } from "./kit/clock.ts";
import { deferred } from "./kit/deferred.ts";
import { Lifetime } from "./kit/lifetime.ts";
import { createClientStream, createMetrics } from "./observe/index.ts";
import { tellTurns } from "./plugins/index.ts";
import { createReloader } from "./reload.ts";
import { createStrayFailures } from "./stray-failures.ts";
import { openAgents } from "./wiring/agents.ts";
import { openAutomation } from "./wiring/automation.ts";
import { openBackups } from "./wiring/backups.ts";
import { registerBuiltInCommands } from "./wiring/built-in-commands.ts";
import { createBuiltInTools, type Operations } from "./wiring/built-in-tools.ts";
import { type Core, type GatewayDeps, type GatewayOptions, openCore } from "./wiring/core.ts";
import { openAgentFiles } from "./wiring/files.ts";
import type { Groups } from "./wiring/groups.ts";
import { openPort } from "./wiring/http.ts";
import { beginBalance, beginNodeVersions, openDrain, sayWhatIsGoingOn } from "./wiring/nodes.ts";
import { openMcpDoor } from "./wiring/mcp-door.ts";
import { openMcpServers } from "./wiring/mcp-servers.ts";
import { openMessages } from "./wiring/messages.ts";
import { openNotifications } from "./wiring/notifications.ts";
import { openPeople } from "./wiring/people.ts";
import { openPlugins } from "./wiring/plugins.ts";
import { beginRetention } from "./wiring/retention.ts";
import { openStatus } from "./wiring/status.ts";
import { watchTakeovers } from "./wiring/takeovers.ts";
import { beginTelemetry } from "./wiring/telemetry.ts";
import { openTools } from "./wiring/tools.ts";
import { beginTurns } from "./wiring/turns.ts";

export interface Gateway {
  readonly http: HttpServer;
  /** Resolves when an I/O error of the database has ended all acknowledging, or nobody caught an error: stop, and end the process. */
  readonly failed: Promise<GatewayError>;
  stop(reason: string): Promise<void>;
}

const REPLY_DRAIN_MS = 2_000;
/** A database that is away does not keep the gateway from stopping. */
const NODE_DRAIN_MS = 1_000;

export async function startGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const life = new Lifetime(deps);
  try {
    return await build(life, deps, options);
  } catch (error) {
    await life.stop("start failed");
    throw error;
  }
}

async function build(life: Lifetime, deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  // The ground. Listeners are called in the order in which they came, so metrics and the stream of clients come before all others.
  const reloader = createReloader(deps, options.loaded, options.configSource); // told at the end what it reloads
  const core = await openCore(life, deps, options, reloader.config);
  const stray = createStrayFailures(deps);
  const metrics = createMetrics({ ...core, events: core.nodes.ownEvents });
  const stream = createClientStream(core, { epoch: core.store.epoch });
  const url = deferred<string>(); // late binding: agents tell scripts where the port is, and the port opens after them

  // The groups, each made of those above it.
  const people = await openPeople(life, core);
  const tools = openTools(life, core, people);
  const { startTakesLonger } = deps;
  const agents = await openAgents(life, core, { tools, people, url: url.promise, startTakesLonger });
  const mcpServers = openMcpServers(life, core, { tools, agents, hostPath: deps.mcpHostPath });
  const files = await openAgentFiles(core);
  const messages = openMessages(core, people, tools, agents);
  const notifications = openNotifications(core, { people, tools });
  const automation = openAutomation(core, { people, tools, agents, messages });

  // Commands, tools and plugins, which use all groups.
  const backups = openBackups(core, people, reloader);
  const restart = restartIfAllowed(core, deps.update);
  const operations: Operations = { reloadConfig: reloader.reload, restart, backups };
  const groups: Groups = { people, tools, agents, mcpServers, messages, automation, notifications };
  const status = openStatus(core, reloader, groups, { backups, stray });
  registerBuiltInCommands(core, { ...groups, status: status.read });
  const conversations = deferred<Conversations>(); // late binding: a tool talks to agents as programs do, through the port
  const builtInTools = () =>
    createBuiltInTools(core, { ...groups, files, operations, conversations: conversations.promise });
  const plugins = life.own("plugins", await openPlugins(core, { tools, messages, automation, builtInTools, stray }));
  if (tools.skills.hasChanged()) agents.pool.replace(await agents.openPool(core.config())); // no process has begun before the port is open
  status.registerPlugins(plugins); // late binding: a command shows the status, and plugins come after the commands

  // The way in and the way out. What is handed to `life` last is stopped first.
  const mcp = life.own("mcp door", openMcpDoor(core, { ...groups, conversations: conversations.promise }));
  const drain = life.own("drain", openDrain(core, messages));
  const parts = { ...groups, plugins, operations, metrics, stream, mcp, drain, status: status.read };
  const port = await openPort(core, parts);
  life.own("responses in the background", port.responses); // they end when nobody can ask for more
  life.own("http", port.server);
  deps.update?.beforeFirstMessage();
  url.resolve(port.server.url);
  conversations.resolve(port.server.conversations);
  life.own("platforms", messages.platforms);
  life.own("outbox", messages.outbox);
  life.onStop("replies", () => lastReplies(core.clock, messages.outbox));

  const failed = Promise.race([core.store.health.failed, stray.failed]);
  const gateway: Gateway = { http: port.server, failed, stop: (reason) => life.stop(reason) };
  if (deps.update?.isRehearsal) return gateway;

  // From here on the gateway works. What is exported about it ends after everything else that works.
  life.own("telemetry", beginTelemetry(core));
  sayWhatIsGoingOn(core.nodes, messages, tools);
  if (messages.homes) life.own("homes of sessions", messages.homes);
  core.log.info("queue recovered", await messages.queue.recover());
  core.log.info("responses recovered", { interrupted: await port.responses.recover() });
  life.own("notifications", notifications.start(port.server.isSignedIn));
  beginTurns(life, core, groups);
  const jobs = life.own("jobs", await automation.start());
  life.own("backups", backups.start());
  life.own("retention", beginRetention(core));
  life.onStop("intake", messages.refuseMore);
  life.own(
    "configuration",
    reloader.start({
      events: core.events,
      audit: core.store.audit,
      setLogging: deps.setLogging,
      port,
      pool: agents.pool,
      mcpServers,
      openPool: agents.openPool,
      skills: tools.skills,
      plugins,
      automation,
      platforms: messages.platforms,
      files,
    }),
  );
  void messages.platforms.apply(core.config()); // takes its time, and never rejects
  port.server.setReady(true);
  mcpServers.learn();
  life.own("takeovers", watchTakeovers(core, { messages, automation, responses: port.responses }));
  drain.onBegin(() => {
    port.server.setReady(false);
    background(core.log, "heartbeats were not given to another gateway", jobs.leaveHeartbeat);
    background(core.log, "platforms did not close", () => messages.platforms[Symbol.asyncDispose]());
  });
  life.own("versions of gateways", beginNodeVersions(core, plugins));
  const balance = beginBalance(core, messages, drain);
  if (balance) life.own("balance of sessions", balance);
  life.onStop("node", () => core.store.nodes.drain(), NODE_DRAIN_MS);
  tellPlugins(life, core);
  return gateway;
}

/** A restart that an update waits for was asked for by whoever may write in the state directory. */
function restartIfAllowed(
  { config, options }: Pick<Core, "config" | "options">,
  update: GatewayDeps["update"],
): () => boolean {
  return () => (config().gateway.commands.restart || update?.waits() === true) && options.askRestart();
}

/** Waits a little for replies that are being delivered; what is left is sent by the next start. */
async function lastReplies(clock: Clock, outbox: Outbox): Promise<void> {
  using limit = clock.deadline(REPLY_DRAIN_MS, () => new Error("replies are left"));
  await outbox.drained(limit.signal).catch(() => undefined);
}

/** The stop begins with this: plugins are told while all of them are still there. */
function tellPlugins(life: Lifetime, { hooks, nodes, options }: Core): void {
  tellTurns(hooks, nodes.ownEvents);
  hooks.tell("gateway_start", { version: options.version });
  life.onStop("plugins told", () => hooks.tell("gateway_stop", { reason: "the gateway is stopping" }));
}
