import { expect, test } from "bun:test";
import { countTick, usdTick } from "./usage-text.ts";

test("values of an axis have as many digits as they need", () => {
  expect([0, 0.025, 0.1, 0.25, 12.5, 20, 2_000].map(usdTick)).toEqual([
    "$0",
    "$0.025",
    "$0.10",
    "$0.25",
    "$12.50",
    "$20",
    "$2,000",
  ]);
  expect([0, 0.5, 3, 1_500, 2_000_000].map(countTick)).toEqual(["0", "", "3", "1.5K", "2M"]);
});
