/** Markdown → styled text: blocks line by line, what is inside them by inline.ts. Everything readable is kept, whatever the source looks like. */
import { parseInline } from "./inline.ts";
import { type Run, type Style, textOf } from "./runs.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*$/;
const QUOTE = /^ {0,3}>[ \t]?(.*)$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^([ \t]*)[-*+][ \t]+(\S.*)$/;
const NUMBERED = /^([ \t]*\d{1,9}[.)][ \t]+)(\S.*)$/;
const TASK = /^\[([ xX])\][ \t]+/;
const TABLE_RULE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,32}$/;
const RULE_TEXT = "———";

interface Block {
  readonly runs: readonly Run[];
  /** The first line that is not part of it. */
  readonly next: number;
}

export function renderMarkdown(source: string): readonly Run[] {
  const lines = source.replaceAll(/\r\n?/g, "\n").split("\n");
  const runs: Run[] = [];
  for (let at = 0; at < lines.length;) {
    const block = blockAt(lines, at);
    if (at > 0) runs.push({ text: "\n", styles: [] });
    runs.push(...block.runs);
    at = block.next;
  }
  return textOf(runs).trim() === "" ? [{ text: source, styles: [] }] : runs;
}

function blockAt(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? "";
  return (
    fence(lines, at) ??
    table(lines, at) ??
    quotation(lines, at) ??
    (RULE.test(line) ? { runs: [{ text: RULE_TEXT, styles: [] }], next: at + 1 } : null) ??
    heading(line, at) ??
    item(line, at) ??
    paragraph(lines, at)
  );
}

function fence(lines: readonly string[], at: number): Block | null {
  const opened = FENCE.exec(lines[at] ?? "");
  if (!opened) return null;
  const [, ticks = "", info = ""] = opened;
  const closing = new RegExp(`^ {0,3}${ticks[0]}{${ticks.length},}[ \t]*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end] ?? "")) end++;
  const text = lines.slice(at + 1, end).join("\n");
  const word = info.trim().split(/\s/)[0] ?? "";
  const style: Style = { type: "pre", ...(LANGUAGE.test(word) ? { language: word } : {}) };
  const said = text.trim() === "" ? info : text; // an answer may end right after the fence: show what is there
  return { runs: [{ text: said, styles: text.trim() === "" ? [] : [style] }], next: end + 1 };
}

/** Shown as it is, in letters of equal width. */
function table(lines: readonly string[], at: number): Block | null {
  const rule = lines[at + 1] ?? "";
  if (!(lines[at] ?? "").includes("|") || !rule.includes("|") || !TABLE_RULE.test(rule)) return null;
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end++;
  return { runs: [{ text: lines.slice(at, end).join("\n"), styles: [{ type: "pre" }] }], next: end };
}

function quotation(lines: readonly string[], at: number): Block | null {
  const said: string[] = [];
  let end = at;
  for (let quoted = QUOTE.exec(lines[end] ?? ""); quoted; quoted = QUOTE.exec(lines[++end] ?? "")) {
    let text = quoted[1] ?? "";
    for (let deeper = QUOTE.exec(text); deeper; deeper = QUOTE.exec(text)) text = deeper[1] ?? "";
    said.push(text);
  }
  if (said.length === 0) return null;
  return { runs: parseInline(said.join("\n"), [{ type: "blockquote" }]), next: end };
}

function heading(line: string, at: number): Block | null {
  const title = HEADING.exec(line)?.[1];
  return title === undefined ? null : { runs: parseInline(title, [{ type: "bold" }]), next: at + 1 };
}

function item(line: string, at: number): Block | null {
  const [, number, rest] = NUMBERED.exec(line) ?? [];
  if (number !== undefined && rest !== undefined)
    return { runs: [{ text: number, styles: [] }, ...parseInline(rest, [])], next: at + 1 };
  const [, indent, said] = ITEM.exec(line) ?? [];
  if (indent === undefined || said === undefined) return null;
  const done = TASK.exec(said)?.[1];
  const bullet = done === undefined ? "• " : done === " " ? "☐ " : "☑ ";
  return { runs: [{ text: indent + bullet, styles: [] }, ...parseInline(said.replace(TASK, ""), [])], next: at + 1 };
}

/** Lines that belong together, so that what begins in one may end in the next. */
function paragraph(lines: readonly string[], at: number): Block {
  let end = at + 1;
  while (end < lines.length && (lines[at] ?? "").trim() !== "" && isPlain(lines, end)) end++;
  return { runs: parseInline(lines.slice(at, end).join("\n"), []), next: end };
}

function isPlain(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.trim() === "" || (line.includes("|") && table(lines, at))) return false;
  return ![FENCE, QUOTE, RULE, HEADING, ITEM, NUMBERED].some((start) => start.test(line));
}
