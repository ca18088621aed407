/** How many requests one webhook or key takes: a minute's worth at once, and then as many as time gives back. */
import type { Clock } from "./clock.ts";
import { COUNTED_ALONE, type SharedCount } from "./shared-count.ts";

interface Pace {
  /** 0: go ahead, it is counted. Otherwise how long to wait. */
  take(name: string, perMinute: number): number;
}

const MINUTE_MS = 60_000;
/** More than anybody has; those that were forgotten start afresh. */
const MAX_NAMES = 10_000;

/** `counted`: where several gateways have one pace together. */
export function createPace(clock: Clock, counted: SharedCount = COUNTED_ALONE): Pace {
  const buckets = new Map<string, { missing: number; at: number }>();
  const missingIn = (name: string, perMinute: number, now: number): number => {
    const before = buckets.get(name);
    return before ? Math.max(0, before.missing - ((now - before.at) * perMinute) / MINUTE_MS) : 0;
  };
  const put = (name: string, missing: number, now: number): void => {
    buckets.delete(name);
    buckets.set(name, { missing, at: now });
    const [oldest] = buckets.keys();
    if (buckets.size > MAX_NAMES && oldest !== undefined) buckets.delete(oldest);
  };
  counted.hear((name, count, perMinute) => {
    const now = clock.elapsed();
    // what several took at the same moment is waited for, but not longer than a minute
    put(name, Math.min(missingIn(name, perMinute, now) + count, 2 * perMinute), now);
  });
  return {
    take(name, perMinute) {
      const now = clock.elapsed();
      const missing = missingIn(name, perMinute, now);
      const isFree = missing <= perMinute - 1;
      put(name, isFree ? missing + 1 : missing, now);
      if (isFree) counted.tell(name, perMinute);
      return isFree ? 0 : Math.ceil(((missing + 1 - perMinute) * MINUTE_MS) / perMinute);
    },
  };
}
