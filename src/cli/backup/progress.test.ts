import { expect, test } from "bun:test";
import { progressText, sizeText } from "./progress.ts";

test("progress is shown as a bar, a share and the whole, and never as more than all", () => {
  expect(progressText("Packing", 0, 1_200_000_000)).toBe("Packing [------------------------] 0 % of 1.2 GB");
  expect(progressText("Packing", 300_000_000, 1_200_000_000)).toBe("Packing [######------------------] 25 % of 1.2 GB");
  expect(progressText("Packing", 9, 3)).toBe("Packing [########################] 100 % of 3 bytes");
  expect(progressText("Packing", 0, 0)).toBe("Packing [########################] 100 % of 0 bytes");
});

test("sizes are told in the unit that a person would use", () => {
  expect([999, 1_000, 20_500, 3_531_898, 5e12].map(sizeText)).toEqual([
    "999 bytes",
    "1.0 kB",
    "21 kB",
    "3.5 MB",
    "5.0 TB",
  ]);
});
