/** Pages of rows that were read with one more than the limit. */
import { expect, test } from "bun:test";
import { NEWEST, numberBefore, pageOf } from "./paging.ts";

const rows = [{ seq: 9 }, { seq: 8 }, { seq: 7 }];
const page = (limit: number) =>
  pageOf(
    rows,
    limit,
    ({ seq }) => `row ${seq}`,
    ({ seq }) => [seq],
  );

test("a page with a row too many shows the others, and its cursor goes on after the last one shown", () => {
  const { items, next } = page(2);
  expect(items).toEqual(["row 9", "row 8"]);
  expect(numberBefore({ limit: 2, cursor: next ?? "" })).toBe(8);
});

test("a page that shows all rows has no cursor, and the first page begins with the newest row", () => {
  expect(page(3)).toEqual({ items: ["row 9", "row 8", "row 7"] });
  expect(numberBefore({ limit: 3 })).toBe(NEWEST);
});
