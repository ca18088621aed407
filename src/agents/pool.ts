/** A few agent processes, shared by many sessions: leased one at a time, kept apart by profile and (by default) principal, replaced when worn or dead. Never runs more than `max`. */
import { availableParallelism } from "node:os";
import type { AgentLease, AgentModel, AgentPool, LeaseRequest, ModelQuery } from "../contracts/agent.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { background } from "../kit/background.ts";
import { orAborted } from "../kit/deferred.ts";
import { findBestMatch } from "./choose.ts";
import { type Kind, openKinds, type PoolOptions } from "./kinds.ts";
import { openLease } from "./lease.ts";
import { noteUse, prepare } from "./prepare.ts";
import {
  alive,
  hasOpen,
  idleOnes,
  isShared,
  newWorker,
  type Pool,
  spares,
  sparesToKeep,
  processesOf,
  statsOf,
  wanted,
  type Worker,
  workerOf,
} from "./pool-state.ts";
import { isMemoryScarce, measureMachine, poolSize } from "./pool-size.ts";
import { isSpare, missingSpares, placeForSpare } from "./spares.ts";
import { killOrphans } from "./process/orphans.ts";
import { type Recycling, shouldRecycle } from "./recycle.ts";
import { expectedModel } from "./setup/model-choice.ts";
import { createSessionInspector } from "./setup/session-inspector.ts";
import { type StartDeps, startAgent } from "./setup/start.ts";
import { availableModels } from "./talk/models.ts";
import { type OpenSession, openSession } from "./talk/session.ts";
import { PROBE_FILE, sessionPath, sweepPassing } from "./talk/session-file.ts";
import { type Waiter, createWaitingList, stuckDelegation } from "./waiting-list.ts";
import { DEAD, leased, ready, released } from "./worker-state.ts";

const MAX_SILENCE_MS = 120_000;
const MAX_REOPENS = 2;
const PREPARE_ACTS = { situation, spawn, retire, rest, refill, track };
/** So long a process stays with who spoke in it last, before work that nobody waits for takes it. */
const WARM_MS = 60_000;

export async function startPool(deps: StartDeps, options: PoolOptions): Promise<AgentPool> {
  await killOrphans(deps, options.home);
  const kinds = await openKinds(deps, options);
  const { settings } = kinds.standard;
  const measure = options.starts?.measure ?? measureMachine;
  const size = poolSize(options.config.pool.max, measure());
  const pool: Pool = {
    deps,
    settings,
    kinds,
    size,
    isMemoryScarce: () => isMemoryScarce(measure()),
    startsAtOnce: options.starts?.atOnce ?? availableParallelism(),
    workers: new Map(),
    waiting: createWaitingList(deps.clock, options.config.pool.waitMs),
    stopping: new AbortController(),
    underWay: new Set(),
    model: expectedModel(settings.choice),
    nextId: 1,
    fillsLater: false,
    inspect: createSessionInspector(),
  };
  if (settings.choice.kind === "demo") deps.log.info("the demo model answers", { because: settings.choice.because });
  const { count, because } = sparesToKeep(pool);
  if (count < options.config.pool.min) deps.log.info("no spare processes are kept ready", { because });
  await sweepPassing(settings.folders.sessions, deps.clock.now());
  fill(pool);
  return {
    lease: (request, signal) => lease(pool, request, signal),
    stats: () => statsOf(pool),
    processes: () => processesOf(pool),
    hasOpen: (sessionKey) => hasOpen(pool, sessionKey),
    prepare: (request, signal) => prepare(pool, request, PREPARE_ACTS, signal),
    models: (asked, signal) => models(pool, asked, signal),
    [Symbol.asyncDispose]: () => close(pool),
  };
}

async function lease(pool: Pool, request: LeaseRequest, signal: AbortSignal): Promise<AgentLease> {
  signal.throwIfAborted();
  sessionPath(pool.settings.folders.sessions, request.sessionFile); // a wrong name fails here, before a process is involved
  if (pool.stopping.signal.aborted) throw new GatewayError("stopping", "the pool is closing");
  const preparing = pool.kinds.prepare(request);
  if (preparing) await orAborted(preparing, signal); // otherwise it is in line at once, before whoever asks next
  const kind = pool.kinds.of(request);
  const hopeless = kind.starts.hopeless();
  if (hopeless && alive(pool, kind) === 0 && !kind.starts.mayStart()) throw hopeless;
  const wait = pool.waiting.join(request, signal);
  refill(pool);
  return wait;
}

