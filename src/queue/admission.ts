/** Decides whether a message is accepted: counts those that wait and those that are being stored, so that a burst cannot pass a limit. */
import type { SessionKey } from "../contracts/ids.ts";
import type { Accepted, QueueEntry, WorkKind } from "../contracts/queue.ts";
import type { Lanes } from "./lanes.ts";
import type { Work } from "./work.ts";

export interface QueueLimits {
  readonly maxPerSession: number;
  readonly maxTotal: number;
}

export interface Admission {
  /** Stores the entry when there is room for it, as overflow when it cannot be refused, and refuses it otherwise. */
  admit(entry: QueueEntry, kind: WorkKind, store: (as: "work" | "overflow") => Promise<Accepted>): Promise<Accepted>;
  /** How many messages of this session are just being stored. */
  arriving(key: SessionKey): number;
  /** This work is unfinished: a repeat of its events is a duplicate, even when its lane is full. */
  remember(work: Pick<Work, "entries">): void;
  forget(work: Pick<Work, "entries">): void;
}

const FULL_RETRY_AFTER_MS = 2_000;
/** A wish to stop something is accepted above the limits, up to this many in a session and in all. */
const STOPS_PER_SESSION = 5;
const STOPS_IN_ALL = 100;

export function createAdmission(lanes: Lanes, limits: () => QueueLimits): Admission {
  const arriving = new Map<SessionKey, number>();
  const known = new Set<string>();
  let arrivingTotal = 0;

  const refusal = (entry: QueueEntry, kind: WorkKind): Accepted | null => {
    if (known.has(eventKey(entry))) return null;
    const { maxPerSession, maxTotal } = limits();
    const [forOne, forAll] = kind === "stop" ? [STOPS_PER_SESSION, STOPS_IN_ALL] : [0, 0];
    const inLane = lanes.waitingIn(entry.sessionKey).messages + (arriving.get(entry.sessionKey) ?? 0);
    const inAll = lanes.stats().waiting + arrivingTotal;
    const full = { kind: "full", retryAfterMs: FULL_RETRY_AFTER_MS } as const;
    if (inLane >= maxPerSession + forOne) return { ...full, because: "session" };
    return inAll >= maxTotal + forAll ? { ...full, because: "gateway" } : null;
  };

  const count = (key: SessionKey, change: 1 | -1): void => {
    arrivingTotal += change;
    const now = (arriving.get(key) ?? 0) + change;
    if (now > 0) arriving.set(key, now);
    else arriving.delete(key);
  };

  return {
    async admit(entry, kind, store) {
      const refused = refusal(entry, kind);
      if (refused) return entry.whenFull === "keep" ? store("overflow") : refused;
      count(entry.sessionKey, 1);
      try {
        return await store("work");
      } finally {
        count(entry.sessionKey, -1);
      }
    },
    arriving: (key) => arriving.get(key) ?? 0,
    remember: (work) => work.entries.forEach((entry) => known.add(eventKey(entry))),
    forget: (work) => work.entries.forEach((entry) => known.delete(eventKey(entry))),
  };
}

function eventKey({ message }: Pick<QueueEntry, "message">): string {
  return JSON.stringify([message.address.channel, message.address.account, message.eventId]);
}
