/**
 * Builds the gateway in flow order; read this first. Stop is the reverse: new messages are refused, running turns finish, their replies are
 * delivered, the port closes, agents end, and the database closes last.
 */
import { join } from "node:path";
import { agentProfiles, createAgentTokens, createReplaceablePool, startPool } from "./agents/index.ts";
import { builtinChannels, builtinPlugins } from "./builtin.ts";
import { createChannelSet } from "./channels/index.ts";
import {
  type BuiltinCommandDeps,
  builtinCommands,
  type CommandRegistry,
  createCommandRegistry,
  createLastStats,
} from "./commands/index.ts";
import { type Config, type Environment, type LoadedConfig, publicConfig } from "./config/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { AgentId } from "./contracts/ids.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { Hooks } from "./contracts/plugins/hooks.ts";
import type { Events } from "./contracts/events.ts";
import type { Queue } from "./contracts/queue.ts";
import type { Store } from "./contracts/store.ts";
import { askBeforeSending, tellReceived, tellSent, tellTurns } from "./hook-points.ts";
import { startOutbox } from "./delivery/index.ts";
import { createLiveTurns, createReceiver, startTurns, type TurnsDeps } from "./flow/index.ts";
import { accessSettings, type HttpServer, listenOptions, openHttp, type PageAssets } from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";
import { deferred } from "./kit/deferred.ts";
import type { Ids } from "./kit/ids.ts";
import { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import type { Secret } from "./kit/secret.ts";
import { createClientStream, createEvents, createMetrics } from "./observe/index.ts";
import { createHooks, type PluginsOptions, startPlugins } from "./plugins/index.ts";
import { createQueue } from "./queue/index.ts";
import { type ConfigSource, createReloader } from "./reload.ts";
import { chooseSession, createRouter } from "./routing/index.ts";
import { createStatus, gaugesOf } from "./status.ts";
import { openSecretFiles, openStore } from "./store/index.ts";
import { createToolGate, createToolRegistry } from "./tools/index.ts";

export interface GatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  setLogLevel(level: Config["logging"]["level"]): void;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): Disposable | void;
}

export interface GatewayOptions {
  readonly home: string;
  readonly version: string;
  readonly environment: Environment;
  readonly page: PageAssets;
  readonly bridgePath: string;
  /** Runs Bun, for the agent processes. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  readonly loaded: LoadedConfig;
  readonly configSource: ConfigSource;
}

export interface Gateway {
  readonly http: HttpServer;
  stop(reason: string): Promise<void>;
}

/** Longer than pi's own stop takes step by step. */
const AGENTS_STOP_MS = 15_000;
const REPLY_DRAIN_MS = 2_000;
/** What a turn may need on top of its grace time to be left behind in good order. */
const TURNS_MARGIN_MS = 10_000;

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
  const { clock, log } = deps;
  const reloader = createReloader(deps, options.loaded, options.configSource);
  const { config } = reloader;

  // underneath
  const events = createEvents(deps);
  const metrics = createMetrics({ clock, events }, () => gaugesOf(status(), http)); // before the agents, to count the first ones
  const store = life.own("store", await openStore(deps, { home: options.home }));
  const secrets = openSecretFiles(deps, options.home);
  const token = (from: Config): Secret => hidden(deps, secrets.token(from.gateway.auth.token));
  const stream = createClientStream({ events }, { epoch: store.epoch });

  // tools and agents
  const hooks = createHooks(deps);
  const toolSide = createToolSide(deps, store);
  const address = deferred<string>(); // known once the port is open
  const agentDeps = { ...deps, ...toolSide, events, reach: { url: address.promise, tokens: toolSide.agentTokens } };
  const openPool = (from: Config) => startPool(agentDeps, { ...options, ...poolSettings(from) });
  const pool = life.own("agents", createReplaceablePool(deps, await openPool(config())), AGENTS_STOP_MS);

  // the way of a message
  const named = builtinChannels({ events });
  const channels = createChannelSet(Object.values(named), tellSent({ hooks }));
  const lastStats = createLastStats();
  const knowing = { clock, events, store, pool, stats: lastStats, status: () => status(), queue: () => queue };
  const commands = createCommands(config, knowing);
  const queue: Queue = createQueue({ ...deps, store, workKind: commands.workKind }, () => config().queue);
  const stopping = new AbortController();
  const receiving = { log, events, queue, router: createRouter(config) };
  const receiver = tellReceived(
    { hooks },
    createReceiver(receiving, () => config().queue, stopping.signal),
  );
  const live = createLiveTurns({ clock, events, queue });
  const lent = { ...deps, ...toolSide, events, hooks, commands, channels, receiver: () => receiver };
  const plugins = life.own("plugins", await startPlugins(lent, pluginOptions(config, options)));
  const outbox = startOutbox({ ...deps, events, store: store.outbox, channels });