/** A process that runs is asked, whatever it is doing; without one, whoever asks waits for one like everybody else. */
async function models(
  pool: Pool,
  { caller, provider }: ModelQuery,
  signal: AbortSignal,
): Promise<readonly AgentModel[]> {
  const everyLogin = pool.kinds.of({ caller }).settings.config.agentDir !== undefined; // its processes know all there is
  const request = { caller, ...(provider === undefined || everyLogin ? {} : { model: `${provider}/` }) };
  await pool.kinds.prepare(request);
  const kind = pool.kinds.of(request);
  const running = [...pool.workers.values()].find((one) => one.kind === kind && one.agent !== null);
  if (running?.agent) return availableModels(running.agent.process, signal);
  await using held = await lease(pool, { ...request, sessionFile: PROBE_FILE, settledBytes: 0 }, signal);
  const made = [...pool.workers.values()].find((one) => one.agent?.process.pid === held.pid);
  if (!made?.agent) throw new GatewayError("agent_exited", "the process ended before it could say");
  return await availableModels(made.agent.process, signal);
}

/** Gives every waiting request, most important first, what it can have now. Called whenever something has changed. */
function pump(pool: Pool): void {
  if (pool.stopping.signal.aborted) return;
  const claims = new Map<Kind, number>();
  for (const waiter of pool.waiting.all()) {
    const kind = pool.kinds.of(waiter.request);
    const claimed = claims.get(kind) ?? 0;
    const choice = findBestMatch(wanted(waiter, kind), situation(pool, kind, claimed));
    if (choice.kind === "use") grant(pool, workerOf(pool, choice.worker), waiter);
    if (choice.kind === "replace") retire(pool, workerOf(pool, choice.worker));
    if (choice.kind === "spawn" || choice.kind === "replace") begin(pool, kind);
    if (choice.kind === "wait" && choice.because === "starts_held_back") retryLater(pool, kind);
    if (choice.kind !== "use" && choice.kind !== "wait") claims.set(kind, claimed + 1);
    if (choice.kind === "wait" && choice.because === "one_is_starting") claims.set(kind, claimed + 1);
  }
  untangle(pool);
}

/** Nobody waits for a process that cannot become free: the newest delegation gives way, and who asked for it goes on without. */
function untangle(pool: Pool): void {
  if (pool.waiting.size() === 0) return;
  const workers = [...pool.workers.values()];
  const allBusy = workers.every(({ state }) => state.at === "busy") && workers.length >= pool.size.max;
  if (!allBusy) return;
  const busy = workers.flatMap(({ serves }) => (serves ? [serves] : []));
  for (;;) {
    const stuck = stuckDelegation(busy, pool.waiting.all());
    if (!stuck) return;
    stuck.fail(
      new GatewayError("pool_exhausted", "every process serves a turn that waits for another agent", {
        say: "Every agent process waits for another agent, so none is left for this task. Do it yourself.",
      }),
    );
  }
}

function situation(pool: Pool, kind: Kind, claimed: number) {
  const workers = [...pool.workers.values()].map((one) => ({
    ...one,
    profile: one.kind.signature,
    isOpening: one.opening !== null,
  }));
  const starting = workers.filter(({ state }) => state.at === "starting");
  const ofKind = starting.filter((one) => one.kind === kind).length;
  const starts = starting.filter(({ isAhead }) => !isAhead);
  return {
    workers,
    max: pool.size.max,
    shared: isShared(pool),
    unclaimedStarts: Math.max(0, ofKind - claimed),
    mayStart: starts.length < pool.startsAtOnce && kind.starts.mayStart(),
    warmSince: pool.deps.clock.elapsed() - WARM_MS,
  };
}

function grant(pool: Pool, one: Worker, waiter: Waiter): void {
  const { clock } = pool.deps;
  one.idle?.abort();
  if (one.prepared) noteUse(pool, one, waiter.request);
  one.state = leased(one.state, wanted(waiter, one.kind), clock.elapsed());
  one.serves = waiter.request;
  pool.waiting.leave(waiter);
  void serve(pool, one, waiter);
}

/** Opens the session in the chosen process. A process that died in between is no reason to fail: the request goes back in line. Never rejects. */
async function serve(pool: Pool, one: Worker, waiter: Waiter): Promise<void> {
  if (one.opening) await one.opening;
  const { agent } = one;
  try {
    if (!agent) throw new GatewayError("agent_exited", "the process ended before it could serve");
    const tools = agent.pipe.push(waiter.request.caller, pool.stopping.signal);
    tools.taken.catch(() => undefined); // who opens the session hears of it, unless that failed first
    const { folders, config } = one.kind.settings;
    const { inspect } = pool;
    const sessionRequest = { ...waiter.request, folders, defaultThinking: config.thinking, tools, inspect };
    const opened = await openSession(pool.deps, agent, one.session, sessionRequest);
    if (opened.switched) one.switches++;
    // Another process may have this session in memory from earlier; it must read it again before it is used for it.
    for (const other of pool.workers.values()) {
      if (other !== one && other.session?.file === opened.session.file) other.session = null;
    }
    const made = openLease(pool.deps, agent, {
      request: waiter.request,
      session: opened.session,
      wasOpen: !opened.switched,
      lost: opened.lost,
      startedOver: opened.startedOver,
      stored: opened.stored ?? null,
      silenceMs: Math.min(config.timeoutMs, MAX_SILENCE_MS),
      providerWaitMs: config.providerWaitMs,
      cpuSeconds: config.limits.cpuSecondsPerTurn,
      giveBack: (session) => giveBack(pool, one, session),
    });
    if (!waiter.take(made)) await made[Symbol.asyncDispose](); // nobody waits any more
  } catch (error) {
    if (isGatewayError(error) && error.code === "model_missing" && agent) return notServed(pool, one, waiter, error);
    const died = one.agent === null || (isGatewayError(error) && error.code === "agent_exited"); // its files went with it
    retire(pool, one);
    if (died && waiter.reopens < MAX_REOPENS && !pool.stopping.signal.aborted) pool.waiting.rejoin(waiter);
    else waiter.fail(error);
    refill(pool);
  }
}

