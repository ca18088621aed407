/** Joins the durable inbox with the order of work in memory. Every acknowledged message is in the store first. */
import type { Accepted, Batch, Queue, QueueEntry, TurnEnd } from "../contracts/queue.ts";
import type { InboxId, TurnId } from "../contracts/ids.ts";
import type { BegunTurn, Store, UnfinishedRow } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createAdmission, type QueueLimits } from "./admission.ts";
import { createLanes, type Lanes, type RunningTurn, type Work } from "./lanes.ts";

export interface QueueDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Pick<Store, "inbox" | "turns">;
}

const STORE_RETRY_MS = 500;

/** `limits` is asked each time, so that a changed configuration holds from the next message on. */
export function createQueue(deps: QueueDeps, limits: () => QueueLimits): Queue {
  const lanes = createLanes();
  const admission = createAdmission(lanes, limits);
  let bell: Deferred<void> = deferred();

  const ring = (): void => {
    bell.resolve();
    bell = deferred();
  };

  const store = async (entry: QueueEntry): Promise<Accepted> => {
    const id = deps.ids.next("msg") as InboxId;
    const stored = await deps.store.inbox.accept({ ...entry, id });
    if (stored.kind === "duplicate") return stored;
    const position = lanes.waitingIn(entry.sessionKey) + (lanes.running(entry.sessionKey) ? 1 : 0);
    const work = { ...entry, entries: [{ id, message: entry.message }], turnId: null };
    admission.remember(work);
    lanes.add(work, "end");
    ring();
    return { kind: "queued", id, position };
  };

  return {
    async recover() {
      const unfinished = interruptedFirst(await deps.store.inbox.unfinished());
      for (const work of unfinished) {
        admission.remember(work);
        lanes.add(work, "end");
      }
      ring();
      return { waiting: unfinished.length, interrupted: unfinished.filter((work) => work.turnId).length };
    },

    accept: (entry) => admission.admit(entry, () => store(entry)),

    async take(signal) {
      for (;;) {
        signal.throwIfAborted();
        const rung = bell.promise;
        const next = lanes.next(({ turnId }) => ({
          turnId: turnId ?? (deps.ids.next("turn") as TurnId),
          stop: new AbortController(),
        }));
        if (!next) {
          await orAborted(rung, signal);
          continue;
        }
        const begun = await begin(deps, next.work, next.running);
        if (begun) return createBatch({ deps, lanes, ring, forget: admission.forget }, next.work, next.running, begun);
        lanes.add(next.work, "head"); // nothing was written: it waits for the store to recover
        lanes.release(next.work.sessionKey);
        await deps.clock.sleep(STORE_RETRY_MS, signal);
      }
    },

    abort(sessionKey, reason) {
      const running = lanes.running(sessionKey);
      running?.stop.abort(new Error(reason));
      return running !== null;
    },

    stats() {
      const { waiting, running } = lanes.stats();
      return { waiting, running };
    },
  };
}

interface BatchWorld {
  readonly deps: QueueDeps;
  readonly lanes: Lanes;
  ring(): void;
  forget(work: Work): void;
}

function createBatch(world: BatchWorld, work: Work, running: RunningTurn, begun: BegunTurn): Batch {
  const { deps, lanes } = world;
  const first = work.entries[0];
  if (!first) throw new Error("a turn without messages was begun");

  const reopen = (): void => {
    lanes.release(work.sessionKey);
    world.ring();
  };

  return {
    turnId: running.turnId,
    sessionKey: work.sessionKey,
    agentId: work.agentId,
    role: work.role,
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
      lanes.add({ ...work, turnId: running.turnId }, "head");
      reopen();
    },
    abandon() {
      lanes.release(work.sessionKey);
    },
  };
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
