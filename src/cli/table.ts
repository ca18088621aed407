/** Lists on a terminal: a table with a head for people. Cells come from outside, so control characters in them are shown and never sent. */
import { visible } from "../observe/index.ts";
import { styled } from "./style.ts";
import type { CliWorld } from "./world.ts";

/** The head of a column, and what stands in it. */
export type Column<T> = readonly [head: string, cell: (item: T) => string];

const GAP = "  ";

/** Each column is as wide as its widest cell; the last one is not padded. A column in which nothing stands is left out. */
export function tableLines<T>(
  world: Pick<CliWorld, "isTerminal" | "environment">,
  columns: readonly Column<T>[],
  items: readonly T[],
): readonly string[] {
  const cells = columns.map(([head, cell]) => [head, ...items.map((item) => visible(cell(item)))]);
  const shown = cells.filter(([, ...rows]) => rows.some((text) => text !== ""));
  const widths = shown.map((column) => Math.max(...column.map((text) => Bun.stringWidth(text))));
  const lineAt = (row: number): string =>
    shown
      .map((column, at) => {
        const text = column[row] ?? "";
        return text + " ".repeat((widths[at] ?? 0) - Bun.stringWidth(text));
      })
      .join(GAP)
      .trimEnd();
  const [head = "", ...rows] = Array.from({ length: items.length + 1 }, (_, row) => lineAt(row));
  return items.length === 0 ? [] : [styled(world, "head", head), ...rows];
}
