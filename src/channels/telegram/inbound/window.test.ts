/** Numbers of updates: each is taken once, the offset waits for the slowest, and numbers that begin anew are new. */
import { expect, test } from "bun:test";
import { createUpdateWindow } from "./window.ts";

test("the offset waits for the slowest update, and passes all that are stored behind it", () => {
  const window = createUpdateWindow(null);
  expect([7, 8, 9].map((id) => window.begin(id))).toEqual([true, true, true]);
  for (const id of [8, 9]) window.settle(id);
  expect([window.offset(), window.open, window.begin(8), window.begin(7)]).toEqual([7, 1, false, false]);
  window.settle(7);
  expect([window.offset(), window.begin(7), window.begin(10)]).toEqual([10, false, true]);
});

test("an update up to a thousand numbers back is one that was taken, and further back the numbers have begun anew", () => {
  const window = createUpdateWindow(5_000);
  expect([window.begin(4_999), window.begin(4_000), window.begin(3_999)]).toEqual([false, false, true]);
});

test("numbers that begin anew are all new, also those that were stored before", () => {
  const window = createUpdateWindow(null);
  for (const id of [5_000, 5_001]) window.begin(id);
  window.settle(5_001);
  expect(window.begin(5_001)).toBe(false);
  expect([window.begin(10), window.begin(5_001)]).toEqual([true, true]);
});

test("the offset follows numbers that begin anew, and those that come in another order", () => {
  const anew = createUpdateWindow(5_000);
  anew.begin(10);
  anew.settle(10);
  const mixed = createUpdateWindow(8);
  for (const id of [9, 8]) mixed.begin(id);
  for (const id of [8, 9]) mixed.settle(id);
  expect([anew.offset(), mixed.offset()]).toEqual([11, 10]);
});
