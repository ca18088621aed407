/** Joins the durable inbox with the order of work in memory. Every acknowledged message is in the store first. */
import type { Accepted, Batch, Queue, QueueEntry, StopCause, TurnEnd } from "../contracts/queue.ts";
import type { InboxId, SessionKey, TurnId } from "../contracts/ids.ts";
import type { BegunTurn, Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createAdmission } from "./admission.ts";
import { createLanes, type Lanes, type NextWork, type Pace, type RunningTurn, type Work } from "./lanes.ts";
import { createModes, type QueueSettings } from "./modes.ts";
import { recovered, standing, type WorkKindOf } from "./recovered.ts";

export interface QueueDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Pick<Store, "inbox" | "turns">;
  /** Without it everything is for an agent. */
  readonly workKind?: WorkKindOf;
}

const STORE_RETRY_MS = 500;
const AT_ONCE: Pace = { collect: false, collectMs: 0 };

/** `settings` is asked each time, so that a changed configuration holds from the next message on. */
export function createQueue(deps: QueueDeps, settings: () => QueueSettings): Queue {
  const lanes = createLanes();
  const admission = createAdmission(lanes, settings);
  const { modeIn, modeOf, paceOf } = createModes(settings);
  let bell: Deferred<void> = deferred();

  const ring = (): void => {
    bell.resolve();
    bell = deferred();
  };

  const stop = (key: SessionKey, cause: StopCause): boolean => {
    const running = lanes.running(key);
    if (!running || running.alone) return false;
    running.stop.abort(cause);
    return true;
  };

  const store = async (entry: QueueEntry): Promise<Accepted> => {
    const id = deps.ids.next("msg") as InboxId;
    const stored = await deps.store.inbox.accept({ ...entry, id });
    if (stored.kind === "duplicate") return stored;
    const kind = deps.workKind?.(entry) ?? "talk";
    const running = lanes.running(entry.sessionKey) !== null;
    const next = kind === "stop" && running; // an idle lane is in line for the work it has
    const position = (next ? 0 : lanes.waitingIn(entry.sessionKey)) + (running ? 1 : 0);
    const work = { ...entry, entries: [{ id, message: entry.message }], turnId: null, ...standing(kind) };
    admission.remember(work);
    lanes.add(work, next ? "head" : "end", deps.clock.elapsed());
    if (kind === "stop") stop(entry.sessionKey, "stopped");
    if (kind === "talk" && modeOf(entry.message) === "interrupt") stop(entry.sessionKey, "interrupted");
    ring();
    return { kind: "queued", id, position };
  };

  const world: BatchWorld = { deps, lanes, ring, paceOf, forget: admission.forget, rung: () => bell.promise };

  return {
    async recover() {
      const unfinished = recovered(await deps.store.inbox.unfinished(), deps.workKind ?? (() => "talk"));
      for (const work of unfinished) {
        admission.remember(work);
        lanes.add(work, "end", deps.clock.elapsed());
      }
      ring();
      return { waiting: unfinished.length, interrupted: unfinished.filter((work) => work.turnId).length };
    },

    accept: (entry) => admission.admit(entry, () => store(entry)),

    take: (signal) => takeNext(world, "talk", signal),

    takeCommand: (signal) => takeNext(world, "commands", signal),

    abort: (sessionKey) => stop(sessionKey, "stopped"),

    stats() {
      const { waiting, running } = lanes.stats();
      return { waiting, running };
    },

    session: (sessionKey, channel) => ({ waiting: lanes.waitingIn(sessionKey), mode: modeIn(channel) }),
  };
}

function newTurn(ids: Ids, { turnId, alone: command = false, errand = false, stopped }: Work): RunningTurn {
  const stop = new AbortController();
  if (stopped) stop.abort("stopped" satisfies StopCause);
  const alone = command && !errand; // an errand takes its time, and can be stopped
  return { turnId: turnId ?? (ids.next("turn") as TurnId), stop, alone };
}

