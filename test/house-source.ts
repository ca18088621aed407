/**
 * Reads TypeScript just well enough for the house rules: what is code and what is text, what is imported, where functions begin and end.
 * It is a scanner, not a parser: it relies on formatted sources and prefers to overlook a rare form over accusing a correct one.
 */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** The same length as `text`, with comments, strings and regular expressions blanked out. */
  readonly code: string;
}

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Loaded when the line runs, and not with the file. */
  readonly dynamic: boolean;
  readonly line: number;
}

export interface FunctionShape {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** A plain list: no block of if, for, while, switch or try is in it, and no function with one. */
  readonly flat: boolean;
  readonly parameters: number;
  /** From its name, or its parameters, to the end of its body: places in the text. */
  readonly start: number;
  readonly end: number;
}

const OPEN = "([{";
const CLOSE = ")]}";
const BEFORE_REGEX = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|throw|await|yield))\s*$/;
const REGEX_LOOK_BACK_CHARS = 40;
const CONTROL = new Set(["if", "for", "while", "switch", "catch", "with", "await", "return", "typeof", "void", "case"]);
const BLOCK = /\b(?:for|while|switch|catch)\s*\(|\bif\s*\([^{};]*\)\s*\{|\b(?:try|else|do)\s*\{/;
const TYPE_PREFIX = new Set(["typeof", "keyof", "readonly", "is", "asserts", "infer", "extends", "unique", "in"]);

export function source(path: string, text: string): Source {
  return { path, text, code: blank(text) };
}

export function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** Replaces everything that is not code by spaces, quotes and line breaks kept. */
export function blank(text: string): string {
  const out = text.split("");
  const wipe = (from: number, to: number): void => {
    for (let i = from; i < to && i < out.length; i++) if (out[i] !== "\n") out[i] = " ";
  };
  const templates: number[] = []; // brace depth at which each open `${` ends
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === "/" && text[at + 1] === "/") at = wiped(at, indexOr(text, "\n", at));
    else if (char === "/" && text[at + 1] === "*") at = wiped(at, indexOr(text, "*/", at + 2) + 2);
    else if (char === '"' || char === "'") at = wiped(at + 1, endOfQuoted(text, at)) + 1;
    else if (char === "`") at = template(at + 1);
    else if (char === "/" && startsRegex(out, at)) at = wiped(at, endOfRegex(text, at));
    else if (char === "}" && templates.at(-1) === depth) {
      templates.pop();
      at = template(at + 1);
    } else {
      if (char === "{") depth++;
      if (char === "}") depth--;
      at++;
    }
  }
  return out.join("");

  function wiped(from: number, to: number): number {
    wipe(from, to);
    return to;
  }

  function template(from: number): number {
    for (let i = from; i < text.length; i++) {
      if (text[i] === "\\") i++;
      else if (text[i] === "`") return wiped(from, i) + 1;
      else if (text[i] === "$" && text[i + 1] === "{") {
        templates.push(depth);
        return wiped(from, i) + 2;
      }
    }
    return wiped(from, text.length);
  }
}

/** Whether a slash begins a regular expression, by the code before it. */
export function startsRegex(before: string | readonly string[], at: number): boolean {
  const code = before.slice(Math.max(0, at - REGEX_LOOK_BACK_CHARS), at);
  return BEFORE_REGEX.test(typeof code === "string" ? code : code.join(""));
}

function indexOr(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from);
  return at < 0 ? text.length : at;
}

/** The place of the closing quote. */
export function endOfQuoted(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[open] || text[at] === "\n") return at;
  }
  return text.length;
}

/** The place after it, flags aside. */
export function endOfRegex(text: string, open: number): number {
  let inClass = false;
  for (let at = open + 1; at < text.length && text[at] !== "\n"; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "[") inClass = true;
    else if (text[at] === "]") inClass = false;
    else if (text[at] === "/" && !inClass) return at + 1;
  }
  return open + 1; // it was a division after all
}

