/**
 * Builds the gateway in flow order; read this first. Stop is the reverse: new messages are refused, running turns finish, their replies are
 * delivered, the port closes, agents end, and the database closes last.
 */
import { join } from "node:path";
import { agentProfiles, createReplaceablePool, type PoolOptions, startPool } from "./agents/index.ts";
import { createAutomation } from "./wiring/automation.ts";
import { openGatewayBudget } from "./wiring/budget.ts";
import { builtinChannels } from "./builtin.ts";
import type { PlatformEntry } from "./channels/index.ts";
import type { PersonTimes } from "./contracts/automation/when.ts";
import type { Config, Environment, LoadedConfig } from "./config/index.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { GatewayError } from "./contracts/errors.ts";
import type { Events } from "./contracts/events.ts";
import type { AgentId, Principal } from "./contracts/ids.ts";
import type { Hooks } from "./contracts/plugins/hooks.ts";
import type { Store } from "./contracts/store.ts";
import { createBriefing, createDelegations, createTakeBack, startTurns, type TurnsDeps } from "./flow/index.ts";
import { askBeforeSending, tellTurns } from "./wiring/hook-points.ts";
import type { HttpServer, PageAssets } from "./http/index.ts";
import { openPort } from "./wiring/port.ts";
import { type Clock, hostZone } from "./kit/clock.ts";
import { deferred } from "./kit/deferred.ts";
import type { Ids } from "./kit/ids.ts";
import { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import type { Secret, SecretMask } from "./kit/secret.ts";
import { openMessageWay } from "./wiring/message-way.ts";
import { createClientStream, createEvents, createMetrics, keepMemoryFlat, startTranscripts } from "./observe/index.ts";
import { openLiveFiles, ownTools } from "./wiring/own-tools.ts";
import { createHooks, startPlugins } from "./plugins/index.ts";
import { type ConfigSource, createReloader } from "./reload.ts";
import { personOf } from "./routing/index.ts";
import { openPersonTimes } from "./schedule/index.ts";
import { createStatus, gaugesOf } from "./status.ts";
import { openSecretFiles, openStore } from "./store/index.ts";
import { createRights } from "./rights.ts";
import { openToolSide, pluginOptions } from "./wiring/tool-side.ts";
import { attachedFiles } from "./wiring/way-in.ts";

export interface GatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  setLogging(settings: Config["logging"]): void;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): Disposable | void;
  /** Takes the hidden values, and what looks like one, out of a text. */
  scrub(text: string): string;
  /** Takes the hidden values out of what people read. */
  readonly mask: SecretMask;
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
  /** Instead of those that ship with the gateway. */
  readonly platforms?: readonly PlatformEntry[];
  /** Asks for a stop that is followed by a start. False: whoever runs this cannot do that. */
  askRestart(): boolean;
}