interface BatchWorld {
  readonly deps: QueueDeps;
  readonly lanes: Lanes;
  ring(): void;
  paceOf(work: Work): Pace;
  forget(work: Work): void;
  /** Resolves at the next ring. */
  rung(): Promise<void>;
}

async function takeNext(world: BatchWorld, sort: "talk" | "commands", signal: AbortSignal): Promise<Batch> {
  const { deps, lanes } = world;
  for (;;) {
    signal.throwIfAborted();
    const rung = world.rung();
    const next = lanes.next(deps.clock.elapsed(), world.paceOf, (work) => newTurn(deps.ids, work), sort);
    if (next.kind !== "work") {
      await rungOrDue(deps.clock, rung, next, signal);
      continue;
    }
    const { work, running } = next;
    const begun = await begin(deps, work, running);
    if (begun) return createBatch(world, work, running, begun);
    const stopped = running.stop.signal.aborted;
    lanes.add({ ...work, stopped }, "head", deps.clock.elapsed()); // nothing was written: it waits for the store to recover
    lanes.release(work.sessionKey, deps.clock.elapsed(), AT_ONCE);
    await deps.clock.sleep(STORE_RETRY_MS, signal);
  }
}

function createBatch(world: BatchWorld, work: Work, running: RunningTurn, begun: BegunTurn): Batch {
  const { deps, lanes } = world;
  const first = work.entries[0];
  if (!first) throw new Error("a turn without messages was begun");

  const reopen = (): void => {
    lanes.release(work.sessionKey, deps.clock.elapsed(), world.paceOf(work));
    world.ring();
  };

  return {
    turnId: running.turnId,
    sessionKey: work.sessionKey,
    agentId: work.agentId,
    role: work.role,
    priority: work.priority,
    entries: work.entries,
    attempt: begun.attempt,
    unsafeToRetry: begun.unsafeToRetry,
    sessionFile: begun.sessionFile,
    settings: begun.settings,
    cancelled: running.stop.signal,
    acceptedAt: first.message.receivedAt,
    async finish(end: TurnEnd) {
      const written = await deps.store.turns.finish({
        ...end,
        turnId: running.turnId,
        attempt: begun.attempt,
        to: first.message.address,
        at: deps.clock.now(),
      });
      world.forget(work);
      reopen();
      return written;
    },
    async retry(because) {
      deps.log.warn("turn will be tried again", { turnId: running.turnId, sessionKey: work.sessionKey, because });
      // Asked to stop while it was failing: the next attempt ends before it begins.
      const stopped = running.stop.signal.aborted;
      lanes.add({ ...work, turnId: running.turnId, stopped }, "head", deps.clock.elapsed());
      reopen();
    },
    abandon() {
      lanes.release(work.sessionKey, deps.clock.elapsed(), AT_ONCE);
    },
  };
}

/** Until something new arrives, or a lane has collected long enough. */
async function rungOrDue(
  clock: Clock,
  rung: Promise<void>,
  next: Exclude<NextWork, { kind: "work" }>,
  signal: AbortSignal,
): Promise<void> {
  if (next.kind === "none") return orAborted(rung, signal);
  const either = new AbortController();
  const due = clock.sleep(next.inMs, AbortSignal.any([signal, either.signal]));
  try {
    await Promise.race([due, orAborted(rung, signal)]);
  } finally {
    either.abort(new Error("no longer waiting"));
    due.catch(() => undefined); // ended by us
  }
}

async function begin(deps: QueueDeps, work: Work, running: RunningTurn): Promise<BegunTurn | null> {
  try {
    return await deps.store.turns.begin({
      turnId: running.turnId,
      sessionKey: work.sessionKey,
      agentId: work.agentId,
      inboxIds: work.entries.map((entry) => entry.id),
      at: deps.clock.now(),
    });
  } catch (error) {
    deps.log.error("turn could not be begun", { sessionKey: work.sessionKey, error });
    return null;
  }
}
