/**
 * What of a state directory belongs into a backup: everything that cannot be made again. Left out are locks and notes of the running process, logs,
 * caches, and other backups. Session files are looked for in two places, because a process that works on one has it in a folder of its own.
 */
import { type Dirent, existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { copyMark, isCopyMark } from "../kit/copy-mark.ts";
import type { Source } from "./archive/write-archive.ts";

const MAX_FILES = 500_000;
const DATABASE = "gateway.db";
/** Written after rows of the database, and read before them: it may be behind the database, and never ahead. */
export const AUDIT_HEAD = "audit-head.json";
const CONFIG = "pi-gateway.jsonc";
const SESSIONS = "sessions";
const VISITS = join("run", "sessions");
/** Of the running process, made again by the next one, or installed. Copies of the database from before an upgrade are backups themselves. */
const LEFT_OUT =
  /^(?:run|logs|backups|bridge|versions|lock\.db|gateway\.(?:pid|json)|gateway\.db(?:-wal|-shm|\.new.*|\.before-upgrade-.*|\.of-newer-version)?|audit-head\.json|[^/]+\.new)$/;
/** Code that was compiled for agents: `agent/cache`, `agents/NAME/cache`, `roles/ROLE/NAME/cache`. */
const CACHES = /^(?:agent|agents\/[^/]+|roles\/[^/]+\/[^/]+)\/cache$/;

interface BackupOf {
  readonly home: string;
  /** The copy of the database, made before anything else is read; null: there is none. */
  readonly database: string | null;
  /** The copy of the newest link of the audit chain, made before the database. */
  readonly auditHead: string | null;
  /** The configuration file in use, when it lies elsewhere. */
  readonly config: string | null;
  /** The folder of backups, which is left out where it lies in the state directory. */
  readonly backups: string;
}

/** Whether a path of the state directory is in a backup by itself. */
export function isBackedUp(path: string): boolean {
  return !LEFT_OUT.test(path) && !CACHES.test(path);
}

/** How many bytes there are to read, so that progress can be shown and room be looked for. */
export async function sizeOf(sources: readonly Source[]): Promise<number> {
  let bytes = 0;
  for (const { kind, from } of sources) {
    if (kind !== "file") continue;
    for (const place of from) {
      const size = await lstat(place).then(
        (found) => found.size,
        () => null, // moved or deleted; what is read in the end counts
      );
      bytes += size ?? 0;
      if (size !== null) break;
    }
  }
  return bytes;
}

/** In the order in which they are read. Throws when there are more than a backup may hold. */
export async function sourcesOf(of: BackupOf, signal: AbortSignal): Promise<readonly Source[]> {
  const found: Source[] = [];
  if (of.database !== null) found.push({ path: DATABASE, kind: "file", from: [of.database] });
  if (of.auditHead !== null) found.push({ path: AUDIT_HEAD, kind: "file", from: [of.auditHead] });
  for (const name of await sessionNames(of.home)) {
    const kept = join(of.home, SESSIONS, name);
    found.push({ path: `${SESSIONS}/${name}`, kind: "file", from: [kept, ...(await visitsOf(of.home, name)), kept] });
  }
  for await (const source of below(of, "", signal)) {
    if (found.length >= MAX_FILES) throw tooMany();
    found.push(source);
  }
  if (of.config !== null && !found.some(({ path }) => path === CONFIG))
    found.push({ path: CONFIG, kind: "file", from: [of.config] });
  return found;
}

async function* below(of: BackupOf, folder: string, signal: AbortSignal): AsyncGenerator<Source, void, void> {
  signal.throwIfAborted();
  for (const entry of await entriesOf(join(of.home, folder))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const place = join(of.home, path);
    if (!isBackedUp(path) || place === of.backups) continue;
    if (folder === SESSIONS && entry.isFile()) continue; // listed before, wherever they are by now
    if (entry.isDirectory()) {
      yield { path, kind: "folder", from: [place] };
      yield* below(of, path, signal);
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      yield { path, kind: entry.isFile() ? "file" : "link", from: [place] };
    }
    // sockets, pipes and devices hold nothing that could be kept
  }
}

/** The folder of sessions is read last: a session that came back in between is in both, and none is missed. */
async function sessionNames(home: string): Promise<readonly string[]> {
  const visiting = (await entriesOf(join(home, VISITS))).map(({ name }) => join(home, VISITS, name));
  const names = new Set<string>();
  for (const folder of [...visiting, join(home, SESSIONS)])
    for (const entry of await entriesOf(folder)) if (entry.isFile() && !isCopyMark(entry.name)) names.add(entry.name);
  return [...names].sort();
}

async function visitsOf(home: string, name: string): Promise<readonly string[]> {
  const paths = (await entriesOf(join(home, VISITS))).map((process) => join(home, VISITS, process.name, name));
  return paths.filter((path) => !existsSync(copyMark(path)));
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return []; // deleted since it was listed, or never made
    throw error;
  }
}

function tooMany(): GatewayError {
  return new GatewayError("too_large", "too many files for a backup", {
    fields: { max: MAX_FILES },
    say: `The state directory holds more than ${MAX_FILES} files. Delete some of the agents' workspaces, or move one elsewhere with agent.workspace.`,
  });
}

/** Whether `path` lies in `folder`, or is it. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith(`..${sep}`) && way !== "..");
}
