/**
 * What the files of one agent take up while its programs write, and what is left on the disk that the gateway's database is on. Asks the file
 * system how much is free, which costs nothing, and counts files only after that has fallen by a good deal. Reads only.
 */
import { type Dirent, lstatSync, type StatsFs, statfsSync } from "node:fs";
import { opendir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../kit/clock.ts";

interface DiskLimits {
  /** Of all files of the agent together. */
  readonly workspaceMb: number;
  readonly workspaceFiles: number;
  /** What is left on the disk of the state directory. */
  readonly freeDiskMb: number;
}

export type DiskTrouble = {
  readonly code: "agent_files_too_large" | "disk_nearly_full";
  readonly detail: string;
};

export interface DiskMeter {
  /** A turn begins: what it uses up counts from now on. */
  begin(): void;
  /** Null: its programs may go on. Never rejects. */
  look(): Promise<DiskTrouble | null>;
}

interface DiskPlaces {
  /** On whose disk the database is. */
  readonly state: string;
  /** Folders that only this agent writes. */
  readonly own: readonly string[];
}

interface FreeSpace {
  readonly bytes: number;
  /** How many more files there can be; infinite: the file system does not count them. */
  readonly files: number;
}

const MB = 1024 * 1024;
/** Less is what any turn writes: its session, its temporary files. */
const NOTICED_BYTES = 32 * MB;
const NOTICED_FILES = 10_000;
const FEWEST_FREE_FILES = 5_000;
/** After counting for a second, ten seconds without. */
const PAUSE_FACTOR = 10;
/** Files that are looked at before others may work. */
const FILES_AT_ONCE = 200;

export function createDiskMeter(
  { clock }: { readonly clock: Clock },
  { state, own }: DiskPlaces,
  limits: DiskLimits,
): DiskMeter {
  let atStart: FreeSpace | null = null;
  /** When files were counted last; that they fit then is known. */
  let counted: FreeSpace | null = null;
  let notBefore = 0;
  const look = async (): Promise<DiskTrouble | null> => {
    const [here, there] = [await freeAt(state), await freeAt(own[0] ?? state)];
    if (here && atStart && nearlyFull(here, atStart, limits)) return NEARLY_FULL(here);
    counted ??= there;
    if (!there || !counted || !hasFallen(there, counted) || clock.elapsed() < notBefore) return null;
    const began = clock.elapsed();
    const use = await countFiles(own, limits);
    notBefore = clock.elapsed() + (clock.elapsed() - began) * PAUSE_FACTOR;
    counted = there;
    return use.tooMuch ? tooLarge(use, limits) : null;
  };
  return {
    begin() {
      atStart = freeNow(state);
    },
    look,
  };
}

/** A disk that was full before is nobody's fault, and a turn that writes nothing goes on. Pure. */
export function nearlyFull(now: FreeSpace, atStart: FreeSpace, { freeDiskMb }: DiskLimits): boolean {
  const bytes = now.bytes < freeDiskMb * MB && atStart.bytes - now.bytes >= MB;
  return bytes || (now.files < FEWEST_FREE_FILES && now.files < atStart.files);
}

/** Pure. */
export function hasFallen(now: FreeSpace, before: FreeSpace): boolean {
  return before.bytes - now.bytes >= NOTICED_BYTES || before.files - now.files >= NOTICED_FILES;
}

interface DiskUse {
  readonly bytes: number;
  readonly files: number;
  readonly tooMuch: boolean;
}

/** Stops counting when it is too much. */
export async function countFiles(
  folders: readonly string[],
  { workspaceMb, workspaceFiles }: DiskLimits,
): Promise<DiskUse> {
  const waiting = [...folders];
  const linked = new Set<string>(); // a file with several names is there once
  let [bytes, files] = [0, 0];
  const isTooMuch = (): boolean => bytes > workspaceMb * MB || files > workspaceFiles;
  for (let folder = waiting.pop(); folder !== undefined && !isTooMuch(); folder = waiting.pop()) {
    for await (const entry of entriesOf(folder)) {
      if (++files % FILES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else bytes += sizeOf(path, linked);
      if (isTooMuch()) break;
    }
  }
  return { bytes, files, tooMuch: isTooMuch() };
}

/** Piece by piece: a folder with a million files would stop everybody else for seconds. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // gone meanwhile
  }
}

/** What it takes up, not what it says: a file may have holes. */
function sizeOf(path: string, linked: Set<string>): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  const name = `${stat.dev} ${stat.ino}`;
  if (stat.nlink > 1 && linked.has(name)) return 0;
  if (stat.nlink > 1) linked.add(name);
  return stat.blocks * 512;
}

async function freeAt(path: string): Promise<FreeSpace | null> {
  try {
    return freeSpace(await statfs(path));
  } catch {
    return null; // the folder is gone: whatever writes there fails by itself
  }
}

/** Asked at the beginning of every turn, so it is one system call and not a trip through the thread pool. */
function freeNow(path: string): FreeSpace | null {
  try {
    return freeSpace(statfsSync(path));
  } catch {
    return null; // the same
  }
}

function freeSpace({ bavail, bsize, files, ffree }: StatsFs): FreeSpace {
  return { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree };
}

const NEARLY_FULL = ({ bytes }: FreeSpace): DiskTrouble => ({
  code: "disk_nearly_full",
  detail: `the disk of the state directory has ${Math.floor(bytes / MB)} MB left`,
});

function tooLarge({ bytes, files }: DiskUse, { workspaceMb, workspaceFiles }: DiskLimits): DiskTrouble {
  const size = `more than ${workspaceMb} MB`;
  const detail = bytes > workspaceMb * MB ? size : `more than ${workspaceFiles} files (${files})`;
  return { code: "agent_files_too_large", detail: `the files of this agent are ${detail}` };
}
