/**
 * Builds the gateway in flow order; read this first. Stop is the reverse: new messages are refused, running turns finish, their replies are
 * delivered, the port closes, agents end, and the database closes last.
 */
import { agentProfiles, createReplaceablePool, startPool } from "./agents/index.ts";
import { builtinChannels, builtinTools } from "./builtin.ts";
import { createChannelSet } from "./channels/index.ts";
import { type BuiltinCommandDeps, builtinCommands, createCommandRegistry, createLastStats } from "./commands/index.ts";
import { type Config, type Environment, type LoadedConfig, publicConfig } from "./config/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { Commands } from "./contracts/command.ts";
import type { AgentId } from "./contracts/ids.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { Queue } from "./contracts/queue.ts";
import { startOutbox } from "./delivery/index.ts";
import { createLiveTurns, createReceiver, createTakeBack, startTurns } from "./flow/index.ts";
import { accessSettings, type HttpServer, listenOptions, openHttp, type PageAssets } from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";
import type { Ids } from "./kit/ids.ts";
import { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import type { Secret } from "./kit/secret.ts";
import { createClientStream, createEvents, createMetrics } from "./observe/index.ts";
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
  hide(secret: Secret): void;
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
  const token = (from: Config): Secret => {
    const chosen = secrets.token(from.gateway.auth.token);
    deps.hide(chosen);
    return chosen;
  };
  const stream = createClientStream({ events }, { epoch: store.epoch });

  // tools and agents
  const tools = createToolGate({ ...deps, store: store.toolCalls, registry: createToolRegistry(builtinTools()) });
  const openPool = (from: Config) => startPool({ ...deps, events, tools }, { ...options, ...poolSettings(from) });
  const pool = life.own("agents", createReplaceablePool(deps, await openPool(config())), AGENTS_STOP_MS);

  // the way of a message
  const named = builtinChannels({ events });
  const channels = createChannelSet(Object.values(named));
  const lastStats = createLastStats();
  const knowing = { clock, events, store, pool, stats: lastStats, status: () => status(), queue: () => queue };
  const commands = createCommands(config, knowing);
  const queue: Queue = createQueue({ ...deps, store, workKind: commands.workKind }, () => config().queue);
  const stopping = new AbortController();
  const receiving = { log, events, queue, channels, router: createRouter(config) };
  const receiver = createReceiver(receiving, () => config().queue, stopping.signal);
  const live = createLiveTurns({ clock, events, queue });
  const outbox = startOutbox({ ...deps, events, store: store.outbox, channels });

  // the port
  const status = createStatus({ clock, pool, queue, outbox, channels, configNotices: reloader.notices }, options);
  const http: HttpServer = openHttp(
    {
      ...deps,
      ...named,
      ...{ store, receiver, live, events, stream },
      takeBack: createTakeBack({ events, queue, outbox }),
      page: options.page,
      sessions: { parse: (text, agent) => chooseSession(config(), text, agent) },
      status,
      metrics,
      publicConfig: () => publicConfig(config()),
      reloadConfig: reloader.reload,
    },
    { ...accessSettings(config(), token(config())), ...listenOptions(config()), mediaKey: secrets.mediaKey },
  );
  life.own("http", http);
  life.own("outbox", outbox);
  life.onStop("replies", () => lastReplies(clock, outbox));

  // work begins
  log.info("queue recovered", await queue.recover());
  const turnOptions = (agentId?: AgentId) => turnLimits(config(), agentId);
  const answering = { clock, log, events, queue, pool, outbox, live, commands, lastStats, media: store.media };
  const turns = startTurns(answering, turnOptions);
  life.own("turns", turns, config().gateway.stopGraceMs + TURNS_MARGIN_MS);
  life.onStop("intake", () => stopping.abort(new Error("the gateway is stopping")));
  life.own("configuration", reloader.start({ events, http, pool, openPool, token, setLogLevel: deps.setLogLevel }));
  http.setReady(true);
  return { http, stop: (reason) => life.stop(reason) };
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

function createCommands(config: () => Config, { pool, queue, ...deps }: CommandParts): Commands {
  const configured: BuiltinCommandDeps["configured"] = (agentId) => {
    const { agent, agents } = config();
    const own = agents.find(({ id }) => id === agentId);
    const model = own?.model ?? agent.model ?? pool.stats().model; // without a setting pi, or the environment, has chosen
    return { model, thinking: own?.thinking ?? agent.thinking ?? null };
  };
  const queued: BuiltinCommandDeps["queued"] = {
    session: (...lane) => queue().session(...lane),
    choose: (...chosen) => queue().choose(...chosen),
  };
  return createCommandRegistry(builtinCommands({ ...deps, configured, queued }));
}

function turnLimits({ agent, agents, gateway }: Config, agentId: AgentId | undefined) {
  const own = agents.find(({ id }) => id === agentId);
  return { timeoutMs: own?.timeoutMs ?? agent.timeoutMs, graceMs: gateway.stopGraceMs };
}
