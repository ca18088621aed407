/**
 * Keeps pi's file tools inside the agent's folder: the path is resolved the way the system will resolve it, links included, and the call goes
 * on with the resolved path, so that nothing is left to interpret. Skills and granted folders lie elsewhere. Looks at the disk, changes nothing.
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ToolQuestion } from "../../contracts/tools/tool.ts";

export type Confined =
  | { readonly kind: "inside"; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: "outside"; readonly say: string }
  /** No path at all, or none of a file that is there. */
  | { readonly kind: "unusable"; readonly say: string };

export interface Room {
  readonly workspace: string;
  /** Folders and files outside of it that may be looked at. */
  readonly readable: readonly string[];
  /** Folders outside of it that may be changed as well. */
  readonly writable: readonly string[];
  /** Those of them in which nothing is changed without an owner's word. */
  readonly asks: readonly string[];
}

const MAX_PATH_CHARS = 4_096;
/** Tools with a path that must exist, and the ones that may make a new file. The others have no path. */
const READS = new Set(["read", "edit", "grep", "find", "ls"]);
const MAKES = new Set(["write"]);
const CHANGES = new Set(["write", "edit"]);
/** Control characters, and spaces and marks that pi would turn into other ones. */
const TRICKY = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

export function confine(
  { workspace, readable, writable }: Room,
  tool: string,
  params: Readonly<Record<string, unknown>>,
): Confined {
  if (!READS.has(tool) && !MAKES.has(tool)) return { kind: "inside", params };
  const asked = params["path"] ?? params["file_path"] ?? ".";
  if (typeof asked !== "string" || asked === "") return unusable("The path has to be text.");
  if (asked.length > MAX_PATH_CHARS || TRICKY.test(asked))
    return unusable("The path has characters that are not accepted.");
  if (asked.startsWith("~") || asked.startsWith("@")) return refuse(`${asked} is outside of the workspace.`);
  const root = realpathSync(workspace);
  const found = realPath(resolve(root, asked), MAKES.has(tool));
  if (found === null) return unusable(`There is no ${asked} in the workspace.`);
  const granted = CHANGES.has(tool) ? writable : readable;
  const isGranted = granted.some((folder) => isInside(realPath(folder, false) ?? root, found));
  if (!isInside(root, found) && !isGranted) return refuse(`${asked} is outside of the workspace.`);
  const { file_path: _other, ...rest } = params;
  return { kind: "inside", params: { ...rest, path: found } };
}

/** Why an owner is asked before this call: it changes a folder outside of the workspace. Null: nobody is, as far as the path is concerned. */
export function asksOwner(room: Room, tool: string, params: Readonly<Record<string, unknown>>): ToolQuestion | null {
  if (!CHANGES.has(tool)) return null;
  const confined = confine(room, tool, params);
  const path = confined.kind === "inside" ? confined.params["path"] : null;
  if (typeof path !== "string" || isInside(realpathSync(room.workspace), path)) return null; // refused later, or at home
  const around = room.writable.filter((folder) => isInside(realPath(folder, false) ?? folder, path));
  const innermost = around.toSorted((a, b) => b.length - a.length)[0];
  return innermost !== undefined && room.asks.includes(innermost)
    ? { because: `it changes ${innermost}, outside of the workspace`, folder: innermost }
    : null;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Where the path really leads. With `mayBeNew` the last parts need not exist; a link that leads nowhere is not followed. */
function realPath(path: string, mayBeNew: boolean): string | null {
  try {
    return realpathSync(path);
  } catch {
    if (!mayBeNew || isThere(path) || dirname(path) === path) return null;
    const parent = realPath(dirname(path), true);
    return parent === null ? null : join(parent, basename(path));
  }
}

/** Also when the way to it is blocked: then it is not for us to make. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // below a file, or in a folder that is closed to us
  }
}

function refuse(say: string): Confined {
  return { kind: "outside", say };
}

function unusable(say: string): Confined {
  return { kind: "unusable", say };
}
