/**
 * Builds the gateway in flow order; read this first. Stop is the reverse: new messages are refused, running turns finish, their replies are
 * delivered, the port closes, agents end, and the database closes last.
 */
import { join } from "node:path";
import { agentProfiles, createReplaceablePool, type PoolOptions, startPool } from "./agents/index.ts";
import { BUILTIN_PLATFORMS, builtinChannels } from "./builtin.ts";
import { createChannelSet, type PlatformEntry, type Platforms } from "./channels/index.ts";
import { type BuiltinCommandDeps, builtinCommands, createCommandRegistry, createLastStats } from "./commands/index.ts";
import { type Config, type Environment, type LoadedConfig, publicConfig } from "./config/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { Commands } from "./contracts/command.ts";
import type { Events } from "./contracts/events.ts";
import type { AgentId } from "./contracts/ids.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { Queue } from "./contracts/queue.ts";
import type { ToolGate } from "./contracts/tools/tool.ts";
import { startOutbox } from "./delivery/index.ts";
import { createModelDesk, createRoleDesk } from "./desk.ts";
import { createBriefing, createLiveTurns, createReceiver, createTakeBack, startTurns } from "./flow/index.ts";
import { accessSettings, type HttpServer, listenOptions, openHttp, type PageAssets } from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";
import type { Ids } from "./kit/ids.ts";
import { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import type { Secret } from "./kit/secret.ts";
import { createClientStream, createEvents, createMetrics, startTranscripts } from "./observe/index.ts";
import { ownFiles, ownTools } from "./own-tools.ts";
import { createQueue } from "./queue/index.ts";
import { type ConfigSource, createReloader } from "./reload.ts";
import { accessDoors, chooseSession, createRouter, openPairing, openRoleGrants } from "./routing/index.ts";
import { createStatus, gaugesOf } from "./status.ts";
import { openSecretFiles, openStore, type SecretFiles } from "./store/index.ts";
import { createToolGate, createToolRegistry } from "./tools/index.ts";
import { attachedFiles, createWayIn, inboundFiles } from "./way-in.ts";

export interface GatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  setLogLevel(level: Config["logging"]["level"]): void;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): void;
  /** Takes the hidden values, and what looks like one, out of a text. */
  scrub(text: string): string;
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
  /** Only tests give others than those that ship. */
  readonly platforms?: readonly PlatformEntry[];
  /** Asks for a stop that is followed by a start. False: whoever runs this cannot do that. */
  askRestart(): boolean;
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
  const events = recordedEvents(life, deps, options.home, config);
  const metrics = createMetrics({ clock, events }, () => gaugesOf(status(), http)); // before the agents, to count the first ones
  const store = life.own("store", await openStore(deps, { home: options.home }));
  const secrets = openSecretFiles(deps, options.home);
  const token = (from: Config): Secret => tokenOf(deps, secrets, from);
  const stream = createClientStream({ events }, { epoch: store.epoch });

  // tools and agents
  const late = { outbox: () => outbox, channels: () => channels, live: () => live, files: () => files };
  const operate = { reloadConfig: reloader.reload, restart: restartOf(config, options) };
  const own = ownTools({ ...deps, ...late, ...operate, store, config });
  const tools = createToolGate({ ...deps, store: store.toolCalls, registry: createToolRegistry(own) });
  const openPool = (from: Config) => startPool({ ...deps, events, tools }, poolOptions(options, from, tools));
  const pool = life.own("agents", createReplaceablePool(deps, await openPool(config())), AGENTS_STOP_MS);

  const files = await ownFiles({ ...deps, store }, config(), options);

  // the way of a message
  const named = builtinChannels({ events, record: { clock, store } });
  const channels = createChannelSet(Object.values(named), () => platforms);
  const lastStats = createLastStats();
  const grants = await openRoleGrants(store.roleGrants);
  const models = createModelDesk({ clock, pool, environment: options.environment }, config);
  const pairing = await openPairing({ ...deps, events, store: store.pairings, grants, roles: () => config().roles });
  const doors = accessDoors(() => config().channels, pairing.isPaired);
  const roles = createRoleDesk(deps, config, { grants, doors });
  const known = { status: () => status(), queue: () => queue, stats: lastStats, models, roles, pairing };
  const knowing = { ...deps, events, store, pool, ...known };
  const commands = createCommands(config, knowing);
  const queue: Queue = createQueue({ ...deps, store, workKind: commands.workKind }, () => config().queue);
  const stopping = new AbortController();
  const router = createRouter(config, doors, grants.current);
  const receiving = { log, events, queue, channels, router };
  const receiver = createReceiver(receiving, () => config().queue, stopping.signal);
  const live = createLiveTurns({ clock, events, queue });
  const outbox = startOutbox({ ...deps, events, store: store.outbox, channels });
  const arriving = inboundFiles({ ...deps, store }, options, config);
  const platforms: Platforms = createWayIn(
    { ...deps, events, store, router, receiver, pairing, commands, files: arriving },
    { platforms: BUILTIN_PLATFORMS, ...options },
  );

  // the port
  const status = createStatus({ clock, pool, queue, outbox, channels, configNotices: reloader.notices }, options);
  const http: HttpServer = openHttp(
    {
      ...deps,
      ...named,
      store,
      receiver,
      live,
      takeBack: createTakeBack({ events, queue, outbox }),
      events,
      stream,
      page: options.page,
      sessions: { parse: (text, agent) => chooseSession(config(), text, agent) },
      status,
      pairing,
      files: arriving,
      webhook: platforms.webhook,
      metrics,
      models,
      publicConfig: () => publicConfig(config()),
      ...operate,
    },
    { ...accessSettings(config(), token(config())), ...listenOptions(config()), mediaKey: secrets.mediaKey },
  );
  life.own("http", http);
  life.own("platforms", platforms);
  life.own("outbox", outbox);
  life.onStop("replies", () => lastReplies(clock, outbox));

  // work begins
  log.info("queue recovered", await queue.recover());
  const briefing = createBriefing(deps);
  const answering = {
    ...deps,
    events,
    queue,
    pool,
    outbox,
    live,
    commands,
    lastStats,
    media: store.media,
    briefing,
    files,
    reactions: store.outbox,
    attached: attachedFiles({ log, store, config }, options),
  };
  const turns = startTurns(answering, (agentId) => turnLimits(config(), agentId));
  life.own("turns", turns, config().gateway.stopGraceMs + TURNS_MARGIN_MS);
  life.onStop("intake", () => stopping.abort(new Error("the gateway is stopping")));
  life.own(
    "configuration",
    reloader.start({ events, http, pool, openPool, platforms, token, setLogLevel: deps.setLogLevel }),
  );
  void platforms.apply(config()); // takes its time, and never rejects
  http.setReady(true);
  return { http, stop: (reason) => life.stop(reason) };
}

