import { expect, test } from "bun:test";
import { withNewest, type Paged } from "./paged.ts";

const list = (items: readonly string[], next: string | null): Paged<string> => ({ phase: "ready", items, next });
const same = (item: string) => item;

test("a list whose newest page is read again keeps the older pages, as long as the two meet", () => {
  expect(withNewest(list(["c", "b", "a"], "more"), { items: ["d", "c"], next: "x" }, same)).toEqual(
    list(["d", "c", "b", "a"], "more"),
  );
  expect(withNewest(list(["b", "a"], null), { items: ["c", "b", "a"] }, same)).toEqual(list(["c", "b", "a"], null));
});

test("a list that has moved on by more than a page begins anew", () => {
  expect(withNewest(list(["b", "a"], null), { items: ["z", "y"], next: "x" }, same)).toEqual(list(["z", "y"], "x"));
  expect(withNewest(list(["a"], null), { items: [] }, same)).toEqual(list([], null));
});
