import { expect, test } from "bun:test";
import { diffLines } from "./diff.ts";
import { hunksOf } from "./hunks.ts";

const TEXT = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");

test("only changed lines are shown, with two lines around them and how many are left out", () => {
  const changed = TEXT.replace("line 5", "LINE 5").replace("line 18", "");
  const hunks = hunksOf(diffLines(TEXT, changed));
  expect(hunks.map(({ skipped, lines }) => [skipped, lines.map(({ text }) => text)])).toEqual([
    [3, ["line 3", "line 4", "line 5", "LINE 5", "line 6", "line 7"]],
    [8, ["line 16", "line 17", "line 18", "", "line 19"]],
  ]);
});

test("texts that are the same have nothing to show", () => {
  expect(hunksOf(diffLines(TEXT, TEXT))).toEqual([]);
});
