/** What a path from an agent may look like, before anything is opened. Pure: the same words, the same verdict, with its reason. */
import { isAbsolute, join, relative, sep } from "node:path";

export interface MediaRoots {
  /** Where relative paths begin: the agent's workspace. Null: it has none that was known at the start. */
  readonly base: string | null;
  /** Real paths, fixed at the start. The base is one of them. */
  readonly roots: readonly string[];
}

type PathVerdict =
  /** The file is at `root` + `parts`; no part is empty, `.` or `..`. */
  | { readonly ok: true; readonly root: string; readonly parts: readonly string[] }
  | { readonly ok: false; readonly because: string };

const MAX_PATH_CHARS = 4_096;
/** Control, direction and invisible characters: a path with them reads as something it is not. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029\ufffe\uffff]/u;
const SCHEME_OR_DRIVE = /^[a-z][a-z0-9+.-]*:/i;

export function judgePath(path: unknown, { base, roots }: MediaRoots): PathVerdict {
  // 1: text of a known length
  if (typeof path !== "string" || path.length === 0) return no("The path is empty.");
  if (path.length > MAX_PATH_CHARS) return no(`The path is longer than ${MAX_PATH_CHARS} characters.`);
  if (!path.isWellFormed()) return no("The path is not valid text.");
  // 2: nothing hidden
  if (HIDDEN.test(path)) return no("The path has control or invisible characters in it.");
  // 3: a path of this system and nothing else
  if (SCHEME_OR_DRIVE.test(path)) return no("Give a file path, not an address.");
  if (path.includes("\\") || path.startsWith("//")) return no("The path is not one of this system.");
  if (path.slice(1).includes(":")) return no("The path has a colon in it; rename the file.");
  // 4: taken literally
  if (path.startsWith("~")) return no("The path must not begin with ~. Give it from the workspace on.");
  // 5: below a root, without a way up
  return place(path, { base, roots });
}

function place(path: string, { base, roots }: MediaRoots): PathVerdict {
  if (path.split("/").includes("..")) return no("The path must not contain `..`.");
  if (!isAbsolute(path) && base === null) return no("This agent has no folder to send files from.");
  const full = isAbsolute(path) ? join(path) : join(base ?? sep, path);
  const root = roots
    .filter((one) => full.startsWith(one.endsWith(sep) ? one : `${one}${sep}`))
    .toSorted((a, b) => b.length - a.length)[0];
  if (root === undefined) return no(outside(roots));
  const parts = relative(root, full)
    .split(sep)
    .filter((part) => part !== "");
  if (parts.length === 0 || parts.includes("..")) return no(outside(roots));
  return { ok: true, root, parts };
}

function outside(roots: readonly string[]): string {
  if (roots.length === 0) return "No folder is open for sending files.";
  return "Only files in the agent's workspace, or in a folder of media.roots, can be sent.";
}

function no(because: string): PathVerdict {
  return { ok: false, because };
}