/** Static, type-only, re-exporting, side-effect and dynamic imports. */
export function importsOf({ text, code }: Source): Import[] {
  const found: Import[] = [];
  const patterns = [
    /\b(?:import|export)\b([\w\s{},*$]*?)\bfrom\s*["']/g,
    /\bimport()\s*["']/g,
    /\bimport()\s*\(\s*["'`]/g,
  ];
  for (const [at, pattern] of patterns.entries()) {
    for (const match of code.matchAll(pattern)) {
      const open = match.index + match[0].length - 1;
      const close = text.indexOf(text[open] ?? '"', open + 1);
      const names = match[1] ?? "";
      found.push({
        specifier: text.slice(open + 1, close),
        typeOnly: /^\s*type\b/.test(names) || onlyInlineTypes(names),
        dynamic: at === 2,
        line: lineAt(text, match.index),
      });
    }
  }
  return found;
}

function onlyInlineTypes(names: string): boolean {
  const listed = /^\s*\{([^}]*)\}\s*$/.exec(names)?.[1];
  const parts = listed?.split(",").flatMap((name) => name.trim() || []) ?? [];
  return parts.length > 0 && parts.every((name) => name.startsWith("type "));
}

/** Every function with a body: declarations, methods and arrows. */
export function functionsOf({ code }: Source): FunctionShape[] {
  const found: FunctionShape[] = [];
  for (let open = code.indexOf("("); open >= 0; open = code.indexOf("(", open + 1)) {
    const name = wordBefore(code, open);
    if (CONTROL.has(name)) continue;
    const close = matching(code, open);
    const body = bodyAfter(code, close + 1);
    if (body === null) continue;
    const line = lineAt(code, open);
    const end = matching(code, body) + 1;
    found.push({
      name: name || "(unnamed)",
      line,
      lines: lineAt(code, end - 1) - line + 1,
      flat: !BLOCK.test(code.slice(body, end)),
      parameters: countParameters(code.slice(open + 1, close)),
      start: name ? code.lastIndexOf(name, open) : open,
      end,
    });
  }
  return found;
}

function wordBefore(code: string, at: number): string {
  const before = code.slice(Math.max(0, at - 200), at).replace(/<[^<>()]*(?:<[^<>]*>[^<>()]*)*>\s*$/, "");
  const arrow = /(?:const|let)\s+(\w+)[^=;]*=\s*(?:async\s*)?$/.exec(before) ?? /(\w+):\s*(?:async\s*)?$/.exec(before);
  return arrow?.[1] ?? /([\w$#]+)\s*$/.exec(before)?.[1] ?? "";
}

export function matching(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    const char = code[at] ?? "";
    if (OPEN.includes(char)) depth++;
    else if (CLOSE.includes(char) && --depth === 0) return at;
  }
  return code.length - 1;
}

/** Where the body opens after a parameter list, or null when there is none (a call, a signature, a short arrow). */
function bodyAfter(code: string, from: number): number | null {
  const at = skipSpace(code, from);
  if (code[at] === "{") return at;
  if (code.startsWith("=>", at)) return arrowBody(code, at);
  return code[at] === ":" ? bodyAfterType(code, at + 1) : null;
}

function arrowBody(code: string, arrow: number): number | null {
  const at = skipSpace(code, arrow + 2);
  return code[at] === "{" || code[at] === "(" ? at : null;
}

function bodyAfterType(code: string, from: number): number | null {
  let expectsOperand = true;
  for (let at = skipSpace(code, from); at < code.length; at = skipSpace(code, at)) {
    const char = code[at] ?? "";
    const word = /^[\w$]+/.exec(code.slice(at, at + 80))?.[0];
    if (word) {
      expectsOperand = TYPE_PREFIX.has(word);
      at += word.length;
    } else if (code.startsWith("=>", at)) {
      return arrowBody(code, at);
    } else if (char === "{" && !expectsOperand) return at;
    else if (OPEN.includes(char)) {
      at = matching(code, at) + 1;
      expectsOperand = false;
    } else if (char === "<") {
      at = endOfAngles(code, at);
    } else if ("|&.".includes(char)) {
      expectsOperand = true;
      at++;
    } else if (char === '"' || char === "'") {
      at = code.indexOf(char, at + 1) + 1;
      expectsOperand = false;
    } else return null;
  }
  return null;
}

function endOfAngles(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === "<") depth++;
    else if (code[at] === ">" && code[at - 1] !== "=" && --depth === 0) return at + 1;
  }
  return code.length;
}

function skipSpace(code: string, from: number): number {
  let at = from;
  while (at < code.length && /\s/.test(code[at] ?? "")) at++;
  return at;
}

function countParameters(list: string): number {
  let depth = 0;
  let count = 0;
  let pending = false;
  for (let at = 0; at < list.length; at++) {
    const char = list[at] ?? "";
    if (OPEN.includes(char) || char === "<") depth++;
    else if (CLOSE.includes(char) || (char === ">" && list[at - 1] !== "=")) depth--;
    if (char === "," && depth === 0) {
      count++;
      pending = false;
    } else if (char.trim()) pending = true;
  }
  return count + Number(pending);
}
