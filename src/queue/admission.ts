/** Who may still come in: counts what waits and what is just being stored, so that a burst cannot slip past a limit. */
import type { Accepted, QueueEntry } from "../contracts/queue.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { Lanes, Work } from "./lanes.ts";

export interface QueueLimits {
  readonly maxPerSession: number;
  readonly maxTotal: number;
}

export interface Admission {
  /** Stores the entry when there is room for it, and refuses it otherwise. */
  admit(entry: QueueEntry, store: () => Promise<Accepted>): Promise<Accepted>;
  /** This work is unfinished: a repeat of its events is a duplicate, even when its lane is full. */
  remember(work: Pick<Work, "entries">): void;
  forget(work: Pick<Work, "entries">): void;
}

const FULL_RETRY_AFTER_MS = 2_000;

export function createAdmission(lanes: Lanes, limits: () => QueueLimits): Admission {
  const arriving = new Map<SessionKey, number>();
  const known = new Set<string>();
  let arrivingTotal = 0;

  const refusal = (entry: QueueEntry): Accepted | null => {
    if (known.has(eventKey(entry))) return null;
    const { maxPerSession, maxTotal } = limits();
    const inLane = lanes.waitingIn(entry.sessionKey) + (arriving.get(entry.sessionKey) ?? 0);
    const inAll = lanes.stats().waiting + arrivingTotal;
    if (inLane >= maxPerSession) return { kind: "full", because: "session", retryAfterMs: FULL_RETRY_AFTER_MS };
    if (inAll >= maxTotal) return { kind: "full", because: "gateway", retryAfterMs: FULL_RETRY_AFTER_MS };
    return null;
  };

  const count = (key: SessionKey, change: 1 | -1): void => {
    arrivingTotal += change;
    const now = (arriving.get(key) ?? 0) + change;
    if (now > 0) arriving.set(key, now);
    else arriving.delete(key);
  };

  return {
    async admit(entry, store) {
      const refused = refusal(entry);
      if (refused) return refused;
      count(entry.sessionKey, 1);
      try {
        return await store();
      } finally {
        count(entry.sessionKey, -1);
      }
    },
    remember: (work) => work.entries.forEach((entry) => known.add(eventKey(entry))),
    forget: (work) => work.entries.forEach((entry) => known.delete(eventKey(entry))),
  };
}

function eventKey({ message }: Pick<QueueEntry, "message">): string {
  return JSON.stringify([message.address.channel, message.address.account, message.eventId]);
}
