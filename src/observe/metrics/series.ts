/** Durations of one kind: the latest for quantiles, and counts in buckets since the start. Its size has a limit, whatever comes. */
import type { Quantiles } from "../../contracts/metrics.ts";

export const MAX_SAMPLES = 4_096;
export const WINDOW_MS = 60 * 60 * 1_000;
/** Upper ends, in milliseconds: from a warm queue to the longest turn one would wait for. */
export const BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000] as const;

export interface Series {
  add(ms: number, at: number): void;
  /** Of what came within the window before `at`. */
  quantiles(at: number): Quantiles;
  totals(): Totals;
}

interface Totals {
  readonly count: number;
  readonly sumMs: number;
  /** As many as BUCKETS_MS; each holds all that took as long as its end or less. */
  readonly upTo: readonly number[];
}

export function createSeries(): Series {
  const times: number[] = [];
  const values: number[] = [];
  const inBucket = BUCKETS_MS.map(() => 0);
  let next = 0;
  let count = 0;
  let sumMs = 0;

  return {
    add(ms, at) {
      if (!Number.isFinite(ms)) return;
      times[next] = at;
      values[next] = ms;
      next = (next + 1) % MAX_SAMPLES;
      count++;
      sumMs += ms;
      const bucket = BUCKETS_MS.findIndex((end) => ms <= end);
      if (bucket >= 0) inBucket[bucket] = (inBucket[bucket] ?? 0) + 1;
    },
    quantiles(at) {
      const recent = Float64Array.from(values.filter((_, index) => at - (times[index] ?? 0) <= WINDOW_MS)).sort();
      return {
        count: recent.length,
        p50: rank(recent, 0.5),
        p95: rank(recent, 0.95),
        p99: rank(recent, 0.99),
      };
    },
    totals() {
      let sum = 0;
      return { count, sumMs, upTo: inBucket.map((own) => (sum += own)) };
    },
  };
}

/** The smallest value that is not exceeded by this share of all: always one that was really measured. */
function rank(sorted: Float64Array, share: number): number | null {
  const value = sorted[Math.ceil(sorted.length * share) - 1];
  return value === undefined ? null : Math.round(value * 10) / 10;
}
