/** How many requests one webhook or key takes: a minute's worth at once, and then as many as time gives back. */
import type { Clock } from "./clock.ts";

interface Pace {
  /** 0: go ahead, it is counted. Otherwise how long to wait. */
  take(name: string, perMinute: number): number;
}

const MINUTE_MS = 60_000;
/** More than anybody has; those that were forgotten start afresh. */
const MAX_NAMES = 10_000;

export function createPace(clock: Clock): Pace {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(name, perMinute) {
      const now = clock.elapsed();
      const perMs = perMinute / MINUTE_MS;
      const before = buckets.get(name);
      const left = before ? Math.min(perMinute, before.left + (now - before.at) * perMs) : perMinute;
      buckets.delete(name);
      buckets.set(name, { left: left >= 1 ? left - 1 : left, at: now });
      const [oldest] = buckets.keys();
      if (buckets.size > MAX_NAMES && oldest !== undefined) buckets.delete(oldest);
      return left >= 1 ? 0 : Math.ceil((1 - left) / perMs);
    },
  };
}
