/** What changed between two texts, line by line. Pure. */
export interface DiffLine {
  readonly how: "same" | "removed" | "added";
  readonly text: string;
}

/** Comparing every line with every other takes this many steps at most; above it, all old lines come before all new ones. */
const MAX_STEPS = 250_000;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  if (old.length * fresh.length > MAX_STEPS) return [...marked("removed", old), ...marked("added", fresh)];
  return walk(old, fresh, commonLengths(old, fresh));
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function marked(how: DiffLine["how"], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ how, text }));
}

/** How many lines the rests of both have in common, from each pair of places on. */
function commonLengths(old: readonly string[], fresh: readonly string[]): readonly (readonly number[])[] {
  const table: number[][] = Array.from({ length: old.length + 1 }, () => Array<number>(fresh.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--) {
      const row = table[i] ?? [];
      const below = table[i + 1] ?? [];
      row[j] = old[i] === fresh[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  return table;
}

function walk(
  old: readonly string[],
  fresh: readonly string[],
  common: readonly (readonly number[])[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ how: "same", text: old[i++] ?? "" });
      j++;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      lines.push({ how: "removed", text: old[i++] ?? "" });
    } else {
      lines.push({ how: "added", text: fresh[j++] ?? "" });
    }
  }
  return [...lines, ...marked("removed", old.slice(i)), ...marked("added", fresh.slice(j))];
}