export interface Gateway {
  readonly http: HttpServer;
  /** Resolves when an I/O error of the database has ended all acknowledging: stop, and end the process. */
  readonly failed: Promise<GatewayError>;
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

async function build(life: Lifetime, given: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { clock, log, setLogging } = given;
  const reloader = createReloader(given, options.loaded, options.configSource);
  const { config } = reloader;
  // underneath
  const events = recordedEvents(life, given, options.home, config);
  const metrics = createMetrics({ clock, events }, () => gaugesOf(status(), http)); // before the agents, to count the first ones
  const store = life.own("store", await openStore(given, { home: options.home }));
  const late = { outbox: () => way.outbox, channels: () => way.channels, queue: () => way.queue };
  const access = { doors: () => way.doors, grants: () => way.grants(), homes: () => automation.homes };
  const budget = await openGatewayBudget({ ...given, ...late, ...access, events, store }, config);
  const deps = { ...given, budget, people: await openPeople(clock, store, config) };
  const secrets = openSecretFiles(deps, options.home);
  const token = (from: Config): Secret => hidden(deps, secrets.token(from.gateway.auth.token));
  const stream = createClientStream({ events }, { epoch: store.epoch });

  // tools and agents; what is built further down is asked for when it is needed
  const hooks = createHooks(deps);
  const rights = createRights({ ...access, events, config });
  const asking = { ...late, record: store, events, hooks, rights, automation: () => automation };
  const toolSide = openToolSide(life, { ...deps, ...asking }, config);
  const address = deferred<string>(); // known once the port is open
  const agentDeps = { ...deps, ...toolSide, events, reach: { url: address.promise, tokens: toolSide.agentTokens } };
  const openPool = (from: Config) => startPool(agentDeps, poolOptions(options, from, toolSide.skills.take()));
  const pool = life.own("agents", createReplaceablePool(deps, await openPool(config())), AGENTS_STOP_MS);
  const delegations = createDelegations({ ...deps, events, pool }, config);
  const files = await openLiveFiles({ ...deps, store }, config(), options);
  const begins = { ...deps, ...late, ...toolSide, ...access, ...options, receiver: () => way.received };
  const automation = createAutomation({ ...begins, store, events, config, pool });
  const operate = { reloadConfig: reloader.reload, restart: restartOf(config, options) };
  const using = { live: () => way.live, files: () => files, jobs: () => automation.jobs, delegator: () => delegations };
  const own = () => ownTools({ ...deps, ...late, ...using, ...operate, events, store, config });

  // the way of a message
  const named = builtinChannels({ events, record: { clock, store } });
  const stopping = new AbortController();
  const asked = { named, inner: automation.channels, jobs: automation.jobs, status: () => status() };
  const knowing = { ...deps, ...toolSide, ...asked, ...access, events, store, pool, hooks, rights };
  const way = await openMessageWay(knowing, config, options, stopping.signal);
  const { queue, outbox, platforms } = way;
  const lent = { ...deps, ...toolSide, ...way, ...automation.lent, events, hooks };
  const plugins = life.own("plugins", await startPlugins(lent, pluginOptions(config, options, own)));
  if (toolSide.skills.hasChanged()) pool.replace(await openPool(config())); // no process has begun before the port is open

  // the port
  const status = createStatus({ ...deps, store, pool, ...way, plugins, reloader, automation }, options);
  const watched = { events, stream, status, metrics, takeBack: createTakeBack({ events, queue, outbox }) };
  const acting = { ...named, ...operate, ...automation.served, page: options.page, store, plugins };
  const arriving = { ...toolSide, files: way.arriving, webhook: platforms.webhook };
  const served = { ...deps, ...way, ...watched, ...acting, ...arriving, tools: toolsOf(toolSide) };
  const http = life.own("http", openPort(served, config, { token: token(config()), mediaKey: secrets.mediaKey }));
  address.resolve(http.url);
  life.own("platforms", platforms);
  life.own("outbox", outbox);
  life.onStop("replies", () => lastReplies(clock, outbox));

  // work begins
  log.info("queue recovered", await queue.recover());
  const saying = { briefing: createBriefing(deps), systemEvents: store.systemEvents, reactions: store.outbox };
  const having = { media: store.media, attached: attachedFiles({ log, store, config }, options), delegations, store };
  answer(life, config, { ...deps, ...way, ...saying, ...having, mediaLines: toolSide, hooks, events, pool, rights });
  life.own("jobs", await automation.start());
  life.onStop("intake", () => stopping.abort(new Error("the gateway is stopping")));
  const reloading = { events, http, pool, plugins, automation, platforms, openPool, token, files };
  life.own("configuration", reloader.start({ ...reloading, skills: toolSide.skills, audit: store.audit, setLogging }));
  void platforms.apply(config()); // takes its time, and never rejects
  http.setReady(true);
  tellPlugins({ hooks, events }, options.version, life);
  return { http, failed: store.health.failed, stop: (reason) => life.stop(reason) };
}

interface AnswerDeps extends TurnsDeps {
  readonly hooks: Hooks;
  readonly store: Pick<Store, "health" | "sessions">;
}

function answer(life: Lifetime, config: () => Config, deps: AnswerDeps): void {
  const queue = askBeforeSending(deps, deps.queue);
  // how a turn ends cannot be stored any more once the database has failed, so nobody waits for it
  const graceMs = (): number => (deps.store.health.hasFailed() ? 0 : config().gateway.stopGraceMs);
  const limits = (agentId?: AgentId) => ({ ...turnLimits(config(), agentId), graceMs: graceMs() });
  const turns = startTurns({ ...deps, queue, history: deps.store.sessions }, limits);
  life.own("turns", turns, () => config().gateway.stopGraceMs + TURNS_MARGIN_MS);
}

/** The first thing of a stop: plugins are told while all of them are still there. */
function tellPlugins(deps: { hooks: Hooks; events: Events }, version: string, life: Lifetime): void {
  const { hooks, events } = deps;
  tellTurns({ hooks }, events);
  hooks.tell("gateway_start", { version });
  life.onStop("plugins told", () => hooks.tell("gateway_stop", { reason: "the gateway is stopping" }));
}

function toolsOf({ tools, list }: ReturnType<typeof openToolSide>) {
  return { gate: tools, list };
}

/** Time zones of people; all ids of one person have one. */
function openPeople(clock: Clock, { channelFacts: facts }: Store, config: () => Config): Promise<PersonTimes> {
  const person = (who: Principal): string => personOf(config().session.identityLinks, who);
  return openPersonTimes({ clock, facts, person, hostZone });
}

/** Asks for a restart where the configuration allows that. */
function restartOf(config: () => Config, { askRestart }: Pick<GatewayOptions, "askRestart">): () => boolean {
  return () => config().gateway.commands.restart && askRestart();
}

function hidden({ hide }: GatewayDeps, chosen: Secret): Secret {
  hide(chosen);
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
  keepMemoryFlat({ ...deps, events });
  return events;
}

function poolOptions(options: GatewayOptions, config: Config, lentSkills: readonly string[]): PoolOptions {
  const { agent, agents, models, roles } = config;
  const beats = [config.heartbeat, ...agents.map(({ heartbeat }) => heartbeat)].some((one) => one?.enabled);
  const features = { heartbeat: beats, cron: config.cron.enabled, media: true };
  return { ...options, config: agent, models, profiles: agentProfiles({ agent, agents, roles }), features, lentSkills };
}

function turnLimits({ agent, agents, heartbeat }: Config, agentId: AgentId | undefined) {
  const own = agents.find(({ id }) => id === agentId);
  const { ackMaxChars } = { ...heartbeat, ...own?.heartbeat };
  return { timeoutMs: own?.timeoutMs ?? agent.timeoutMs, ackMaxChars };
}
