import { expect, test } from "bun:test";
import { chosenProcessors } from "./processors.ts";

test.each<[readonly number[], number | null, readonly number[]]>([
  [[0, 1, 2, 3], null, [1, 2, 3]],
  [[4, 6, 8, 9], null, [6, 8, 9]],
  [[0, 1, 2], null, [0, 1, 2]],
  [[0, 1], null, [0, 1]],
  [[5], null, [5]],
  [[0, 1], 1, [1]],
  [[0, 1, 2, 3], 2, [2, 3]],
  [[0, 1], 2, [0, 1]],
  [[0, 1], 64, [0, 1]],
])("of the processors %j a program with the limit %j gets %j", (allowed, wanted, expected) => {
  expect(chosenProcessors(allowed, wanted)).toEqual(expected);
});
