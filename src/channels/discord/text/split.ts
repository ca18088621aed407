/**
 * Cuts a text into pieces a platform takes: at paragraphs if it can, then lines, sentences, words, and only then anywhere, but never inside
 * a character as people see it. A code block that has to be cut is closed and opened again, so that each piece is right on its own.
 */
import { wholeCharacters } from "../../kit/index.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
/** Below this share of a piece a better place to cut is not worth the room it wastes. */
const MIN_FILL = 0.35;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*\s/g;
/** Longer info lines are not repeated when a block is opened again. */
const MAX_INFO_CHARS = 40;

interface OpenFence {
  readonly mark: string;
  readonly info: string;
}

export function splitText(text: string, maxChars: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  let fence: OpenFence | null = null;
  while (rest !== "") {
    const head: string = fence ? `${fence.mark}${fence.info}\n` : "";
    const whole: string = head + rest;
    if (whole.length <= maxChars) {
      push(pieces, whole);
      break;
    }
    const cut = cutOf(rest, head, maxChars, fence);
    const body = rest.slice(0, cut);
    const open = fenceAfter(body, fence);
    push(pieces, open ? `${head}${body.replace(/\n$/, "")}\n${open.mark}` : head + body);
    const next = rest.slice(cut);
    const end = open ? closingLine(next, open) : null;
    rest =
      open && end === null
        ? next
        : next
            .slice(end?.length ?? 0)
            .replace(/^\s*\n/, "")
            .replace(/^ +(?=\S)/, "");
    fence = end === null ? open : null;
  }
  return pieces;
}

/** The line that ends the block, where it is all that is left of it: the piece before has closed it already. */
function closingLine(rest: string, { mark }: OpenFence): string | null {
  const [line = ""] = rest.split("\n", 1);
  const [, found, info = ""] = FENCE.exec(line) ?? [];
  return found !== undefined && closes(mark, found, info) ? line : null;
}

function push(pieces: string[], piece: string): void {
  const trimmed = piece.replace(/\s+$/, "").replace(/^\n+/, "");
  if (trimmed.trim() !== "" && !isEmptyBlock(trimmed)) pieces.push(trimmed);
}

/** A block that was opened again and closed at once has nothing to show. */
function isEmptyBlock(piece: string): boolean {
  const [first = "", second, ...more] = piece.split("\n");
  const opened = FENCE.exec(first);
  return opened !== null && second !== undefined && more.length === 0 && second.trim() === opened[1];
}

/** How much of `rest` the next piece takes; at least one character. */
function cutOf(rest: string, head: string, maxChars: number, fence: OpenFence | null): number {
  let room = maxChars - head.length;
  for (;;) {
    const cut = bestCut(rest, room);
    const open = fenceAfter(rest.slice(0, cut), fence);
    const tail = open ? open.mark.length + 1 : 0;
    const used = head.length + (open ? rest.slice(0, cut).replace(/\n$/, "").length : cut) + tail;
    if (used <= maxChars || room <= 1) return Math.max(cut, 1);
    room = Math.min(room, cut) - (used - maxChars);
  }
}

function bestCut(rest: string, room: number): number {
  if (rest.length <= room) return rest.length;
  const least = Math.floor(room * MIN_FILL);
  const window = rest.slice(0, Math.max(room, 1));
  const inBlock = blockStarts(window);
  // a cut right before a block that began late keeps the block whole
  if (inBlock !== null && inBlock > least) return inBlock;
  const paragraph = inBlock === null ? window.lastIndexOf("\n\n") : -1;
  if (paragraph > least) return paragraph + 2;
  const line = window.lastIndexOf("\n");
  if (line > least) return line + 1;
  const sentence = inBlock === null ? lastSentence(window) : -1;
  if (sentence > least) return sentence;
  const space = Math.max(window.lastIndexOf(" "), window.lastIndexOf("\t"));
  if (space > least) return space + 1;
  return wholeCharacters(rest, 0, Math.max(room, 1));
}

/** Where the block begins that is open at the end of the window; null when none is. */
function blockStarts(window: string): number | null {
  let at = 0;
  let open: { readonly mark: string; readonly at: number } | null = null;
  for (const line of window.split("\n")) {
    const found = FENCE.exec(line);
    if (found) {
      const mark = found[1] ?? "";
      if (!open) open = { mark, at };
      else if (closes(open.mark, mark, found[2] ?? "")) open = null;
    }
    at += line.length + 1;
  }
  return open?.at ?? null;
}

function lastSentence(window: string): number {
  let last = -1;
  for (const match of window.matchAll(SENTENCE_END)) last = match.index + match[0].length;
  return last;
}

/** Which block is open after this text, when `before` was open at its beginning. */
function fenceAfter(text: string, before: OpenFence | null): OpenFence | null {
  let open = before;
  for (const line of text.split("\n")) {
    const found = FENCE.exec(line);
    if (!found) continue;
    const [, mark = "", info = ""] = found;
    if (!open) open = { mark, info: info.length <= MAX_INFO_CHARS ? info.trimEnd() : "" };
    else if (closes(open.mark, mark, info)) open = null;
  }
  return open;
}

function closes(open: string, mark: string, info: string): boolean {
  return info.trim() === "" && mark[0] === open[0] && mark.length >= open.length;
}
