/** A line of a text around the first of some words. Pure. */
const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;

/** Null: none of the words is in it as it is written. Without words: how the text begins. */
export function snippetOf(text: string, words: readonly string[]): string | null {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const lower = line.toLowerCase();
  const places = words.map((word) => lower.indexOf(word.toLowerCase())).filter((place) => place >= 0);
  if (words.length > 0 && places.length === 0) return null;
  const first = Math.min(line.length, ...places);
  const start = words.length === 0 || first <= BEFORE_CHARS ? 0 : wordStart(line, first - BEFORE_CHARS);
  const cut = line.slice(start, start + SNIPPET_CHARS).toWellFormed();
  return `${start > 0 ? "…" : ""}${cut}${start + SNIPPET_CHARS < line.length ? "…" : ""}`;
}

function wordStart(line: string, at: number): number {
  const space = line.indexOf(" ", at);
  return space < 0 || space > at + BEFORE_CHARS ? at : space + 1;
}
