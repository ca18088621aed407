/**
 * Brings a backup back. It is written beside the state directory, every file is checked, the database is looked at, and only then it gets its name.
 * A state directory that a gateway holds is never touched; one that is replaced is kept under another name.
 */
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import { silentLog } from "../kit/log.ts";
import { checkStore, openStateDirectory, verifyAudit } from "../store/index.ts";
import { readArchive, type TakeEntry } from "./archive/read-archive.ts";
import type { TarEntry } from "./archive/tar.ts";
import { backupDamaged } from "./damaged.ts";
import type { Manifest } from "./manifest.ts";
import { momentText } from "./names.ts";
import { readBackup, type ReadOptions } from "./open-backup.ts";

/** What its owner may do; nobody else may do anything. */
const OWNER_BITS = 0o700;

interface RestoreOptions extends ReadOptions {
  readonly home: string;
  /** Whether a state directory that is there may be put aside. */
  readonly replace: boolean;
}

interface Restored {
  readonly manifest: Manifest;
  /** Where the state directory is that was there before; null: there was none. */
  readonly before: string | null;
  /** How many links the chain of the audit log has. */
  readonly auditLinks: number;
}

/** Reads the whole backup and checks every file in it. Writes nothing. */
export function verifyBackup(file: string, options: ReadOptions, signal: AbortSignal): Promise<Manifest> {
  return readArchive(readBackup(file, options, signal), async (_entry, data) => {
    for await (const piece of data) void piece; // reading is what checks it
  });
}

export async function restoreBackup(
  deps: { readonly clock: Clock; readonly ids: Ids },
  file: string,
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<Restored> {
  const home = resolve(options.home);
  await using held = await holdIfThere(home, options.replace); // until the new one is in its place
  const work = `${home}.restoring-${deps.ids.next("backup")}`;
  await mkdir(dirname(work), { recursive: true });
  await mkdir(work, { mode: OWNER_BITS });
  try {
    const links: TarEntry[] = [];
    const manifest = await readArchive(readBackup(file, options, signal), createWriter(work, links, signal));
    // last, so that nothing of the backup can be written through one of them
    for (const { path, target } of links) await symlink(target, join(work, path));
    const auditLinks = await checkRestored(work);
    const before = held.exists ? await putAside(home, deps.clock.now()) : null;
    await rename(work, home);
    await syncFolder(dirname(home));
    return { manifest, before, auditLinks };
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

function createWriter(work: string, links: TarEntry[], signal: AbortSignal): TakeEntry {
  const made = new Set<string>();
  const makeFolder = async (path: string, mode: number): Promise<void> => {
    if (made.has(path)) return;
    made.add(path);
    await mkdir(join(work, path), { recursive: true, mode: mode | OWNER_BITS });
  };
  return async (entry, data) => {
    signal.throwIfAborted();
    const folder = dirname(entry.path);
    if (folder !== ".") await makeFolder(folder, OWNER_BITS);
    if (entry.kind === "link") return void links.push(entry);
    if (entry.kind === "folder") return makeFolder(entry.path, entry.mode);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    await using handle = await open(join(work, entry.path), flags, entry.mode & OWNER_BITS);
    for await (const piece of data) await handle.writeFile(piece); // goes on where the last one ended
    await handle.sync();
  };
}

/** Looks at the database and the audit log before anybody relies on them. */
async function checkRestored(work: string): Promise<number> {
  const store = await checkStore(work);
  if (store.kind === "missing") return 0; // the backup of a gateway that never ran
  if (store.kind === "newer")
    throw new GatewayError("store_newer", "the backup was made by a newer version", {
      say: "This backup was made by a newer pi-gateway. Restore it with that version.",
    });
  if (store.kind !== "ok") throw backupDamaged("its database is damaged");
  const audit = await verifyAudit(work);
  const [first] = audit.findings;
  if (audit.kind === "tampered")
    throw backupDamaged(`its audit log was changed: ${first?.say ?? ""}`.replace(/\.$/, ""));
  return audit.links;
}

interface Held extends AsyncDisposable {
  readonly exists: boolean;
}

/** Takes the state directory, so that no gateway starts on it meanwhile. Throws `home_taken` when one runs there. */
async function holdIfThere(home: string, replace: boolean): Promise<Held> {
  const nothing = { exists: false, [Symbol.asyncDispose]: async () => undefined };
  const found = await lstat(home).catch(() => null); // where it cannot be looked at, it cannot be made either, and that says why
  if (found === null) return nothing;
  if (found.isDirectory() && (await readdir(home)).length === 0) {
    await rmdir(home);
    return nothing;
  }
  const directory = await openStateDirectory({ log: silentLog }, home);
  if (replace) return { exists: true, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  await directory[Symbol.asyncDispose]();
  throw new GatewayError("home_not_empty", "the state directory exists", { fields: { home } });
}

async function putAside(home: string, at: number): Promise<string> {
  const aside = `${home}.before-restore-${momentText(at)}`;
  await rename(home, aside);
  return aside;
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}
