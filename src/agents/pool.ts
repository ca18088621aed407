/** A few agent processes, shared by many sessions: leased one at a time, kept apart by profile and (by default) principal, replaced when worn or dead. Never runs more than `max`. */
import { availableParallelism } from "node:os";
import type { AgentLease, AgentPool, LeaseRequest, PoolStats } from "../contracts/agent.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { findBestMatch } from "./choose.ts";
import { type Kind, type Kinds, kindFor, kindsOf, type PoolOptions } from "./kinds.ts";
import { openLease } from "./lease.ts";
import { DEFAULT_AGENT } from "./profile.ts";
import { expectedModel } from "./setup/model-choice.ts";
import { killOrphans } from "./process/orphans.ts";
import { type OpenSession, openSession } from "./talk/session.ts";
import { sessionPath } from "./talk/session-file.ts";
import { rssBytes } from "./process/proc.ts";
import { type Recycling, shouldRecycle } from "./recycle.ts";
import { countSpares, isSpare, missingSpares } from "./spares.ts";
import { type ReadyAgent, type StartDeps, type StartSettings, startAgent } from "./setup/start.ts";
import { type WaitingList, type Waiter, createWaitingList } from "./waiting-list.ts";
import { DEAD, type WorkerState, leased, ready, released, starting } from "./worker-state.ts";

const MAX_SILENCE_MS = 120_000;
const MAX_REOPENS = 2;

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
  readonly kinds: Kinds;
  readonly startsAtOnce: number;
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
  const standard = kindFor(kinds, { agentId: DEFAULT_AGENT, role: "owner" });
  const { settings } = standard;
  const pool: Pool = {
    deps,
    settings,
    standard,
    kinds,
    startsAtOnce: options.startsAtOnce ?? availableParallelism(),
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

async function lease(pool: Pool, request: LeaseRequest, signal: AbortSignal): Promise<AgentLease> {
  signal.throwIfAborted();
  sessionPath(pool.settings.folders.sessions, request.sessionFile); // a wrong name fails here, before a process is involved
  if (pool.stopping.signal.aborted) throw new GatewayError("stopping", "the pool is closing");
  const kind = kindOf(pool, request);
  const hopeless = kind.starts.hopeless();
  if (hopeless && alive(pool, kind) === 0 && !kind.starts.mayStart()) throw hopeless;
  const wait = pool.waiting.join(request, signal);
  refill(pool);
  return wait;
}

/** Gives every waiting request, most important first, what it can have now. Called whenever something has changed. */
function pump(pool: Pool): void {
  if (pool.stopping.signal.aborted) return;
  const claims = new Map<Kind, number>();
  for (const waiter of pool.waiting.all()) {
    const kind = kindOf(pool, waiter.request);
    const claimed = claims.get(kind) ?? 0;
    const choice = findBestMatch(wanted(waiter, kind), situation(pool, kind, claimed));
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
    shared: isShared(pool),
    unclaimedStarts: Math.max(0, ofKind - claimed),
    mayStart: starts.length < pool.startsAtOnce && kind.starts.mayStart(),
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
    await agent.pipe.push(pool.stopping.signal);
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
    const same = ({ request }: Waiter) => kindOf(pool, request) === kind;
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

/** Only spares stay for ever, and even they are replaced when they have grown old. */
function rest(pool: Pool, one: Worker): void {
  const { min, idleMs } = pool.settings.config.pool;
  const idle = new AbortController();
  one.idle = idle;
  pool.deps.clock.sleep(idleMs, AbortSignal.any([idle.signal, pool.stopping.signal])).then(
    () => {
      if (idle.signal.aborted) return; // taken at the very moment its rest was over
      const needed = one.kind === pool.standard && isSpare(one.state, isShared(pool)) && spares(pool) <= min;
      if (needed && fateOf(pool, one, true).because !== "too_old") return rest(pool, one);
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

/** Keeps `min` spares of the default agent ready, as far as `max` allows. Not while somebody waits: a start takes a core from theirs. */
function fill(pool: Pool): void {
  const { min, max } = pool.settings.config.pool;
  if (pool.stopping.signal.aborted || pool.waiting.size() > 0) return;
  while (missingSpares({ spares: spares(pool), alive: alive(pool), min, max }) > 0) {
    if (!situation(pool, pool.standard, 0).mayStart) return retryLater(pool, pool.standard);
    track(pool, spawn(pool, pool.standard));
  }
}

function spares(pool: Pool): number {
  const states = [...pool.workers.values()].filter(({ kind }) => kind === pool.standard).map(({ state }) => state);
  return countSpares(states, isShared(pool));
}

function isShared(pool: Pool): boolean {
  return pool.settings.config.pool.reuse === "profile";
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

function kindOf(pool: Pool, { caller }: LeaseRequest): Kind {
  return kindFor(pool.kinds, caller);
}

function worker(pool: Pool, id: number): Worker {
  const found = pool.workers.get(id);
  if (!found) throw new GatewayError("internal", "the chosen process is not in the pool", { fields: { id } });
  return found;
}

function wanted({ request }: Waiter, kind: Kind) {
  const { sessionFile, caller } = request;
  return { principal: caller.principal, role: caller.role, sessionFile, profile: kind.signature };
}
