/** A tool call as what it is: a command, a change of a file, or JSON. Nothing of its input is left out. Pure. */
import { type DiffLine, diffLines } from "./diff.ts";

export type CallText =
  | { readonly kind: "command"; readonly command: string; readonly rest: string | null }
  | {
      readonly kind: "change";
      readonly path: string;
      readonly changes: readonly (readonly DiffLine[])[];
      readonly rest: string | null;
    }
  | { readonly kind: "json"; readonly text: string };

/** `shown`: the input as the gateway wrote it out for people, JSON in which hidden characters are `\u202e`. */
export function callText(tool: string, shown: string): CallText {
  const input = inputOf(shown);
  if (input && tool === "bash" && typeof input.command === "string") {
    const { command, ...rest } = input;
    return { kind: "command", command, rest: restOf(rest) };
  }
  const changed = input && changeOf(tool, input);
  return changed ?? { kind: "json", text: shown };
}

function changeOf(tool: string, input: Readonly<Record<string, unknown>>): CallText | null {
  if (typeof input.path !== "string") return null;
  const { path, content, edits, ...rest } = input;
  if (tool === "write" && typeof content === "string" && edits === undefined)
    return { kind: "change", path, changes: [diffLines("", content)], rest: restOf(rest) };
  if (tool !== "edit" || content !== undefined || !Array.isArray(edits) || !edits.every(isEdit)) return null;
  return {
    kind: "change",
    path,
    changes: edits.map((edit) => diffLines(edit.oldText, edit.newText)),
    rest: restOf(rest),
  };
}

function isEdit(value: unknown): value is { readonly oldText: string; readonly newText: string } {
  if (typeof value !== "object" || value === null) return false;
  const { oldText, newText, ...others } = value as Record<string, unknown>;
  return typeof oldText === "string" && typeof newText === "string" && Object.keys(others).length === 0;
}

/** What has no place of its own in the picture. */
function restOf(rest: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(rest).length === 0 ? null : JSON.stringify(rest, null, 2);
}

const ESCAPE = /\\(u[0-9a-fA-F]{4}|.)/g;

/** Hidden characters stay written out: only the gateway knows which they are. Null: it is no object. */
function inputOf(shown: string): Readonly<Record<string, unknown>> | null {
  const kept = shown.replaceAll(ESCAPE, (all, after: string) => (after.startsWith("u") ? `\\\\${after}` : all));
  try {
    const input: unknown = JSON.parse(kept);
    return typeof input === "object" && input !== null && !Array.isArray(input)
      ? (input as Record<string, unknown>)
      : null;
  } catch {
    return null; // shown as it came
  }
}
