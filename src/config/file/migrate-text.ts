/** Old keys → new keys in the text itself, touching as few characters as possible, so that comments and layout stay. Pure. */
import { applyEdits, createScanner, findNodeAtLocation, modify, type Node, parseTree } from "jsonc-parser";
import { MODE_KEY, type Migration, OLD_KEYS, PASSWORD_KEY } from "../check/old-keys.ts";
import { withoutBom } from "../check/tree.ts";

/** Expects a text whose check found no problem; keys it cannot move are left where they are. */
export function migrateText(text: string): string {
  const bare = withoutBom(text);
  const mark = text.slice(0, text.length - bare.length);
  return mark + OLD_KEYS.reduce(moveKey, bare);
}

function moveKey(text: string, migration: Migration): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const from = migration.from.split(".");
  const to = migration.to.split(".");
  const value = root && findNodeAtLocation(root, from);
  const property = value?.parent;
  const key = property?.children?.[0];
  if (!root || !value || !property || !key || findNodeAtLocation(root, to)) return text;
  if (from.slice(0, -1).join(".") === to.slice(0, -1).join(".")) {
    return splice(text, key.offset, key.length, JSON.stringify(to.at(-1)));
  }
  return findNodeAtLocation(root, to.slice(0, -1))
    ? moveIntoGroup(text, migration, { value, property })
    : wrapInGroup(text, migration, { value, property });
}

interface Found {
  readonly value: Node;
  readonly property: Node;
}

/** `"token": V` → `"auth": { "token": V }`, in its place. */
function wrapInGroup(text: string, { from, to }: Migration, { value, property }: Found): string {
  const [group, key] = to.split(".").slice(-2);
  const written = text.slice(value.offset, value.offset + value.length);
  const mode = from === PASSWORD_KEY ? '"mode": "password", ' : "";
  const content = `${JSON.stringify(group)}: { ${mode}${JSON.stringify(key)}: ${written} }`;
  return splice(text, property.offset, property.length, content);
}

function moveIntoGroup(text: string, { from, to }: Migration, { value, property }: Found): string {
  const without = removeProperty(text, property);
  const withMode = from === PASSWORD_KEY ? addIfAbsent(without, MODE_KEY, "password") : without;
  return addIfAbsent(withMode, to, value.value);
}

function addIfAbsent(text: string, path: string, value: unknown): string {
  const keys = path.split(".");
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root && findNodeAtLocation(root, keys)) return text;
  const formattingOptions = { insertSpaces: true, tabSize: 2 }; // line ends are those of the text
  return applyEdits(text, modify(text, keys, value, { formattingOptions }));
}

// Token numbers of jsonc-parser, whose enum exists only for compilers that inline it.
const COMMA = 5;
const END_OF_FILE = 17;

/** Takes out the property and one comma, and nothing between or around them: the library's own removal eats comments. */
function removeProperty(text: string, property: Node): string {
  const end = property.offset + property.length;
  const { before, after } = commasAround(text, property.offset, end);
  if (after !== null)
    return tidyLine(splice(splice(text, after, 1, ""), property.offset, property.length, ""), property.offset);
  const cut = splice(text, property.offset, property.length, "");
  return before === null ? tidyLine(cut, property.offset) : tidyLine(splice(cut, before, 1, ""), property.offset - 1);
}

function commasAround(text: string, start: number, end: number): { before: number | null; after: number | null } {
  const scanner = createScanner(text, true);
  let before: number | null = null;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    const at = scanner.getTokenOffset();
    if (at >= end) return { before, after: token === COMMA ? at : null };
    if (at < start) before = token === COMMA ? at : null;
  }
  return { before, after: null };
}

/** Drops the line around `at` when nothing is left on it. */
function tidyLine(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  if (end < 0 || text.slice(start, end).trim() !== "") return text;
  return splice(text, start, end + 1 - start, "");
}

const splice = (text: string, offset: number, length: number, content: string): string =>
  text.slice(0, offset) + content + text.slice(offset + length);
