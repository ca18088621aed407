import { expect, test } from "bun:test";
import { diffLines } from "./diff.ts";

const text = (before: string, after: string) =>
  diffLines(before, after).map((line) => ({ same: " ", removed: "-", added: "+" })[line.how] + line.text);

test("a changed line is shown as removed and added, between lines that stay", () => {
  expect(text("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual([" a", "-b", "+B", " c", "+d"]);
});

test("a new text is all added, an empty one all removed, and the same text has no change", () => {
  expect(text("", "x\ny")).toEqual(["+x", "+y"]);
  expect(text("x", "")).toEqual(["-x"]);
  expect(text("x\n\ny", "x\n\ny")).toEqual([" x", " ", " y"]);
});

test("texts too long to compare are shown whole, old before new", () => {
  const long = (letter: string) => Array.from({ length: 600 }, (_, at) => `${letter}${at}`).join("\n");
  const lines = text(long("a"), long("b"));
  expect([lines.length, lines[0], lines[600]]).toEqual([1_200, "-a0", "+b0"]);
});
