/** Which rows make a page of the timeline. */
import { expect, test } from "bun:test";
import { before, mergeWalks, type Position, type Walk } from "./merge.ts";

const at = (moment: number, rank = 0, seq = moment): Position => ({ at: moment, rank, seq });
const walk = (rank: number, moments: readonly number[], reached: number | null): Walk<number> => ({
  rows: moments.map((moment) => ({ ...at(moment, rank), value: moment })),
  reached: reached === null ? null : at(reached, rank),
});

test("walks that have ended are one list, newest first", () => {
  expect(mergeWalks([walk(0, [9, 5], null), walk(1, [7], null)], 5)).toEqual({
    values: [9, 7, 5],
    next: null,
    isShort: false,
  });
});

test("a full page ends at its last row", () => {
  const { values, next, isShort } = mergeWalks([walk(0, [9, 5], null), walk(1, [7], null)], 2);
  expect([values, next, isShort]).toEqual([[9, 7], { ...at(7, 1), value: 7 } as Position, false]);
});

test("rows before the place that another walk has reached are left for the next page", () => {
  const merged = mergeWalks([walk(0, [9, 2], null), walk(1, [], 6)], 5);
  expect(merged).toEqual({ values: [9], next: at(6, 1), isShort: true });
});

test("the next page of a table begins behind the position, also where another table has a row of the same moment", () => {
  expect(before(at(5, 1, 3), 1)).toEqual({ at: 5, seq: 3 });
  expect(before(at(5, 1, 3), 0)).toEqual({ at: 5, seq: Number.MAX_SAFE_INTEGER });
  expect(before(at(5, 1, 3), 2)).toEqual({ at: 5, seq: -1 });
});
