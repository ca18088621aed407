import { expect, test } from "bun:test";
import { plainLine } from "./plain-line.ts";

test("a line of a list has the words of Markdown without its marks", () => {
  const cases = [
    ["It is on your list: **Water the ficus**.", "It is on your list: Water the ficus."],
    ["# Garden\n\n- `npm test` says so", "Garden - npm test says so"],
    ["It compares: ```ts export function thirsty() {", "It compares: export function thirsty() {"],
    ["Two: | Plant | Where | | ----- | :---: | | Ficus | hall |", "Two: Plant Where Ficus hall"],
    ["snake_case, 2 * 3, issue #7 and a|b stay", "snake_case, 2 * 3, issue #7 and a|b stay"],
    ["مرحبا **عالم**", "مرحبا عالم"],
    ["", ""],
  ] as const;
  for (const [text, shown] of cases) expect(plainLine(text)).toBe(shown);
});
