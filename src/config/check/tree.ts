/** Configuration text → a tree that remembers where everything stood. Size, depth and double keys are refused here; meaning is not known. */
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { joinPath } from "../../kit/schema/problem.ts";
import type { ConfigProblem } from "./problem.ts";

export const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_CONFIG_DEPTH = 32;
const MAX_SYNTAX_PROBLEMS = 5;

export interface Entry {
  readonly keyOffset: number;
  readonly value: Tree;
}

export interface ObjectTree {
  readonly kind: "object";
  readonly offset: number;
  /** A Map, so that a key such as `__proto__` is only ever a name. */
  readonly entries: Map<string, Entry>;
}

export type Tree =
  | ObjectTree
  | { readonly kind: "array"; readonly offset: number; readonly items: readonly Tree[] }
  | { readonly kind: "text"; readonly offset: number; readonly value: string }
  | { readonly kind: "number"; readonly offset: number; readonly value: number }
  | { readonly kind: "boolean"; readonly offset: number; readonly value: boolean }
  | { readonly kind: "null"; readonly offset: number };

export type PositionOf = (offset: number) => { readonly line: number; readonly column: number };

interface ParsedText {
  readonly tree: ObjectTree | null;
  readonly problems: readonly ConfigProblem[];
  readonly positionOf: PositionOf;
}

const BOM = "\ufeff";

export const withoutBom = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text);

export function parseText(text: string): ParsedText {
  const positionOf = positionsIn(text);
  const refuse = (message: string, offset = 0): ParsedText => ({
    tree: null,
    problems: [{ path: "", ...positionOf(offset), message }],
    positionOf,
  });
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) {
    return refuse(`The file is larger than ${MAX_CONFIG_BYTES / 1024} KiB. Move long texts elsewhere.`);
  }
  const deepAt = tooDeepAt(text);
  if (deepAt !== null) return refuse(`Brackets are nested more than ${MAX_CONFIG_DEPTH} deep here.`, deepAt);

  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: true });
  if (errors.length > 0) return { tree: null, problems: syntaxProblems(errors, positionOf), positionOf };
  if (!root) return refuse("The file is empty. Write {} to use the defaults, or delete the file.");
  if (root.type !== "object") return refuse("The file must hold one group of settings in { }.", root.offset);

  const problems: ConfigProblem[] = [];
  const tree = toObject(root, "", ({ path, message }, offset) =>
    problems.push({ path, message, ...positionOf(offset) }),
  );
  return { tree, problems, positionOf };
}

/** The position of the value at `path`, or of the nearest group around it that is written in the text. */
export function findPosition(
  text: string,
  path: readonly string[],
): { readonly line: number; readonly column: number } | null {
  const { tree, positionOf } = parseText(withoutBom(text));
  if (!tree) return null;
  let at: Tree = tree;
  for (const key of path) {
    const below: Tree | undefined =
      at.kind === "object" ? at.entries.get(key)?.value : at.kind === "array" ? at.items[Number(key)] : undefined;
    if (!below) break;
    at = below;
  }
  return positionOf(at.offset);
}

/** Every setting that the text writes, by its dotted path, with the line it is on. A list is one setting. */
export function writtenSettings(text: string): ReadonlyMap<string, number> {
  const { tree, positionOf } = parseText(withoutBom(text));
  const lines = new Map<string, number>();
  const walk = (at: Tree, path: string): void => {
    if (at.kind === "object" && (at.entries.size > 0 || path === "")) {
      for (const [key, { value }] of at.entries) walk(value, path === "" ? key : `${path}.${key}`);
    } else lines.set(path, positionOf(at.offset).line);
  };
  if (tree) walk(tree, "");
  return lines;
}

type Report = (problem: { readonly path: string; readonly message: string }, offset: number) => void;

function toTree(node: Node, path: string, report: Report): Tree {
  const { offset } = node;
  if (node.type === "object") return toObject(node, path, report);
  if (node.type === "array") {
    const items = (node.children ?? []).map((child, index) => toTree(child, `${path}[${index}]`, report));
    return { kind: "array", offset, items };
  }
  const value: unknown = node.value;
  if (typeof value === "string") return { kind: "text", offset, value };
  if (typeof value === "number") return { kind: "number", offset, value };
  if (typeof value === "boolean") return { kind: "boolean", offset, value };
  return { kind: "null", offset };
}

function toObject(node: Node, path: string, report: Report): ObjectTree {
  const entries = new Map<string, Entry>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (!key || !value) continue; // the parser has reported it
    const name = String(key.value);
    const below = joinPath(path, name);
    if (entries.has(name)) report({ path: below, message: `${below} is written twice. Keep one of them.` }, key.offset);
    else entries.set(name, { keyOffset: key.offset, value: toTree(value, below, report) });
  }
  return { kind: "object", offset: node.offset, entries };
}

const SYNTAX_MESSAGES: Readonly<Record<string, string>> = {
  InvalidSymbol: "There is a word here that is not JSON. Texts need double quotes.",
  InvalidNumberFormat: "This number is not written as JSON writes numbers.",
  PropertyNameExpected: "A setting's name in double quotes is expected here.",
  ValueExpected: "A value is expected here.",
  ColonExpected: "A colon is missing here.",
  CommaExpected: "A comma is missing before this.",
  CloseBraceExpected: "A closing } is missing.",
  CloseBracketExpected: "A closing ] is missing.",
  EndOfFileExpected: "The file should end before this.",
  UnexpectedEndOfComment: "A comment that begins with /* is not closed.",
  UnexpectedEndOfString: "A text is not closed with a double quote.",
  InvalidUnicode: "A \\u escape in this text is not complete.",
  InvalidEscapeCharacter:
    "A backslash in this text is followed by something it cannot stand before. Write \\\\ for one backslash.",
  InvalidCharacter: "This text holds a control character. Write it as an escape, such as \\n.",
};

function syntaxProblems(errors: readonly ParseError[], positionOf: PositionOf): ConfigProblem[] {
  const messageOf = (error: ParseError) =>
    SYNTAX_MESSAGES[printParseErrorCode(error.error)] ?? "This is not valid JSON.";
  return errors
    .slice(0, MAX_SYNTAX_PROBLEMS)
    .map((error) => ({ path: "", ...positionOf(error.offset), message: messageOf(error) }));
}

// Token numbers of jsonc-parser, whose enum exists only for compilers that inline it.
const OPENING = new Set([1, 3]);
const CLOSING = new Set([2, 4]);
const END_OF_FILE = 17;

/** Where the nesting first passes the limit. The parser recurses, so this is asked before it runs. */
function tooDeepAt(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (OPENING.has(token)) depth++;
    else if (CLOSING.has(token)) depth--;
    if (depth > MAX_CONFIG_DEPTH) return scanner.getTokenOffset();
  }
  return null;
}

/** Offsets → lines and columns, by a list of line starts that is made on first use. */
function positionsIn(text: string): PositionOf {
  let starts: readonly number[] | null = null;
  return (offset) => {
    starts ??= [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (match) => match.index + match[0].length)];
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
