/** Compares what a page says that commands print with what they printed. Pure. */

const ANYTHING = "…";

/** The first line of the documented output that is not there; null: all of it is. `…` stands for any text, on a line of its own for any lines. */
export function missingLine(documented: string, printed: string): string | null {
  const lines = documented
    .trim()
    .split("\n")
    .map((line) => line.trimEnd());
  const text = `${printed
    .trim()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
  if (patternOf(lines, "$").test(text)) return null;
  const at = lines.findIndex((_, index) => !patternOf(lines.slice(0, index + 1), "").test(text));
  return at === -1 ? "there is more than the page says" : (lines[at] ?? "");
}

function patternOf(lines: readonly string[], end: string): RegExp {
  const parts = lines.map((line) => {
    if (line === ANYTHING) return "(?:[^\\n]*\\n)*?";
    return `${line.split(ANYTHING).map(RegExp.escape).join("[^\\n]*")}\\n`;
  });
  return new RegExp(`^${parts.join("")}${end}`);
}
