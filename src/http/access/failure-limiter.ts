/** Counts wrong credentials per key and makes guessing slow: ten in a minute, then a lock that doubles with every further failure. */
import type { Clock } from "../../kit/clock.ts";

export interface FailureLimiter {
  /** How long these keys are still locked; 0 when none is. */
  lockedForMs(keys: readonly LimitKey[]): number;
  fail(keys: readonly LimitKey[]): void;
}

export interface LimitKey {
  readonly name: string;
  readonly failuresPerMinute: number;
}

const WINDOW_MS = 60_000;
const FIRST_LOCK_MS = 1_000;
const MAX_LOCK_MS = 15 * 60_000;
/** This long after a lock has ended without another failure, a key starts afresh. */
const FORGET_MS = 15 * 60_000;
/** The client heard from longest ago is forgotten first; the keys shared by all clients still count against it. */
const MAX_KEYS = 10_000;

interface Bucket {
  readonly failedAt: number[];
  readonly strikes: number;
  readonly lockedUntil: number;
}

export function createFailureLimiter(clock: Clock): FailureLimiter {
  const buckets = new Map<string, Bucket>();

  return {
    lockedForMs(keys) {
      const now = clock.elapsed();
      return Math.max(0, ...keys.map((key) => Math.ceil((buckets.get(key.name)?.lockedUntil ?? 0) - now)));
    },
    fail(keys) {
      for (const key of keys) {
        const next = afterFailure(buckets.get(key.name), key.failuresPerMinute, clock.elapsed());
        buckets.delete(key.name);
        buckets.set(key.name, next);
      }
      for (const oldest of buckets.keys()) {
        if (buckets.size <= MAX_KEYS) break;
        buckets.delete(oldest);
      }
    },
  };
}

function afterFailure(before: Bucket | undefined, perMinute: number, now: number): Bucket {
  const failedAt = [...(before?.failedAt ?? []).filter((at) => now - at < WINDOW_MS), now].slice(-perMinute);
  const strikes = before && now - before.lockedUntil < FORGET_MS ? before.strikes : 0;
  if (strikes === 0 && failedAt.length < perMinute) return { failedAt, strikes: 0, lockedUntil: 0 };
  return { failedAt, strikes: strikes + 1, lockedUntil: now + Math.min(FIRST_LOCK_MS * 2 ** strikes, MAX_LOCK_MS) };
}