/** Asks for a restart where the configuration allows that. */
function restartOf(config: () => Config, { askRestart }: Pick<GatewayOptions, "askRestart">): () => boolean {
  return () => config().gateway.commands.restart && askRestart();
}

/** Hidden before anybody can log it. */
function tokenOf(deps: GatewayDeps, secrets: SecretFiles, { gateway }: Config): Secret {
  const chosen = secrets.token(gateway.auth.token);
  deps.hide(chosen);
  return chosen;
}

/** Waits a little for replies that are on their way; what is left is sent by the next start. */
async function lastReplies(clock: Clock, outbox: Outbox): Promise<void> {
  using limit = clock.deadline(REPLY_DRAIN_MS, () => new Error("replies are left"));
  await outbox.drained(limit.signal).catch(() => undefined);
}

/** What happens in the gateway, and a readable record of it that outlives every other part. */
function recordedEvents(life: Lifetime, deps: GatewayDeps, home: string, config: () => Config): Events {
  const events = createEvents(deps);
  const folder = join(home, "logs", "transcripts");
  const settings = () => ({ ...config().logging, ...config().logging.transcripts });
  life.own("transcripts", startTranscripts({ ...deps, events }, folder, settings));
  return events;
}

function poolOptions(options: GatewayOptions, { agent, agents, models, roles }: Config, tools: ToolGate): PoolOptions {
  const features = {
    heartbeat: false,
    cron: false,
    media: tools.specs(null).some(({ name }) => name === "send_media"),
  };
  return { ...options, config: agent, models, profiles: agentProfiles({ agent, agents, roles }), features };
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
