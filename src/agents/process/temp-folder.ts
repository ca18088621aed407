/**
 * A folder for the passing files of one agent process, as its TMPDIR: pi keeps the output of long commands there, and so does whatever it
 * starts. It is nobody else's, and goes with its process.
 */
import { mkdirSync, readdirSync, rmdirSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../kit/log.ts";
import type { ProcessIdentity } from "./proc.ts";

/** Where pi keeps extensions that it has compiled, below its TMPDIR. Compiling costs more than the rest of a start, so this one is shared. */
const COMPILED = "jiti";

export interface TempFolder {
  readonly path: string;
  /** Once the process and all it had started are gone. What cannot be removed now is removed by the next process of the gateway. */
  remove(log: Log): void;
}

export interface TempFolderOptions {
  /** Different for every process. */
  readonly id: string;
  /** A folder for compiled code, of all processes; null: there is nothing to compile. */
  readonly cache: string | null;
}

export function makeTempFolder(home: string, owner: ProcessIdentity, { id, cache }: TempFolderOptions): TempFolder {
  const path = join(tempFolders(home), `${lifeOf(owner)}${id}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (cache !== null) share(join(cache, COMPILED), join(path, COMPILED));
  return { path, remove: (log) => removeTemp(log, path) };
}

/** Removes what previous processes have left. */
export function sweepTempFolders(log: Log, home: string, owner: ProcessIdentity): void {
  for (const name of namesIn(tempFolders(home)))
    if (!name.startsWith(lifeOf(owner))) removeTemp(log, join(tempFolders(home), name));
}

function removeTemp(log: Log, path: string): void {
  try {
    rmdirSync(path); // nearly always it is empty
  } catch {
    rm(path, { recursive: true, force: true }).catch((error: unknown) =>
      log.warn("temporary files of an agent stay behind", { path, error: String(error) }),
    );
  }
}

function share(folder: string, link: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync(folder, link);
}

/** Begins the names of folders that belong to one life of a gateway. */
export function lifeOf({ pid, startTime }: ProcessIdentity): string {
  return `${pid}-${startTime}-`;
}

/** Short: what is below may be the address of a socket, which must not be long. */
function tempFolders(home: string): string {
  return join(home, "run", "tmp");
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the first start: there is no such folder yet
  }
}
