/**
 * Parameters of pi tools under other names: in the other spelling (`ignore_case`), or as models know them from Claude Code (`file_path`,
 * `old_string`). pi checks them before the gateway sees them, so they are renamed before pi does. Pure.
 */
import { isRecord } from "./orders.ts";

/** By what pi calls them; a name counts only where the tool has that parameter. */
const LEARNT_PARAMETERS: Readonly<Record<string, string>> = {
  file_path: "path",
  old_string: "oldText",
  new_string: "newText",
  "-i": "ignoreCase",
  "-C": "context",
  head_limit: "limit",
};
const EDIT_PARAMETERS: readonly string[] = ["oldText", "newText"];

/** The very same arguments when there is nothing to rename; also when one is given under two names, which the gateway refuses. */
export function renamedParameters(tool: string, args: unknown, schema: unknown): unknown {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  if (!isRecord(args)) return args;
  return tool === "edit" ? renamedEdit(args, properties) : renamed(args, properties);
}

/** pi takes a list of replacements; elsewhere a call has one, beside the path. */
function renamedEdit(args: Record<string, unknown>, properties: readonly string[]): unknown {
  const named = renamed(args, [...properties, ...EDIT_PARAMETERS]);
  const { oldText, newText, replace_all: _all, ...rest } = named;
  if (Array.isArray(rest["edits"])) {
    const edits = rest["edits"].map((edit: unknown) => (isRecord(edit) ? renamed(edit, EDIT_PARAMETERS) : edit));
    return { ...named, edits };
  }
  if (typeof oldText !== "string" || typeof newText !== "string") return named;
  return { ...rest, edits: [{ oldText, newText }] };
}

function renamed(args: Record<string, unknown>, properties: readonly string[]): Record<string, unknown> {
  const pairs = Object.entries(args).map(([given, value]) => [meant(given, properties), value] as const);
  const isClear = new Set(pairs.map(([name]) => name)).size === pairs.length;
  return isClear ? Object.fromEntries(pairs) : args;
}

function meant(given: string, properties: readonly string[]): string {
  if (properties.includes(given)) return given;
  const snake = given.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const camel = given.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const learnt = [given, snake].map((name) => (Object.hasOwn(LEARNT_PARAMETERS, name) ? LEARNT_PARAMETERS[name] : ""));
  return [snake, camel, ...learnt].find((name) => name !== undefined && properties.includes(name)) ?? given;
}
