/**
 * Markdown that is still being written, made readable for a preview: what may become something else with the next word waits, and what is open
 * is closed. So a preview only ever grows; no stars, brackets or half tables come and go. Pure.
 */
const FENCE = /^ {0,3}(?:> ?)*(`{3,}|~{3,})([^\n]*)$/;
/** A line of signs alone, or a number: it may become an item, a heading, a rule, a fence. */
const SIGNS = /^[ \t>]*(?:[-=*_+#`~|:!]+|\d{1,9}[.)]?|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]?\]?)?)?[ \t]*$/;
const TABLE_LINE = /^[ \t>]*\|/;
/** A link, an address, an entity, an escape or a character of which the end is missing. */
const HALF =
  /(?:!?\[[^[\]\n]{0,300}(?:\](?:\([^()\s]*(?:\([^()\s]*\)?[^()\s]*)?|\[[^[\]\n]{0,100})?)?|<https?:[^\s<>]*|<h?t{0,2}p?s?|&#?\w{0,20}|\\|[\ud800-\udbff])$/;
const BLOCK_START = /^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]/;
const MARKS = ["**", "__", "~~", "||", "*", "_"] as const;

export function readable(text: string): string {
  const lines = text.split("\n");
  const fence = openFence(lines);
  if (fence !== null) return withoutFenceStart(lines, fence);
  if (openFence(lines.slice(0, -1)) !== null) return text; // the last line has ended the code
  dropSigns(lines);
  const table = lines.length - trailing(lines, (line) => TABLE_LINE.test(line));
  const isTable = lines.length - table > 2;
  if (!isTable) lines.length = table;
  const kept = lines.join("\n").replace(HALF, "");
  if (isTable) return kept;
  const whole = closed(kept).split("\n");
  dropSigns(whole);
  return whole.join("\n");
}

/** No code is open here, so a fence at the end is the end of code, and stays. */
function dropSigns(lines: string[]): void {
  for (let last = lines.at(-1); last !== undefined; last = lines.at(-1)) {
    if (!SIGNS.test(last) || FENCE.test(last)) return;
    lines.pop();
  }
}

/** The line on which code begins that nobody has ended; null: there is none. */
function openFence(lines: readonly string[]): number | null {
  let open: { readonly mark: string; readonly at: number } | null = null;
  for (const [at, line] of lines.entries()) {
    const [, mark, info = ""] = FENCE.exec(line) ?? [];
    if (mark === undefined) continue;
    if (open === null) open = { mark, at };
    else if (mark.startsWith(open.mark) && info.trim() === "") open = null;
  }
  return open?.at ?? null;
}

/** The first and the last line of code are read when they are whole. */
function withoutFenceStart(lines: readonly string[], at: number): string {
  const isHalf = /^[ \t>]*(?:`+|~+)?$/.test(lines.at(-1) ?? "");
  const kept = isHalf ? lines.slice(0, -1) : lines;
  return kept.slice(0, kept.length - 1 > at ? undefined : at).join("\n");
}

function trailing(lines: readonly string[], fits: (line: string) => boolean): number {
  const at = lines.findLastIndex((line) => !fits(line));
  return lines.length - 1 - at;
}

/** Closes what is open in the last paragraph or item. Signs at the very end wait. */
function closed(text: string): string {
  const from = lastBlock(text);
  const { open, end } = openMarks(text.slice(from));
  const kept = text.slice(0, from + end).trimEnd();
  const gap = kept.endsWith("`") && open.at(-1)?.startsWith("`") ? " " : ""; // or its ticks would count as more
  return kept.length <= from ? kept : kept + gap + open.toReversed().join("");
}

function lastBlock(text: string): number {
  let from = text.lastIndexOf("\n\n") + 1;
  for (let at = from; at < text.length;) {
    const end = text.indexOf("\n", at);
    if (BLOCK_START.test(text.slice(at, end < 0 ? undefined : end))) from = at;
    if (end < 0) break;
    at = end + 1;
  }
  return from;
}

interface OpenMarks {
  readonly open: readonly string[];
  /** Where the signs begin that stand at the very end and close nothing. */
  readonly end: number;
}

function openMarks(text: string): OpenMarks {
  const open: string[] = [];
  const start = BLOCK_START.exec(text)?.[0].length ?? 0;
  for (let at = start; at < text.length;) {
    if (text[at] === "\\") {
      at += 2;
      continue;
    }
    const ticks = /^`+/.exec(text.slice(at))?.[0];
    if (ticks !== undefined) {
      const close = closingTicks(text, at + ticks.length, ticks);
      if (close < 0 && text.slice(at + ticks.length).trim() === "") return { open, end: at };
      if (close < 0) return { open: [...open, ticks], end: text.replace(/[`\s]+$/, "").length }; // the last ones begin to close
      at = close;
      continue;
    }
    const mark = MARKS.find((one) => text.startsWith(one, at));
    if (mark === undefined && at === text.length - 1 && "~|".includes(text[at] ?? "")) return { open, end: at };
    if (mark === undefined) at++;
    else if (takes(open, text, at, mark)) at += mark.length;
    else return { open, end: at };
  }
  return { open, end: text.length };
}

function closingTicks(text: string, from: number, ticks: string): number {
  for (const found of text.slice(from).matchAll(/`+/g))
    if (found[0] === ticks) return from + found.index + ticks.length;
  return -1;
}

/** False: the signs stand at the very end and close nothing. */
function takes(open: string[], text: string, at: number, mark: string): boolean {
  const [before = " ", after] = [text[at - 1], text[at + mark.length]];
  const isOpen = open.lastIndexOf(mark);
  if (isOpen >= 0 && !/\s/.test(before)) {
    open.length = isOpen;
    return true;
  }
  if (after === undefined) return false;
  const insideWord = mark.startsWith("_") && /[\p{L}\p{N}]/u.test(before);
  if (!/\s/.test(after) && !insideWord && isOpen < 0) open.push(mark);
  return true;
}
