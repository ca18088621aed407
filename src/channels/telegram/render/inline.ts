/** Markdown inside a line or paragraph: code, links, bold, italic, struck out, spoilers. What does not close stays as it was written. */
import type { Run, Style, StyleType } from "./runs.ts";

const MAX_DEPTH = 6;
/** Closers that turn out not to be any are skipped this often, so that a wall of stars costs little. */
const MAX_CANDIDATES = 24;
const MAX_URL_CHARS = 2_048;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}_]/u;
const SAFE_URL = /^(?:https?:\/\/|tg:\/\/|mailto:|tel:)[^\s<>"]+$/i;

const MARKERS: readonly { readonly mark: string; readonly type: StyleType; readonly wordEdges: boolean }[] = [
  { mark: "**", type: "bold", wordEdges: false },
  { mark: "__", type: "bold", wordEdges: true },
  { mark: "~~", type: "strikethrough", wordEdges: false },
  { mark: "||", type: "spoiler", wordEdges: false },
  { mark: "*", type: "italic", wordEdges: false },
  { mark: "_", type: "italic", wordEdges: true },
];

interface Found {
  readonly runs: readonly Run[];
  readonly end: number;
}

export function parseInline(source: string, styles: readonly Style[], depth = 0): readonly Run[] {
  const runs: Run[] = [];
  const missing = new Set<string>(); // closers that do not occur any more
  let plain = "";
  let at = 0;
  const flush = (): void => {
    if (plain !== "") runs.push({ text: plain, styles });
    plain = "";
  };
  while (at < source.length) {
    const char = source[at] ?? "";
    if (char === "\\" && PUNCTUATION.test(source[at + 1] ?? "")) {
      plain += source[at + 1];
      at += 2;
      continue;
    }
    const found = depth < MAX_DEPTH ? construct(source, at, { styles, depth, missing }) : null;
    if (!found) {
      plain += char;
      at++;
      continue;
    }
    flush();
    runs.push(...found.runs);
    at = found.end;
  }
  flush();
  return runs;
}

interface Inside {
  readonly styles: readonly Style[];
  readonly depth: number;
  readonly missing: Set<string>;
}

function construct(source: string, at: number, inside: Inside): Found | null {
  const char = source[at];
  if (char === "`") return codeSpan(source, at, inside);
  if (char === "[" || (char === "!" && source[at + 1] === "[")) return link(source, at, inside);
  for (const marker of MARKERS) {
    if (!source.startsWith(marker.mark, at)) continue;
    const found = emphasis(source, at, marker, inside);
    if (found) return found;
  }
  return null;
}

function codeSpan(source: string, at: number, { styles, missing }: Inside): Found | null {
  const ticks = /^`+/.exec(source.slice(at, at + MAX_CANDIDATES))?.[0] ?? "`";
  if (missing.has(ticks)) return null;
  for (let end = source.indexOf(ticks, at + ticks.length); end >= 0; end = source.indexOf(ticks, end + 1)) {
    if (source[end + ticks.length] === "`" || source[end - 1] === "`") continue;
    const code = source.slice(at + ticks.length, end);
    if (code.trim() === "") return null;
    return { runs: [{ text: unpad(code), styles: [...styles, { type: "code" }] }], end: end + ticks.length };
  }
  missing.add(ticks);
  return null;
}

/** One space on both sides belongs to the ticks. */
function unpad(code: string): string {
  return code.startsWith(" ") && code.endsWith(" ") ? code.slice(1, -1) : code;
}

function link(source: string, at: number, { styles, depth, missing }: Inside): Found | null {
  if (missing.has("](")) return null;
  const open = source[at] === "!" ? at + 2 : at + 1;
  const middle = source.indexOf("](", open);
  if (middle < 0) {
    missing.add("](");
    return null;
  }
  const label = source.slice(open, middle);
  if (label.trim() === "" || label.includes("[") || label.includes("\n\n")) return null;
  const close = closingParen(source, middle + 2);
  if (close < 0) return null;
  const url = (
    source
      .slice(middle + 2, close)
      .trim()
      .split(/\s/)[0] ?? ""
  ).replace(/^<|>$/g, "");
  if (!SAFE_URL.test(url) || !URL.canParse(url)) return null; // better to read an odd address than to press it
  const style: Style = { type: "text_link", url };
  return { runs: parseInline(label, [...styles, style], depth + 1), end: close + 1 };
}

function closingParen(source: string, from: number): number {
  let depth = 0;
  const until = Math.min(source.length, from + MAX_URL_CHARS);
  for (let at = from; at < until; at++) {
    const char = source[at];
    if (char === "\n") return -1;
    if (char === "(") depth++;
    if (char === ")" && depth-- === 0) return at;
  }
  return -1;
}

function emphasis(
  source: string,
  at: number,
  { mark, type, wordEdges }: (typeof MARKERS)[number],
  { styles, depth, missing }: Inside,
): Found | null {
  if (missing.has(mark) || styles.some((style) => style.type === type)) return null;
  const from = at + mark.length;
  if (isSpace(source[from]) || (wordEdges && WORD.test(source[at - 1] ?? ""))) return null;
  const end = closer(source, from, mark, wordEdges);
  if (end === -1) missing.add(mark);
  if (end < 0) return null;
  const inner = source.slice(from, end);
  if (inner.includes("\n\n")) return null;
  return { runs: parseInline(inner, [...styles, { type }], depth + 1), end: end + mark.length };
}

/** -1: it does not occur any more. -2: what occurs does not close this one. */
function closer(source: string, from: number, mark: string, wordEdges: boolean): number {
  const char = mark[0] ?? "";
  let end = source.indexOf(mark, from);
  if (end < 0) return -1;
  for (let tries = 0; end >= 0 && tries < MAX_CANDIDATES; tries++) {
    if (mark.length === 2) while (source[end + 2] === char) end++; // in *** the last two close the outer one
    const single = mark.length === 2 || (source[end - 1] !== char && source[end + 1] !== char);
    const edge = !wordEdges || !WORD.test(source[end + mark.length] ?? "");
    if (end > from && single && edge && !isSpace(source[end - 1]) && source[end - 1] !== "\\") return end;
    end = source.indexOf(mark, end + mark.length);
  }
  return -2;
}

function isSpace(char: string | undefined): boolean {
  return char === undefined || /\s/.test(char);
}