/** The process is as good as before: it only does not have what this session asks for. */
function notServed(pool: Pool, one: Worker, waiter: Waiter, error: GatewayError): void {
  one.session = null;
  one.state = released(one.state, pool.deps.clock.elapsed());
  waiter.fail(error);
  rest(pool, one);
  refill(pool);
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
  const size = one.agent ? one.agent.process.memoryBytes() : null;
  const facts = {
    trusted,
    switches: one.switches,
    ageMs,
    rssBytes: size,
    isMemoryScarce: pool.isMemoryScarce,
  };
  return shouldRecycle(facts, pool.settings.config.pool);
}

function begin(pool: Pool, kind: Kind): void {
  background(pool.deps.log, "start of an agent not dealt with", () =>
    track(pool, spawn(pool, newWorker(pool, kind, false))),
  );
}

async function spawn(pool: Pool, one: Worker): Promise<void> {
  const { clock, log } = pool.deps;
  const { kind } = one;
  pool.workers.set(one.id, one);
  const began = clock.elapsed();
  try {
    const agent = await startAgent(pool.deps, kind.settings, pool.stopping.signal);
    one.agent = agent;
    one.readyAt = clock.elapsed();
    one.state = ready(one.state, one.readyAt);
    if (kind === pool.kinds.standard) pool.model = agent.model;
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
    const same = ({ request }: Waiter) => pool.kinds.of(request) === kind;
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

/** Ends a process that is not to be used again. Its place is free at once. Never rejects. */
function retire(pool: Pool, one: Worker): Promise<void> {
  one.idle?.abort();
  one.state = DEAD;
  pool.workers.delete(one.id);
  return track(pool, one.agent?.process.stop(false) ?? Promise.resolve());
}

/** Only spares stay for ever, and even they are replaced when they have grown old. */
function rest(pool: Pool, one: Worker): void {
  const { idleMs } = pool.settings.config.pool;
  const min = sparesToKeep(pool).count;
  const idle = new AbortController();
  one.idle = idle;
  pool.deps.clock.sleep(idleMs, AbortSignal.any([idle.signal, pool.stopping.signal])).then(
    () => {
      if (idle.signal.aborted) return; // taken at the very moment its rest was over
      const needed = one.kind === pool.kinds.standard && isSpare(one.state, isShared(pool)) && spares(pool) <= min;
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

/**
 * Keeps `min` spares of the default agent ready; in a full pool one, for which somebody's idle process gives way. Not while somebody waits: a
 * start takes a core from theirs.
 */
function fill(pool: Pool): void {
  const { max } = pool.size;
  const min = sparesToKeep(pool).count;
  if (pool.stopping.signal.aborted || pool.waiting.size() > 0) return;
  for (;;) {
    const facts = { spares: spares(pool), alive: alive(pool), min, max };
    const place = placeForSpare({ ...facts, idle: idleOnes(pool), now: pool.deps.clock.elapsed() });
    if (place.kind === "later") return fillLater(pool, place.inMs);
    if (missingSpares(facts) === 0 && place.kind === "none") return;
    if (!situation(pool, pool.kinds.standard, 0).mayStart) return retryLater(pool, pool.kinds.standard);
    if (place.kind === "give_way") void retire(pool, workerOf(pool, place.worker));
    begin(pool, pool.kinds.standard);
  }
}

/** Looks again when an idle process may give way. One look is enough, however many turns end meanwhile. */
function fillLater(pool: Pool, inMs: number): void {
  if (pool.fillsLater) return;
  pool.fillsLater = true;
  pool.deps.clock.sleep(inMs, pool.stopping.signal).then(
    () => {
      pool.fillsLater = false;
      fill(pool);
    },
    () => undefined, // the pool closes
  );
}

function retryLater(pool: Pool, kind: Kind): void {
  kind.starts.whenAllowed(() => refill(pool), pool.stopping.signal);
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
