import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { createFairLimit, hasRoom } from "./fair-limit.ts";

test.each([
  [0, 0, true],
  [74, 74, true],
  [75, 75, false],
  [75, 10, false],
  [75, 9, true],
  [99, 0, true],
  [100, 0, false],
])("with %d of 100 taken, %d of them by whoever asks, one more gets in: %p", (all, mine, expected) => {
  expect(hasRoom({ all, mine }, 100)).toBe(expected);
});

test("a program that takes all it gets leaves some for others, and gets one again when it gives one back", () => {
  const take = createFairLimit(20);
  const [greedy, modest] = ["key:user:a", "key:user:b"] as Principal[] as [Principal, Principal];
  const held: Disposable[] = [];
  for (let next = take(greedy); next !== null; next = take(greedy)) held.push(next);
  expect(held).toHaveLength(15);
  const others = [take(modest), take(modest), take(modest)];
  expect(others.map((one) => one !== null)).toEqual([true, true, false]);
  for (const one of [...others, ...held.slice(0, 3)]) one?.[Symbol.dispose]();
  held[0]?.[Symbol.dispose](); // again: it counts once
  expect([take(greedy), take(greedy), take(greedy), take(greedy)].map((one) => one !== null)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
