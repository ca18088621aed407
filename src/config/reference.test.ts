/** The reference as it is stored: what owners read there about a setting is what the schema says. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderConfigReference } from "./reference.ts";

const STORED = readFileSync(join(import.meta.dir, "..", "..", "docs/reference/config.md"), "utf8");

/** By key; tables are aligned when they are stored, so that cells are compared without the spaces around them. */
function rowsIn(page: string): ReadonlyMap<string, readonly string[]> {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  return new Map(cells.map(([, key = "", ...rest]) => [key, rest]));
}

test("each setting takes what its row in the reference says, with that default and those limits", () => {
  const [stored, made] = [rowsIn(STORED), rowsIn(renderConfigReference())];
  expect(made.size).toBeGreaterThan(300);
  expect(Object.fromEntries(made)).toEqual(Object.fromEntries(stored));
});

test("each section has its sentences in the reference, and says whether unknown keys are refused", () => {
  const sentences = (page: string) => page.split("\n").filter((line) => line !== "" && !line.startsWith("|"));
  expect(sentences(renderConfigReference())).toEqual(sentences(STORED));
});
