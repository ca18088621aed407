/** Changes the configuration file for a command: comments and layout stay, a backup is kept, and a file that would not be valid is not written. */
import { mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { applyEdits, createScanner, findNodeAtLocation, modify, type ParseError, parseTree } from "jsonc-parser";
import { checkConfigText, type Variables } from "../check/check.ts";
import { formatProblem } from "../check/problem.ts";
import { rootSchema, type SchemaNode } from "../schema-node.ts";
import { readConfigText } from "./read-file.ts";
import { replaceFile, writeBackup } from "./write-file.ts";

type ConfigEdit =
  | { readonly kind: "written"; readonly path: string; readonly backup: string | null }
  /** Sentences about why it was left as it is. */
  | { readonly kind: "refused"; readonly problems: readonly string[] };

interface SettingEdit {
  readonly keys: readonly string[];
  /** Undefined: the setting is taken away. */
  readonly value: unknown;
  /** Stands above the section, where the edit brings it into the file. */
  readonly comment?: string;
}

/** What a file begins with that a command or the web console makes. */
export const FIRST_TEXT = `// Settings of pi-gateway. Comments stay when commands or the web console change the file.
// All settings with their defaults: docs/reference/config.md, or: pi-gw config get
// After a change: pi-gw config check. A running gateway takes most changes at once.
{
}
`;

const PRIVATE_FOLDER = 0o700;

/** A file that is not there is made. Variables that the new text names need not be set yet: whoever adds them is told so by the gateway. */
export async function editConfig(
  path: string,
  { keys, value }: SettingEdit,
  variables: Variables,
): Promise<ConfigEdit> {
  const target = await realpath(path).catch(() => path); // a linked file is rewritten where it really is
  const read = await readConfigText(target, "follow");
  if (read.kind !== "text" && read.kind !== "missing")
    return { kind: "refused", problems: [`${path} cannot be read. Nothing was changed.`] };
  const before = read.kind === "text" ? read.text : "{}\n";
  const problemsOf = (text: string) => checkConfigText(text, variables).problems.map((one) => formatProblem(one, path));
  const old = problemsOf(before);
  if (old.length > 0)
    return { kind: "refused", problems: ["The file has problems of its own; repair them first.", ...old] };
  const text = editText(before, [{ keys, value }]);
  const problems = problemsOf(text);
  if (problems.length > 0) return { kind: "refused", problems };
  return write(target, text, read.kind === "text" ? before : null);
}

/** Comments and layout stay. A group that has nothing left in it, no comment either, goes with its last setting. Pure. */
export function editText(text: string, edits: readonly SettingEdit[]): string {
  return edits.reduce((before, { keys, value, comment }) => {
    if (value !== undefined) return withComment(before, edited(before, keys, value), { section: keys[0], comment });
    const isThere = nodeAt(before, keys) !== undefined;
    return isThere ? withoutEmptyGroups(edited(before, keys, undefined), keys.slice(0, -1)) : before;
  }, text);
}

interface SectionComment {
  readonly section: string | undefined;
  readonly comment: string | undefined;
}

/** A section that was there before has its own comments, or none on purpose. */
function withComment(before: string, after: string, { section, comment }: SectionComment): string {
  if (!comment || section === undefined || nodeAt(before, [section])) return after;
  const at = nodeAt(after, [section])?.parent?.offset;
  if (at === undefined) return after;
  const lineStart = after.lastIndexOf("\n", at - 1) + 1;
  const indent = after.slice(lineStart, at);
  if (indent.trim() !== "") return after; // all of the file in one line: a comment would take the rest of it
  const lineEnd = after.includes("\r\n") ? "\r\n" : "\n";
  const isFirst = /[{]\s*$/.test(after.slice(0, lineStart));
  const above = `${isFirst ? "" : lineEnd}${indent}// ${comment}${lineEnd}`;
  return after.slice(0, lineStart) + above + after.slice(lineStart);
}

function nodeAt(text: string, keys: readonly string[]) {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...keys]);
}

function edited(text: string, keys: readonly string[], value: unknown): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2 }; // line ends are those of the text
  const changed = applyEdits(text, modify(text, [...keys], value, { formattingOptions }));
  return value === undefined ? withoutStrayComma(changed) : changed;
}

/** The library leaves the comma behind the only entry of a group where it was. */
function withoutStrayComma(text: string): string {
  const errors: ParseError[] = [];
  parseTree(text, errors, { allowTrailingComma: true });
  const stray = errors.find(({ offset }) => text[offset] === ",");
  return stray ? text.slice(0, stray.offset) + text.slice(stray.offset + 1) : text;
}

/** An entry that the author has named, such as a server of a chat, means something when it is empty too. */
function isGroupOfSchema(keys: readonly string[]): boolean {
  let schema: SchemaNode | undefined = rootSchema();
  for (const key of keys) schema = schema?.properties?.[key];
  return keys.length > 0 && schema?.properties !== undefined;
}

function withoutEmptyGroups(text: string, keys: readonly string[]): string {
  const group = isGroupOfSchema(keys) ? nodeAt(text, keys) : undefined;
  const isEmpty = group !== undefined && /^\{\s*\}$/.test(text.slice(group.offset, group.offset + group.length));
  const without = isEmpty ? edited(text, keys, undefined) : text;
  if (!isEmpty || commentsIn(without) < commentsIn(text)) return text; // a comment before the group would go with it
  return withoutEmptyGroups(without, keys.slice(0, -1));
}

function commentsIn(text: string): number {
  const scanner = createScanner(text, false);
  let count = 0;
  for (let token = scanner.scan(); token !== SyntaxKind.EOF; token = scanner.scan())
    if (token === SyntaxKind.LineCommentTrivia || token === SyntaxKind.BlockCommentTrivia) count++;
  return count;
}

/** Of the library, whose own list is a type alone. */
const SyntaxKind = { LineCommentTrivia: 12, BlockCommentTrivia: 13, EOF: 17 } as const;

/** Puts a whole text in place of a file that still holds `before`; null: there is none yet. The caller has checked the text. */
export async function replaceConfig(path: string, text: string, before: string | null): Promise<ConfigEdit> {
  const target = await realpath(path).catch(() => path);
  const read = await readConfigText(target, "follow");
  const now = read.kind === "text" ? read.text : null;
  if (now !== before || (read.kind !== "text" && read.kind !== "missing"))
    return { kind: "refused", problems: [`${path} has changed meanwhile, and was left as it is now.`] };
  return write(target, text, before);
}

async function write(target: string, text: string, before: string | null): Promise<ConfigEdit> {
  await mkdir(dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
  const backup = before === null ? null : await writeBackup(target, before);
  await replaceFile(target, text);
  return { kind: "written", path: target, backup };
}
