/** How long something took, of many. */
export interface Times {
  readonly count: number;
  readonly middleMs: number;
  readonly longestMs: number;
}

export function timesOf(took: readonly number[]): Times {
  const sorted = took.map(Math.round).toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    middleMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    longestMs: sorted.at(-1) ?? 0,
  };
}
