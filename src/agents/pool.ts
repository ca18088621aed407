/** A few agent processes, shared by many sessions: leased one at a time, kept apart by profile and (by default) principal, replaced when worn or dead. Never runs more than `max`. */
import { availableParallelism } from "node:os";
import type { AgentLease, AgentPool, LeaseRequest, PoolStats } from "../contracts/agent.ts";
import type { Config, Environment } from "../config/index.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { AgentId } from "../contracts/ids.ts";
import { agentFolders, prepareFolders } from "./setup/agent-folder.ts";
import { chooseWorker } from "./choose.ts";
import { openLease } from "./lease.ts";
import { type AgentProfile, agentProfiles, DEFAULT_AGENT, profileFolder, profileSignature } from "./profile.ts";
import { chooseModel, expectedModel } from "./setup/model-choice.ts";
import { childNotes, killOrphans } from "./process/orphans.ts";
import { type OpenSession, openSession } from "./talk/session.ts";
import { sessionPath } from "./talk/session-file.ts";
import { rssBytes } from "./process/proc.ts";
import { type Recycling, shouldRecycle } from "./recycle.ts";
import { type StartRecord, createStartRecord } from "./start-record.ts";
import { type ReadyAgent, type StartDeps, type StartSettings, startAgent } from "./setup/start.ts";
import { type WaitingList, type Waiter, createWaitingList } from "./waiting-list.ts";
import { DEAD, type WorkerState, leased, ready, released, starting } from "./worker-state.ts";

const HANDSHAKE_MS = 20_000;
const MAX_SILENCE_MS = 120_000;
const MAX_REOPENS = 2;

export interface PoolOptions {
  readonly home: string;
  readonly config: Config["agent"];
  /** Every agent there is. Default: the one of `config` alone. */
  readonly profiles?: ReadonlyMap<AgentId, AgentProfile>;
  readonly models: Config["models"];
  readonly environment: Environment;
  /** Absolute path of the extension that every process loads. */
  readonly bridgePath: string;
  /** How Bun is run. Default: this very executable, without reading any .env file. */
  readonly bun?: readonly string[];
  readonly bunEnv?: Readonly<Record<string, string>>;
  /** How long a new process may take to answer its first question. Default 20 s: a loaded machine is slow. */
  readonly handshakeMs?: number;
}

/** How processes of one kind are started, and how that has gone. One agent that does not start holds no other back. */
interface Kind {
  readonly agentId: AgentId;
  readonly signature: string;
  readonly settings: StartSettings;
  readonly starts: StartRecord;
}

interface Worker {
  readonly id: number;
  readonly kind: Kind;
  state: WorkerState;
  agent: ReadyAgent | null;
  session: OpenSession | null;
  switches: number;
  readyAt: number;
  /** Ends the wait for eviction when the process is used again. */
  idle: AbortController | null;
}

/** Everything the functions below share; one per pool. */
interface Pool {
  readonly deps: StartDeps;
  /** Of the default agent: what all have in common is read from here. */
  readonly settings: StartSettings;
  readonly standard: Kind;
  /** Agents that do not differ have the same one. */
  readonly kinds: ReadonlyMap<AgentId, Kind>;
  readonly workers: Map<number, Worker>;
  readonly waiting: WaitingList;
  readonly stopping: AbortController;
  /** Starts and stops that are under way; closing waits for them. */
  readonly underWay: Set<Promise<void>>;
  model: string | null;
  nextId: number;
}

export async function startPool(deps: StartDeps, options: PoolOptions): Promise<AgentPool> {
  await killOrphans(deps, options.home);
  const kinds = await kindsOf(deps, options);
  const standard = kinds.get(DEFAULT_AGENT);
  if (!standard) throw new GatewayError("internal", "there is no default agent");
  const { settings } = standard;
  const pool: Pool = {
    deps,
    settings,
    standard,
    kinds,
    workers: new Map(),
    waiting: createWaitingList(deps.clock, options.config.pool.waitMs),
    stopping: new AbortController(),
    underWay: new Set(),
    model: expectedModel(settings.choice),
    nextId: 1,
  };
  if (settings.choice.kind === "demo") deps.log.info("the demo model answers", { because: settings.choice.because });
  fill(pool);
  return {
    lease: (request, signal) => lease(pool, request, signal),
    stats: () => stats(pool),
    [Symbol.asyncDispose]: () => close(pool),
  };
}

