/** Quantiles of measured milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly samples: number;
}

export function spread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((one, other) => one - other);
  return {
    p50: round(at(sorted, 0.5)),
    p95: round(at(sorted, 0.95)),
    p99: round(at(sorted, 0.99)),
    samples: sorted.length,
  };
}

export function median(samples: readonly number[]): number {
  return round(
    at(
      samples.toSorted((one, other) => one - other),
      0.5,
    ),
  );
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function at(sorted: readonly number[], quantile: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? Number.NaN;
}

export async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}
