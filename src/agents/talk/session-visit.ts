/**
 * A session file visits the process that works on it: it is moved into that process's own folder for as long as the process serves the
 * session, and moved back when the turn is over. So a process, and the shell it runs, never sees the session of anybody else. What comes back
 * was in reach of the agent, so only a plain file with one name is taken; a link could make the gateway open something else later.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { copyMark } from "../../kit/copy-mark.ts";
import type { Log } from "../../kit/log.ts";
import type { ProcessIdentity } from "../process/proc.ts";
import { lifeOf } from "../process/temp-folder.ts";
import { isSessionFileName } from "./session-file.ts";

/** The folder of one process, in which it finds the session it works on. */
export interface VisitFolder {
  readonly path: string;
  /** Once the process is gone: what is still there goes back to where sessions are kept. */
  remove(log: Log): void;
}

export interface Visit {
  readonly log: Log;
  /** Where the file is kept. */
  readonly kept: string;
  /** Where the process works on it. */
  readonly visiting: string;
}

export function makeVisitFolder(home: string, owner: ProcessIdentity, id: string): VisitFolder {
  const path = join(visitFolders(home), `${lifeOf(owner)}${id}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return { path, remove: (log) => endVisits(log, home, path) };
}

/** Moves the file to the process. Throws `agent_exited` when that has ended meanwhile: its folder goes with it. */
export function beginVisit({ kept, visiting }: Visit): void {
  try {
    if (isCopy(visiting)) rmSync(copyMark(visiting)); // of a copy that could not be made or removed: this is the session itself
    renameSync(kept, visiting);
  } catch (error) {
    if (existsSync(dirname(visiting))) throw error;
    throw new GatewayError("agent_exited", "the process ended before its session was opened", { cause: error });
  }
}

/** Moves the file back. Does nothing when it is back already. */
export function endVisit({ log, kept, visiting }: Visit): void {
  const found = lstatSync(visiting, { throwIfNoEntry: false });
  if (!found) return;
  const plain = found.isFile() && found.nlink === 1;
  if (plain && !lstatSync(kept, { throwIfNoEntry: false })) return renameSync(visiting, kept);
  // A process that was let go may write once more; the file that went back before is the conversation.
  log.warn(plain ? "a session was written after its turn" : "a session came back as something else than a file", {
    file: visiting,
  });
  rmSync(visiting, { recursive: true, force: true });
}

/** When the file is not where it is kept: a visit that could not be ended. Null: no process has it. */
export function findVisit(home: string, name: string): string | null {
  const paths = namesIn(visitFolders(home)).map((folder) => join(visitFolders(home), folder, name));
  return paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) && !isCopy(path)) ?? null;
}

function isCopy(visiting: string): boolean {
  return lstatSync(copyMark(visiting), { throwIfNoEntry: false }) !== undefined;
}

/** After a crash: brings back what processes of an earlier gateway had, once they are all gone. */
export function endOldVisits(log: Log, home: string, owner: ProcessIdentity): void {
  for (const name of namesIn(visitFolders(home)))
    if (!name.startsWith(lifeOf(owner))) endVisits(log, home, join(visitFolders(home), name));
}

function endVisits(log: Log, home: string, folder: string): void {
  try {
    const visitors = namesIn(folder).filter((name) => isSessionFileName(name) && !isCopy(join(folder, name)));
    for (const name of visitors) endVisit({ log, kept: join(home, "sessions", name), visiting: join(folder, name) });
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    log.error("sessions stay in the folder of a process that is gone", { folder, error }); // the next start tries again
  }
}

function visitFolders(home: string): string {
  return join(home, "run", "sessions");
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there is none before the first process
  }
}