async function kindsOf(deps: StartDeps, options: PoolOptions): Promise<ReadonlyMap<AgentId, Kind>> {
  const kinds = new Map<AgentId, Kind>();
  const profiles = options.profiles ?? agentProfiles({ agent: options.config, agents: [] });
  for (const profile of profiles.values()) {
    const signature = profileSignature(profile);
    const alike = [...kinds.values()].find((kind) => kind.signature === signature);
    const { id: agentId, config } = profile;
    const settings = alike?.settings ?? (await startSettings({ ...options, config, folder: profileFolder(agentId) }));
    kinds.set(agentId, alike ?? { agentId, signature, settings, starts: createStartRecord(deps.clock) });
  }
  return kinds;
}

/** What a process is started with; `probePi` uses the same. */
export async function startSettings(
  options: PoolOptions & { readonly folder?: readonly string[] },
): Promise<StartSettings> {
  const choice = chooseModel({ agent: options.config, models: options.models }, options.environment);
  const folders = agentFolders(options);
  try {
    await prepareFolders(folders, options, choice);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown reason";
    throw new GatewayError("home_unusable", `the agent's folders could not be prepared: ${why}`, { cause });
  }
  return {
    config: options.config,
    environment: options.environment,
    folders,
    choice,
    notes: childNotes(options.home),
    bridgePath: options.bridgePath,
    bun: [...(options.bun ?? [process.execPath, "--no-env-file"]), `--config=${folders.bunConfig}`],
    bunEnv: options.bunEnv ?? {},
    handshakeMs: options.handshakeMs ?? HANDSHAKE_MS,
  };
}

async function lease(pool: Pool, request: LeaseRequest, signal: AbortSignal): Promise<AgentLease> {
  signal.throwIfAborted();
  sessionPath(pool.settings.folders.sessions, request.sessionFile); // a wrong name fails here, before a process is involved
  if (pool.stopping.signal.aborted) throw new GatewayError("stopping", "the pool is closing");
  const kind = kindOf(pool, request.caller.agentId);
  const hopeless = kind.starts.hopeless();
  if (hopeless && alive(pool, kind) === 0 && !kind.starts.mayStart()) throw hopeless;
  const wait = pool.waiting.join(request, signal);
  pump(pool);
  return wait;
}

/** Gives every waiting request, most important first, what it can have now. Called whenever something has changed. */
function pump(pool: Pool): void {
  if (pool.stopping.signal.aborted) return;
  const claims = new Map<Kind, number>();
  for (const waiter of pool.waiting.all()) {
    const kind = kindOf(pool, waiter.request.caller.agentId);
    const claimed = claims.get(kind) ?? 0;
    const choice = chooseWorker(wanted(waiter, kind), situation(pool, kind, claimed));
    if (choice.kind === "use") grant(pool, worker(pool, choice.worker), waiter);
    if (choice.kind === "replace") retire(pool, worker(pool, choice.worker));
    if (choice.kind === "spawn" || choice.kind === "replace") track(pool, spawn(pool, kind));
    if (choice.kind === "wait" && choice.because === "starts_held_back") retryLater(pool, kind);
    if (choice.kind !== "use" && choice.kind !== "wait") claims.set(kind, claimed + 1);
    if (choice.kind === "wait" && choice.because === "one_is_starting") claims.set(kind, claimed + 1);
  }
}

function situation(pool: Pool, kind: Kind, claimed: number) {
  const workers = [...pool.workers.values()].map((one) => ({ ...one, profile: one.kind.signature }));
  const starts = workers.filter(({ state }) => state.at === "starting");
  const ofKind = starts.filter((one) => one.kind === kind).length;
  return {
    workers,
    max: pool.settings.config.pool.max,
    shared: pool.settings.config.pool.reuse === "profile",
    unclaimedStarts: Math.max(0, ofKind - claimed),
    mayStart: starts.length < availableParallelism() && kind.starts.mayStart(),
  };
}

function grant(pool: Pool, one: Worker, waiter: Waiter): void {
  const { clock } = pool.deps;
  one.idle?.abort();
  one.state = leased(one.state, wanted(waiter, one.kind), clock.elapsed());
  pool.waiting.leave(waiter);
  void serve(pool, one, waiter);
}

