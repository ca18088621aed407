/**
 * Splits code into tokens, so that code can be compared without its layout: white space, line breaks, comments, trailing commas and the
 * kind of quotes do not count. Works on a piece of code as well, as long as it begins and ends between two tokens.
 */
import { endOfQuoted, endOfRegex, startsRegex } from "../../test/house-source.ts";

export interface Token {
  /** What is compared. Strings have double quotes here, whatever their quotes in the text. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*|\d[\w.]*/uy;
/** `>>` is not among them: it also closes two lists of types. */
const OPERATOR =
  /\.\.\.|===|!==|\*\*=|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|\*\*|[-+*/%&|^]=|./suy;
const REGEX_FLAGS = /[a-z]*/y;
const LOOK_BACK_CHARS = 60;
const CLOSERS = new Set([")", "]", "}"]);

/** The tokens of the text, trailing commas left out. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const braces: ("block" | "template")[] = [];
  let before = ""; // the code before, to tell a regular expression from a division
  let at = 0;
  const push = (end: number, value = text.slice(at, end)): void => {
    if (CLOSERS.has(value) && tokens.at(-1)?.value === ",") tokens.pop();
    tokens.push({ value, start: at, end });
    before = `${before.slice(-LOOK_BACK_CHARS)}${value} `;
    at = end;
  };
  const plain = (limit = text.length): void => {
    const word = endAfter(WORD, text, at);
    push(Math.min(limit, word > at ? word : endAfter(OPERATOR, text, at)));
  };
  /** The text of a template from here to its end, or to the next `${`: in words, because it is SQL where bugs are put into it. */
  const template = (): void => {
    const end = endOfTemplateText(text, at);
    while (at < end) {
      if (/\s/.test(text[at] ?? "")) at++;
      else plain(end);
    }
    if (at >= text.length) return;
    if (text[at] === "$") braces.push("template");
    push(text[at] === "$" ? at + 2 : at + 1);
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (/\s/.test(char)) at++;
    else if (text.startsWith("//", at)) at = indexOr(text, "\n", at);
    else if (text.startsWith("/*", at)) at = indexOr(text, "*/", at + 2) + 2;
    else if (char === '"' || char === "'") {
      const end = endOfQuoted(text, at);
      push(end + 1, quoted(text.slice(at + 1, end)));
    } else if (char === "`") {
      push(at + 1);
      template();
    } else if (char === "/" && startsRegex(before, before.length))
      push(endAfter(REGEX_FLAGS, text, endOfRegex(text, at)));
    else if (char === "}" && braces.pop() === "template") {
      push(at + 1);
      template();
    } else {
      if (char === "{") braces.push("block");
      plain();
    }
  }
  return tokens;
}

function endOfTemplateText(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`" || text.startsWith("${", at)) return at;
  }
  return text.length;
}

function quoted(inside: string): string {
  return `"${inside.replace(/\\(["'])/g, "$1").replaceAll('"', '\\"')}"`;
}

function endAfter(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function indexOr(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from);
  return at < 0 ? text.length : at;
}
