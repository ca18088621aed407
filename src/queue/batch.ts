/** One turn from its begin to its end: messages join it, it finishes, is retried, or is left to the next start. */
import type { InboxId, TurnId } from "../contracts/ids.ts";
import type { StoredPart } from "../contracts/delivery.ts";
import type { Batch, BatchEntry, FinishedTurn, StopCause, TurnEnd } from "../contracts/queue.ts";
import type { Store } from "../contracts/store.ts";
import type { BegunTurn, UnbegunEnd } from "../contracts/store/turns.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { RunningTurn } from "./lane-table.ts";
import type { Lanes, Pace } from "./lanes.ts";
import { ACCUSED_AT, type Work } from "./work.ts";

export interface BatchWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "turns">;
  readonly lanes: Lanes;
  ring(): void;
  /** Resolves at the next ring. */
  rung(): Promise<void>;
  paceOf(work: Work): Pace;
  /** It is to be steered into the running turn. */
  steers(work: Work): boolean;
  forget(work: Pick<Work, "entries">): void;
}

export const AT_ONCE: Pace = { collect: false, collectMs: 0 };

export function newTurn(
  ids: Ids,
  { turnId, alone: command = false, errand = false, stopped }: Pick<Work, "turnId" | "alone" | "errand" | "stopped">,
): RunningTurn {
  const stop = new AbortController();
  if (stopped) stop.abort("stopped" satisfies StopCause);
  const alone = command && !errand; // an errand takes its time, and can be stopped
  return { turnId: turnId ?? (ids.next("turn") as TurnId), stop, alone };
}

/** Stands for the begin of an expired message, which is ended in one step: a crash in between does not answer it after all. */
export const NOT_BEGUN: BegunTurn = {
  attempt: 1,
  unsafeToRetry: false,
  hasNews: false,
  sessionFile: { name: "", settledBytes: 0 },
  settings: { model: null, thinking: null },
};

/** Null: nothing was written, the store does not take it now. */
export async function beginTurn(world: BatchWorld, work: Work, running: RunningTurn): Promise<BegunTurn | null> {
  try {
    return await world.store.turns.begin({
      turnId: running.turnId,
      sessionKey: work.sessionKey,
      agentId: work.agentId,
      inboxIds: work.entries.map((entry) => entry.id),
      ...overflowOf(work),
      at: world.clock.now(),
    });
  } catch (error) {
    world.log.error("turn could not be begun", { sessionKey: work.sessionKey, error });
    return null;
  }
}

function overflowOf({ entries, overflow }: Work) {
  const shown = entries.find((entry) => entry.overflow);
  return overflow && shown ? { overflow: { through: overflow.through, chat: shown.message.address } } : {};
}

export function createBatch(world: BatchWorld, work: Work, running: RunningTurn, begun: BegunTurn): Batch {
  const { clock, lanes, store } = world;
  const { sessionKey } = work;
  const [first] = work.entries;
  if (!first) throw new Error("a turn without messages was begun");
  const joined: InboxId[] = [];
  let grown = work;

  const reopen = (): void => {
    lanes.release(sessionKey, clock.elapsed(), world.paceOf(work));
    world.ring();
  };

  return {
    turnId: running.turnId,
    sessionKey,
    agentId: work.agentId,
    role: work.role,
    priority: work.priority,
    get entries() {
      return grown.entries;
    },
    hidden: work.overflow?.hidden ?? 0,
    expired: work.expired ?? false,
    attempt: begun.attempt,
    failures: work.failures ?? 0,
    accused: (work.crashes ?? 0) >= ACCUSED_AT,
    unsafeToRetry: begun.unsafeToRetry,
    sessionFile: begun.sessionFile,
    settings: begun.settings,
    hasNews: begun.hasNews,
    cancelled: running.stop.signal,
    acceptedAt: first.message.receivedAt,
    offered: (signal) => nextOffer(world, work, signal),
    async join(entries) {
      const ids = entries.map(({ id }) => id);
      joined.push(...ids);
      grown = lanes.join(sessionKey, ids) ?? grown;
      // with those that could not be stored before: what was said later must not be the turn's without them
      await claim(world, { turnId: running.turnId, attempt: begun.attempt, inboxIds: [...joined] });
    },
    decline: () => lanes.decline(sessionKey),
    async finish(end) {
      const about = { turnId: running.turnId, to: first.message.address, at: clock.now() };
      const finished = work.expired
        ? await endExpired(world, work, { ...about, ...end })
        : finishedTurn(await store.turns.finish({ ...end, ...about, attempt: begun.attempt, joined }));
      world.forget(grown);
      reopen();
      return finished;
    },
    async retry(because) {
      world.log.warn("turn will be tried again", { turnId: running.turnId, sessionKey, because });
      await leave(world, running.turnId, begun.attempt);
      // Asked to stop while it was failing: the next attempt ends before it begins.
      const stopped = running.stop.signal.aborted;
      const failures = (work.failures ?? 0) + 1;
      lanes.add({ ...grown, failures, turnId: running.turnId, stopped }, "head", clock.elapsed());
      reopen();
    },
    async abandon() {
      await leave(world, running.turnId, begun.attempt);
      lanes.release(sessionKey, clock.elapsed(), AT_ONCE);
    },
  };
}

/** Notes that nobody works on the turn any more: a crash from here on has another cause. Never rejects. */
export async function leave(
  { store, log }: Pick<BatchWorld, "store" | "log">,
  turnId: TurnId,
  attempt: number,
): Promise<void> {
  try {
    await store.turns.leave(turnId, attempt);
  } catch (error) {
    log.warn("turn is left as if it were still at work", { turnId, error });
  }
}

function finishedTurn(stored: readonly StoredPart[] | null): FinishedTurn | null {
  return stored && { stored };
}

type ExpiredEnd = TurnEnd & Pick<UnbegunEnd, "turnId" | "to" | "at">;

async function endExpired(world: BatchWorld, work: Work, end: ExpiredEnd): Promise<FinishedTurn | null> {
  const { turnId, to, at, reply, error } = end;
  const outcome = end.outcome === "done" ? "failed" : end.outcome;
  const written = await world.store.turns.endUnbegun({
    turnId,
    to,
    at,
    reply,
    outcome,
    sessionKey: work.sessionKey,
    agentId: work.agentId,
    ...(error ? { error } : {}),
    ...overflowOf(work),
    inboxIds: work.entries.map((entry) => entry.id),
  });
  return written ? {} : null;
}

async function nextOffer(world: BatchWorld, work: Work, signal: AbortSignal): Promise<readonly BatchEntry[]> {
  while (!signal.aborted) {
    const rung = world.rung();
    const fresh = world.lanes.offer(work.sessionKey, world.steers);
    if (fresh.length > 0) return fresh;
    await orAborted(rung, signal).catch(() => undefined); // the loop looks at the signal
  }
  return [];
}

/** The end of the turn claims once more, so a disk that is full now costs nothing but a message that waits once more after a crash. */
async function claim(world: BatchWorld, more: Parameters<Store["turns"]["join"]>[0]): Promise<void> {
  try {
    await world.store.turns.join(more);
  } catch (error) {
    world.log.warn("what joined a turn could not be stored with it yet", { turnId: more.turnId, error });
  }
}
