/** The changed lines of a text with a few lines around them; what is far from a change is left out. Pure. */
import type { DiffLine } from "./diff.ts";

const AROUND = 2;

/** Each part with the number of lines that are left out before it. */
interface Hunk {
  readonly skipped: number;
  readonly lines: readonly DiffLine[];
}

export function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: { skipped: number; lines: DiffLine[] }[] = [];
  let last = -1;
  for (const [at, line] of lines.entries()) {
    if (!isNearChange(lines, at)) continue;
    const open = hunks.at(-1);
    if (open && last === at - 1) open.lines.push(line);
    else hunks.push({ skipped: at - last - 1, lines: [line] });
    last = at;
  }
  return hunks;
}

function isNearChange(lines: readonly DiffLine[], at: number): boolean {
  return lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ how }) => how !== "same");
}
