/**
 * Reads a plugin's folder once, whole, into memory: what is checked and hashed is what is run later. Refuses folders that somebody besides the
 * owner could have written to.
 */
import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

export interface PluginFiles {
  /** By path inside the folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256 over names and contents. */
  readonly digest: string;
}

type ReadFolder = ({ readonly ok: true } & PluginFiles) | { readonly ok: false; readonly why: string };

const MAX_FILES = 2_000;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 16;
/** Links and histories that no program is loaded from. */
const LEFT_OUT = new Set([".bin", ".git"]);
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const ROOT = 0;

class Refused extends Error {}

interface Reading {
  readonly files: Map<string, Uint8Array>;
  readonly owner: number | null;
  bytes: number;
}

/** `owner`: who has to own it all (root may, too); null where the system has no owners. */
export function readFolder(folder: string, owner: number | null): ReadFolder {
  const reading: Reading = { files: new Map(), owner, bytes: 0 };
  try {
    checkParent(folder);
    checkEntry(folder, folder, owner);
    collect(folder, "", reading, 0);
    return { ok: true, files: reading.files, digest: digestOf(reading.files) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, why: error.message };
    return { ok: false, why: `It cannot be read (${codeOf(error)}).` };
  }
}

function collect(folder: string, below: string, reading: Reading, depth: number): void {
  if (depth > MAX_DEPTH) throw new Refused(`It is nested deeper than ${MAX_DEPTH} folders.`);
  for (const name of readdirSync(join(folder, below)).sort()) {
    if (LEFT_OUT.has(name)) continue;
    const path = below === "" ? name : `${below}/${name}`;
    const stat = checkEntry(join(folder, path), path, reading.owner);
    if (stat.isDirectory()) {
      collect(folder, path, reading, depth + 1);
      continue;
    }
    reading.bytes += stat.size;
    if (reading.files.size >= MAX_FILES) throw new Refused(`It has more than ${MAX_FILES} files.`);
    if (reading.bytes > MAX_TOTAL_BYTES) throw new Refused(`It is larger than ${MAX_TOTAL_BYTES / 1024 / 1024} MiB.`);
    reading.files.set(path, readFileSync(join(folder, path)));
  }
}

function checkEntry(path: string, shown: string, owner: number | null): Stats {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw new Refused(`${shown} is a link, and links are not followed.`);
  if (!stat.isFile() && !stat.isDirectory()) throw new Refused(`${shown} is neither a file nor a folder.`);
  if (owner !== null && stat.uid !== owner && stat.uid !== ROOT)
    throw new Refused(`${shown} belongs to another user of this machine.`);
  if ((stat.mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Refused(`${shown} can be changed by other users of this machine (chmod go-w it).`);
  return stat;
}

/** Whoever can write to the folder above can put another one in its place, unless it is one where only owners may rename. */
function checkParent(folder: string): void {
  const { mode } = lstatSync(dirname(folder));
  if ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0) return;
  throw new Refused(
    `The folder above it can be changed by other users of this machine (chmod go-w ${dirname(folder)}).`,
  );
}

function digestOf(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${path}\0${content.byteLength}\0`).update(content);
  return hash.digest("hex");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
