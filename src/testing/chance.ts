/** Chance that can be had again: the same seed and name give the same row of numbers. Never for secrets. */
export interface Chance {
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True in this share of cases. */
  hits(share: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** A row of its own, so that one part of the world asking more often does not change what another one gets. */
  fork(name: string): Chance;
}

export function createChance(seed: number, name = ""): Chance {
  let state = Number(BigInt.asUintN(32, BigInt(Bun.hash(`${seed} ${name}`))));
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    hits: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    fork: (part) => createChance(seed, `${name}/${part}`),
  };
}