/** Opens the session in the chosen process. A process that died in between is no reason to fail: the request goes back in line. */
async function serve(pool: Pool, one: Worker, waiter: Waiter): Promise<void> {
  const { agent } = one;
  try {
    if (!agent) throw new GatewayError("agent_exited", "the process ended before it could serve");
    await agent.pipe.push(waiter.request.caller, pool.stopping.signal);
    const { folders, config } = one.kind.settings;
    const opened = await openSession(pool.deps, agent, one.session, { ...waiter.request, place: folders });
    if (opened.switched) one.switches++;
    // Another process may have this session in memory from earlier; it must read it again before it is used for it.
    for (const other of pool.workers.values()) {
      if (other !== one && other.session?.path === opened.session.path) other.session = null;
    }
    const made = openLease(pool.deps, agent, {
      request: waiter.request,
      session: opened.session,
      silenceMs: Math.min(config.timeoutMs, MAX_SILENCE_MS),
      giveBack: (session) => giveBack(pool, one, session),
    });
    if (!waiter.take(made)) await made[Symbol.asyncDispose](); // nobody waits any more
  } catch (error) {
    retire(pool, one);
    const died = isGatewayError(error) && error.code === "agent_exited";
    if (died && waiter.reopens < MAX_REOPENS && !pool.stopping.signal.aborted) pool.waiting.rejoin(waiter);
    else waiter.fail(error);
    refill(pool);
  }
}

async function giveBack(pool: Pool, one: Worker, session: OpenSession | null): Promise<void> {
  if (session) one.kind.starts.worked();
  one.session = session;
  one.state = released(one.state, pool.deps.clock.elapsed());
  const fate = fateOf(pool, one, session !== null);
  if (fate.recycle) {
    pool.deps.log.debug("agent process is replaced", { because: fate.because });
    const gone = retire(pool, one);
    refill(pool);
    return gone; // who gives back a broken process waits until it is gone
  }
  rest(pool, one);
  refill(pool);
}

function fateOf(pool: Pool, one: Worker, trusted: boolean): Recycling {
  const ageMs = pool.deps.clock.elapsed() - one.readyAt;
  const size = one.agent ? rssBytes(one.agent.process.pid) : null;
  return shouldRecycle({ trusted, switches: one.switches, ageMs, rssBytes: size }, pool.settings.config.pool);
}

async function spawn(pool: Pool, kind: Kind): Promise<void> {
  const { clock, log } = pool.deps;
  const one: Worker = {
    id: pool.nextId++,
    kind,
    state: starting(clock.elapsed()),
    agent: null,
    session: null,
    switches: 0,
    readyAt: 0,
    idle: null,
  };
  pool.workers.set(one.id, one);
  const began = clock.elapsed();
  try {
    const agent = await startAgent(pool.deps, kind.settings, pool.stopping.signal);
    one.agent = agent;
    one.readyAt = clock.elapsed();
    one.state = ready(one.state, one.readyAt);
    if (kind === pool.standard) pool.model = agent.model;
    if (kind.starts.succeeded()) pool.deps.events.emit("status", { what: "agents" });
    log.info("agent ready", { pid: agent.process.pid, model: agent.model, ms: Math.round(one.readyAt - began) });
    void agent.process.ended.then((ended) => gone(pool, one, ended.because === "stopped", ended.detail));
    rest(pool, one);
  } catch (error) {
    one.state = DEAD;
    pool.workers.delete(one.id);
    if (pool.stopping.signal.aborted) return;
    reportTrouble(pool, kind, error);
    const hopeless = kind.starts.hopeless();
    const same = ({ request }: Waiter) => kindOf(pool, request.caller.agentId) === kind;
    if (hopeless && alive(pool, kind) === 0) pool.waiting.failAll(hopeless, same);
  }
  refill(pool);
}

/** The same trouble is told once, however often it is tried again. */
function reportTrouble(pool: Pool, kind: Kind, error: unknown): void {
  const before = kind.starts.trouble();
  const trouble = kind.starts.failed(error);
  if (trouble === before) return pool.deps.log.debug("agent did not start", { error });
  pool.deps.log.error("agent did not start", { error, trouble, agentId: kind.agentId });
  pool.deps.events.emit("status", { what: "agents" });
}