  // the port
  const shown = { clock, pool, queue, outbox, channels, plugins, configNotices: reloader.notices };
  const status = createStatus(shown, options);
  const served = { ...deps, ...named, ...toolSide, store, receiver, live, events, stream, status, metrics, plugins };
  const opened = openHttp(
    {
      ...served,
      tools: { gate: toolSide.tools, list: toolSide.registry.list },
      page: options.page,
      sessions: { parse: (text, agent) => chooseSession(config(), text, agent) },
      publicConfig: () => publicConfig(config()),
      reloadConfig: reloader.reload,
    },
    { ...accessSettings(config(), token(config())), ...listenOptions(config()), mediaKey: secrets.mediaKey },
  );
  const http: HttpServer = life.own("http", opened);
  address.resolve(http.url);
  life.own("outbox", outbox);
  life.onStop("replies", () => lastReplies(clock, outbox));

  // work begins
  log.info("queue recovered", await queue.recover());
  const answering = { clock, log, hooks, events, queue, pool, outbox, live, commands, lastStats, media: store.media };
  answer(life, config, answering);
  life.onStop("intake", () => stopping.abort(new Error("the gateway is stopping")));
  const reloading = { events, http, pool, plugins, openPool, token, setLogLevel: deps.setLogLevel };
  life.own("configuration", reloader.start(reloading));
  http.setReady(true);
  tellPlugins({ hooks, events }, options.version, life);
  return { http, stop: (reason) => life.stop(reason) };
}

function answer(life: Lifetime, config: () => Config, deps: TurnsDeps & { readonly hooks: Hooks }): void {
  const queue = askBeforeSending(deps, deps.queue);
  const turns = startTurns({ ...deps, queue }, (agentId?: AgentId) => turnLimits(config(), agentId));
  life.own("turns", turns, config().gateway.stopGraceMs + TURNS_MARGIN_MS);
}

function hidden({ hide }: GatewayDeps, secret: Secret): Secret {
  hide(secret);
  return secret;
}

/** Waits a little for replies that are on their way; what is left is sent by the next start. */
async function lastReplies(clock: Clock, outbox: Outbox): Promise<void> {
  using limit = clock.deadline(REPLY_DRAIN_MS, () => new Error("replies are left"));
  await outbox.drained(limit.signal).catch(() => undefined);
}

function poolSettings({ agent, agents, models }: Config) {
  return { config: agent, models, profiles: agentProfiles({ agent, agents }) };
}

interface CommandParts extends Omit<BuiltinCommandDeps, "configured" | "queued"> {
  readonly pool: AgentPool;
  queue(): Queue;
}

function createCommands(config: () => Config, { pool, queue, ...deps }: CommandParts): CommandRegistry {
  const configured: BuiltinCommandDeps["configured"] = (agentId) => {
    const { agent, agents } = config();
    const own = agents.find(({ id }) => id === agentId);
    const model = own?.model ?? agent.model ?? pool.stats().model; // without a setting pi, or the environment, has chosen
    return { model, thinking: own?.thinking ?? agent.thinking ?? null };
  };
  const all = () => registry.list();
  const queued: Queue["session"] = (...lane) => queue().session(...lane);
  const registry: CommandRegistry = createCommandRegistry(builtinCommands({ ...deps, configured, queued, all }));
  return registry;
}

function turnLimits({ agent, agents, gateway }: Config, agentId: AgentId | undefined) {
  const own = agents.find(({ id }) => id === agentId);
  return { timeoutMs: own?.timeoutMs ?? agent.timeoutMs, graceMs: gateway.stopGraceMs };
}

/** What tools there are, who may call them, and how scripts inside agents prove who they are. */
function createToolSide(deps: GatewayDeps, store: Store) {
  const registry = createToolRegistry();
  const tools = createToolGate({ ...deps, store: store.toolCalls, registry });
  return { registry, tools, agentTokens: createAgentTokens(deps) };
}

function pluginOptions(config: () => Config, options: GatewayOptions): PluginsOptions {
  return {
    ...options,
    userHome: options.environment.userHome,
    builtin: builtinPlugins(),
    config: () => config().plugins,
    agentFolders: () => agentWorkspaces(config(), options),
  };
}

/** The first thing of a stop: plugins are told while all of them are still there. */
function tellPlugins(deps: { hooks: Hooks; events: Events }, version: string, life: Lifetime): void {
  const { hooks, events } = deps;
  tellTurns({ hooks }, events);
  hooks.tell("gateway_start", { version });
  life.onStop("plugins told", () => hooks.tell("gateway_stop", { reason: "the gateway is stopping" }));
}

/** Where agents write: no plugin is loaded from there. */
function agentWorkspaces({ agent, agents }: Config, { home, environment }: GatewayOptions): readonly string[] {
  const given = [agent, ...agents].flatMap(({ workspace }) => (workspace === undefined ? [] : [workspace]));
  const expand = (path: string) => (/^~(?=$|\/)/.test(path) ? join(environment.userHome, path.slice(1)) : path);
  return [join(home, "workspace"), ...given.map(expand)];
}
