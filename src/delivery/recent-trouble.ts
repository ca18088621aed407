/** How many replies did not simply arrive within the last day, for the owner's eyes. Counts only; the store keeps the replies. */
import type { TroubledState } from "../contracts/delivery.ts";
import type { Clock } from "../kit/clock.ts";

export const RECENT_MS = 24 * 60 * 60 * 1_000;
/** Beyond this the number no longer matters. */
export const MAX_RECENT = 1_000;

export interface RecentTrouble {
  /** When a reply ended that way, oldest first. */
  add(state: TroubledState, ...at: readonly number[]): void;
  /** A reply that ended then is sent again. */
  remove(state: TroubledState, endedAt: number): void;
  counts(): Readonly<Record<TroubledState, number>>;
}

export function createRecentTrouble(clock: Clock): RecentTrouble {
  const ends: Record<TroubledState, number[]> = { dead: [], ambiguous: [] };
  const recent = (state: TroubledState): number => {
    const since = clock.now() - RECENT_MS;
    ends[state] = ends[state].filter((at) => at > since).slice(-MAX_RECENT);
    return ends[state].length;
  };
  return {
    add(state, ...at) {
      ends[state].push(...at);
      recent(state);
    },
    remove(state, endedAt) {
      const at = ends[state].findIndex((one) => one >= endedAt); // counted right after its end was stored
      if (at >= 0) ends[state].splice(at, 1);
    },
    counts: () => ({ dead: recent("dead"), ambiguous: recent("ambiguous") }),
  };
}