/** A process has ended. If nobody asked for that while it rested, the next start may have to wait a little. */
function gone(pool: Pool, one: Worker, expected: boolean, detail: string): void {
  const wasIdle = one.state.at === "idle";
  one.idle?.abort();
  one.state = DEAD;
  one.agent = null;
  pool.workers.delete(one.id);
  if (pool.stopping.signal.aborted) return;
  if (!expected) pool.deps.log.warn("agent process ended unexpectedly", { detail });
  if (!expected && wasIdle) one.kind.starts.diedResting(pool.deps.clock.elapsed() - one.readyAt);
  refill(pool);
}

/** Ends a process that is not to be used again. Its place is free at once. */
function retire(pool: Pool, one: Worker): Promise<void> {
  one.idle?.abort();
  one.state = DEAD;
  pool.workers.delete(one.id);
  return track(pool, one.agent?.process.stop(false) ?? Promise.resolve());
}

/** An unused process above `min` is not kept for ever, and one below it is replaced when it has grown old. */
function rest(pool: Pool, one: Worker): void {
  const { min, idleMs } = pool.settings.config.pool;
  const idle = new AbortController();
  one.idle = idle;
  pool.deps.clock.sleep(idleMs, AbortSignal.any([idle.signal, pool.stopping.signal])).then(
    () => {
      if (idle.signal.aborted) return; // taken at the very moment its rest was over
      const spare = alive(pool) > min;
      if (!spare && fateOf(pool, one, true).because !== "too_old") return rest(pool, one);
      void retire(pool, one);
      refill(pool);
    },
    () => undefined, // it is used again, or the pool closes
  );
}

function refill(pool: Pool): void {
  pump(pool);
  fill(pool);
}

/** Keeps `min` processes ready, of the default agent's kind when new ones are needed. */
function fill(pool: Pool): void {
  const { min, max } = pool.settings.config.pool;
  while (!pool.stopping.signal.aborted && alive(pool) < Math.min(min, max)) {
    if (!situation(pool, pool.standard, 0).mayStart) return retryLater(pool, pool.standard);
    track(pool, spawn(pool, pool.standard));
  }
}

function retryLater(pool: Pool, kind: Kind): void {
  kind.starts.whenAllowed(() => refill(pool), pool.stopping.signal);
}

function stats(pool: Pool): PoolStats {
  const at = (state: WorkerState["at"]) => [...pool.workers.values()].filter((one) => one.state.at === state).length;
  return {
    starting: at("starting"),
    idle: at("idle"),
    busy: at("busy"),
    waiting: pool.waiting.size(),
    max: pool.settings.config.pool.max,
    model: pool.model,
    trouble: troubleOf(pool),
  };
}

function troubleOf(pool: Pool): string | null {
  const troubled = [...pool.kinds.values()].find(({ starts }) => starts.trouble() !== null);
  const trouble = troubled?.starts.trouble() ?? null;
  return trouble === null || troubled === pool.standard ? trouble : `Agent ${troubled?.agentId}: ${trouble}`;
}

async function close(pool: Pool): Promise<void> {
  if (!pool.stopping.signal.aborted) pool.stopping.abort(new GatewayError("stopping", "the pool is closing"));
  pool.waiting.failAll(new GatewayError("stopping", "the pool is closing"));
  for (const one of pool.workers.values()) void retire(pool, one);
  while (pool.underWay.size > 0) await Promise.allSettled([...pool.underWay]);
}

function track(pool: Pool, work: Promise<void>): Promise<void> {
  pool.underWay.add(work);
  void work.finally(() => pool.underWay.delete(work)).catch(() => undefined); // whoever asked for the work sees its failure
  return work;
}

function alive(pool: Pool, kind: Kind | null = null): number {
  return [...pool.workers.values()].filter((one) => one.state.at !== "dead" && (!kind || one.kind === kind)).length;
}

/** An agent may have left the configuration after a message for it was accepted. */
function kindOf(pool: Pool, agentId: AgentId): Kind {
  const kind = pool.kinds.get(agentId);
  if (kind) return kind;
  throw new GatewayError("agent_unknown", `there is no agent ${agentId}`);
}

function worker(pool: Pool, id: number): Worker {
  const found = pool.workers.get(id);
  if (!found) throw new GatewayError("internal", "the chosen process is not in the pool", { fields: { id } });
  return found;
}

function wanted({ request }: Waiter, kind: Kind) {
  const { sessionFile, caller } = request;
  return { principal: caller.principal, sessionFile, profile: kind.signature };
}
