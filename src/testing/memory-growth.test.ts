/** The leak counters themselves: a leak is noticed, and work without one is not blamed. */
import { expect, test } from "bun:test";
import { keptPerRound } from "./memory-growth.ts";
import { watchedAbort } from "./watched-signal.ts";

test("growth: work that keeps nothing is not blamed", async () => {
  expect(await keptPerRound(async (round) => void (await Promise.resolve({ round })))).toEqual({});
});

type Kept = readonly [work: (round: number) => void, size: () => number];

const KEEPERS: Readonly<Record<string, () => Kept>> = {
  Promise() {
    const kept = new Set<Promise<number>>();
    return [(round) => void kept.add(Promise.resolve(round)), () => kept.size];
  },
  string() {
    const kept = new Map<string, number>();
    return [(round) => void kept.set(`chat ${round}`, round), () => kept.size];
  },
};

test.each(Object.entries(KEEPERS))(
  "growth: a collection that keeps one %s for each round is noticed",
  async (kind, make) => {
    const [work, size] = make();
    expect(Object.keys(await keptPerRound(work))).toContain(kind);
    expect(size()).toBeGreaterThan(0); // keeps the collection alive until here
  },
);

test("a watched signal counts the listeners that are not removed, and none after the abort", () => {
  const { signal, abort, listeners } = watchedAbort();
  const [one, two] = [() => undefined, () => undefined];
  for (const listener of [one, two]) signal.addEventListener("abort", listener, { once: true });
  signal.removeEventListener("abort", one);
  expect(listeners()).toBe(1);
  abort();
  expect(listeners()).toBe(0);
});
