/** What one turn takes from the head of a lane, and what a running turn may be offered. Pure decisions over the waiting work. */
import type { Pace } from "./lanes.ts";
import { joins, overflowJoins, type Work } from "./work.ts";

/** One turn takes at most this many messages; the rest is the next turn's. */
const MAX_BATCH_MESSAGES = 50;

/**
 * The head, joined with what waits behind it when the session collects and the same person speaks, and with overflow of its chat in any mode.
 * A retry stays as it was; what waited too long goes alone, with others that did.
 */
export function takeFrom(waiting: Work[], now: number, pace: (work: Work) => Pace): Work {
  const head = waiting.shift();
  if (!head) throw new Error("an empty lane was in line");
  if (head.turnId !== null) return head;
  const expired = isExpired(head, now);
  if (head.alone) return { ...head, expired };
  const collects = pace(head).collect;
  const goesAlong = (next: Work): boolean => {
    if (expired !== isExpired(next, now) || (head.stopped ?? false) !== (next.stopped ?? false)) return false;
    return overflowJoins(head, next) || (!next.overflow && (collects || expired) && joins(head, next));
  };
  let work: Work = { ...head, expired };
  for (let next = waiting[0]; next && goesAlong(next) && work.entries.length < MAX_BATCH_MESSAGES; next = waiting[0]) {
    work = together(work, next);
    waiting.shift();
  }
  return work;
}

function together(work: Work, next: Work): Work {
  const entries = [...work.entries, ...next.entries];
  const joinedFrom = [...separated(work), next];
  if (!next.overflow) return { ...work, entries, joinedFrom };
  const hidden = (work.overflow?.hidden ?? 0) + next.overflow.hidden;
  return { ...work, entries, joinedFrom, overflow: { ...next.overflow, hidden } };
}

/** The pieces again, when no turn could be begun: each expires by itself, and can be withdrawn by itself. */
export function separated(work: Work): readonly Work[] {
  return (work.turnId === null && work.joinedFrom) || [work];
}

export function isExpired({ turnId, expiresAt = Infinity }: Work, now: number): boolean {
  return turnId === null && expiresAt <= now;
}

/**
 * How many of the waiting, from the first on, may be steered into the running turn. Order is kept: a message that is wanted there takes along
 * what waits before it, and does not overtake anything that cannot go there.
 */
export function steerable(waiting: readonly Work[], running: Work, wanted: (work: Work) => boolean): number {
  let count = 0;
  for (const [at, work] of waiting.entries()) {
    if (work.overflow || !joins(running, work)) break;
    if (wanted(work)) count = at + 1;
  }
  return count;
}
