/** Joins the durable inbox with the order of work in memory. Every acknowledged message is in the store first. */
import type { Accepted, Batch, Queue, QueueEntry, StopCause, TurnEnd } from "../contracts/queue.ts";
import type { InboxId, SessionKey, TurnId } from "../contracts/ids.ts";
import type { BegunTurn, Store, UnfinishedRow } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createAdmission } from "./admission.ts";
import { createLanes, type Lanes, type NextWork, type Pace, type RunningTurn, type Work } from "./lanes.ts";
import { createModes, type QueueSettings } from "./modes.ts";

export interface QueueDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Pick<Store, "inbox" | "turns">;
}

const STORE_RETRY_MS = 500;
const AT_ONCE: Pace = { collect: false, collectMs: 0 };

/** `settings` is asked each time, so that a changed configuration holds from the next message on. */
export function createQueue(deps: QueueDeps, settings: () => QueueSettings): Queue {
  const lanes = createLanes();
  const admission = createAdmission(lanes, settings);
  const { modeOf, paceOf } = createModes(settings);
  let bell: Deferred<void> = deferred();

  const ring = (): void => {
    bell.resolve();
    bell = deferred();
  };

  const stop = (key: SessionKey, cause: StopCause): boolean => {
    const running = lanes.running(key);
    running?.stop.abort(cause);
    return running !== null;
  };

  const store = async (entry: QueueEntry): Promise<Accepted> => {
    const id = deps.ids.next("msg") as InboxId;
    const stored = await deps.store.inbox.accept({ ...entry, id });
    if (stored.kind === "duplicate") return stored;
    const position = lanes.waitingIn(entry.sessionKey) + (lanes.running(entry.sessionKey) ? 1 : 0);
    const work = { ...entry, entries: [{ id, message: entry.message }], turnId: null };
    admission.remember(work);
    lanes.add(work, "end", deps.clock.elapsed());
    if (modeOf(entry.message) === "interrupt") stop(entry.sessionKey, "interrupted");
    ring();
    return { kind: "queued", id, position };
  };

  return {
    async recover() {
      const unfinished = interruptedFirst(await deps.store.inbox.unfinished());
      for (const work of unfinished) {
        admission.remember(work);
        lanes.add(work, "end", deps.clock.elapsed());
      }
      ring();
      return { waiting: unfinished.length, interrupted: unfinished.filter((work) => work.turnId).length };
    },

    accept: (entry) => admission.admit(entry, () => store(entry)),

    async take(signal) {
      for (;;) {
        signal.throwIfAborted();
        const rung = bell.promise;
        const next = lanes.next(deps.clock.elapsed(), paceOf, (work) => newTurn(deps.ids, work));
        if (next.kind !== "work") {
          await rungOrDue(deps.clock, rung, next, signal);
          continue;
        }
        const { work, running } = next;
        const begun = await begin(deps, work, running);
        if (begun) return createBatch({ deps, lanes, ring, paceOf, forget: admission.forget }, work, running, begun);
        lanes.add(work, "head", deps.clock.elapsed()); // nothing was written: it waits for the store to recover
        lanes.release(work.sessionKey, deps.clock.elapsed(), AT_ONCE);
        await deps.clock.sleep(STORE_RETRY_MS, signal);
      }
    },

    abort: (sessionKey) => stop(sessionKey, "stopped"),

    stats() {
      const { waiting, running } = lanes.stats();
      return { waiting, running };
    },
  };
}

function newTurn(ids: Ids, { turnId }: Work): RunningTurn {
  return { turnId: turnId ?? (ids.next("turn") as TurnId), stop: new AbortController() };
}

interface BatchWorld {
  readonly deps: QueueDeps;
  readonly lanes: Lanes;
  ring(): void;
  paceOf(work: Work): Pace;
  forget(work: Work): void;
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
      lanes.add({ ...work, turnId: running.turnId }, "head", deps.clock.elapsed());
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

/** Rows of one interrupted turn become one piece of work again; all else keeps the order in which it was accepted. */
function interruptedFirst(rows: readonly UnfinishedRow[]): Work[] {
  const work: Work[] = [];
  const byTurn = new Map<TurnId, { entries: Work["entries"][number][] }>();
  for (const row of rows) {
    const entry = { id: row.id, message: row.message };
    const known = row.turn ? byTurn.get(row.turn.turnId) : undefined;
    if (known) {
      known.entries.push(entry);
      continue;
    }
    const item = {
      sessionKey: row.sessionKey,
      agentId: row.agentId,
      role: row.role,
      priority: row.priority,
      entries: [entry],
      turnId: row.turn?.turnId ?? null,
    };
    if (row.turn) byTurn.set(row.turn.turnId, item);
    work.push(item);
  }
  return work.toSorted((one, other) => Number(other.turnId !== null) - Number(one.turnId !== null)); // stable: only lifts interrupted turns
}
