/** Whether a hint that somebody may write soon is followed: a pure decision with its reason. Where and how is the pool's. */
import type { Role } from "../contracts/ids.ts";

export interface HintFacts {
  readonly isStopping: boolean;
  /** What they would have as senders of a message. */
  readonly role: Role;
  /** This gateway is the home of the session. */
  readonly isHome: boolean;
  /** A turn of the session runs or waits. */
  readonly isBusy: boolean;
  /** Since the last hint about this session; null: there was none. */
  readonly sinceLastMs: number | null;
  /** How many are being followed. */
  readonly underWay: number;
}

export type MayPrepare =
  | { readonly may: true }
  | {
      readonly may: false;
      readonly because:
        "stopping" | "guest" | "home_elsewhere" | "turn_under_way" | "asked_a_moment_ago" | "enough_under_way";
    };

/** Whoever opens a conversation and types at once asks twice; more than that changes nothing. */
export const HINT_EVERY_MS = 3_000;
/** Each may be a start, which takes a core for half a second. */
export const MAX_HINTS_AT_ONCE = 2;

export function mayPrepare(facts: HintFacts): MayPrepare {
  const { role, sinceLastMs } = facts;
  if (facts.isStopping) return no("stopping");
  if (role === "guest") return no("guest"); // strangers cause no work before they say something
  if (!facts.isHome) return no("home_elsewhere"); // its next message is answered there, and a hint takes no home
  if (facts.isBusy) return no("turn_under_way");
  if (sinceLastMs !== null && sinceLastMs < HINT_EVERY_MS) return no("asked_a_moment_ago");
  if (facts.underWay >= MAX_HINTS_AT_ONCE) return no("enough_under_way");
  return { may: true };
}

function no(because: Extract<MayPrepare, { may: false }>["because"]): MayPrepare {
  return { may: false, because };
}
