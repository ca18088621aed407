/**
 * Compares two ways of doing the same thing on a machine that others use as well. A round is one, other, other, one: what gets slower or faster
 * in its course meets both, and neither is always the first. What counts is the difference within a round; how far two of the same kind are
 * apart in it says how small a difference can be believed.
 */
import { median, round } from "./stats.ts";

export type Kind = "one" | "other";

export interface Round {
  readonly one: readonly [number, number];
  readonly other: readonly [number, number];
}

export interface Compared {
  readonly one: number;
  readonly other: number;
  /** Median over the rounds of what the other takes more. */
  readonly added: number;
  /** Half of the rounds said something between these. */
  readonly between: readonly [number, number];
  /** Median of how far two of the same kind are apart within a round. */
  readonly noise: number;
}

/** `measure` may give several figures at once; every kind is tried once before it counts. */
export async function inRounds<T>(count: number, measure: (kind: Kind) => Promise<T>) {
  await measure("one");
  await measure("other");
  const rounds: { readonly one: readonly [T, T]; readonly other: readonly [T, T] }[] = [];
  for (let n = 0; n < count; n++) {
    const first = await measure("one");
    const other = [await measure("other"), await measure("other")] as const;
    rounds.push({ one: [first, await measure("one")], other });
  }
  return rounds;
}

export function compared(rounds: readonly Round[]): Compared {
  const differences = rounds.map(({ one, other }) => mean(other) - mean(one)).toSorted((a, b) => a - b);
  const quarter = Math.floor(differences.length / 4);
  return {
    one: median(rounds.flatMap(({ one }) => one)),
    other: median(rounds.flatMap(({ other }) => other)),
    added: median(differences),
    between: [
      round(differences[quarter] ?? Number.NaN),
      round(differences[differences.length - 1 - quarter] ?? Number.NaN),
    ],
    noise: median(rounds.flatMap(({ one, other }) => [apart(one), apart(other)])),
  };
}

const mean = ([a, b]: readonly [number, number]): number => (a + b) / 2;
const apart = ([a, b]: readonly [number, number]): number => Math.abs(a - b);
