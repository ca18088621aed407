/**
 * Locks that pi left in the gateway's own folders when it was killed. pi waits up to half a minute for whoever holds one, and its start is
 * given up before that: after a crash nobody would be answered for as long. A lock does not name its holder. So while no agent runs all of
 * them are dead; while one runs, those that stay as they are for longer than anybody holds one.
 */
import { type Dirent, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";

/** pi makes a folder of this name beside the file it locks, `auth.json` for example. */
const LOCK = /\.json\.lock$/;
/** How long a lock is watched before it counts as a dead one's. pi holds it while it reads or writes a small file: milliseconds. */
export const LOCK_HELD_MS = 3_000;

/**
 * For as long as a process starts, until it is disposed: drops the locks of this folder that nobody has given back between two looks, so
 * that the process, which waits for them, goes on.
 */
export function watchLocks(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { folder, heldMs }: { readonly folder: string; readonly heldMs: number },
): Disposable {
  const stop = new AbortController();
  const watch = async (): Promise<void> => {
    for (let seen = locksIn(folder); ; seen = locksIn(folder)) {
      await clock.sleep(heldMs, stop.signal);
      const locks = dropUnchanged(folder, seen);
      if (locks > 0) log.warn("locks of killed agents dropped", { locks });
    }
  };
  watch().catch(() => undefined); // it is disposed
  return { [Symbol.dispose]: () => stop.abort() };
}

function dropUnchanged(folder: string, before: ReadonlyMap<string, string>): number {
  const dead = [...locksIn(folder)].filter(([path, made]) => before.get(path) === made);
  if (dead.length === 0 || hasLogin(folder)) return 0;
  for (const [path] of dead) rmSync(path, { recursive: true, force: true });
  return dead.length;
}

/** Renewing a login is a call to its provider, with the lock held: there is no telling how long that takes, and pi's own rule has to do. */
function hasLogin(folder: string): boolean {
  try {
    return readFileSync(join(folder, "auth.json"), "utf8").includes("oauth");
  } catch {
    return false; // no such file: nobody has logged in
  }
}

/** Each lock, and what tells it from a later one of the same name. */
function locksIn(folder: string): ReadonlyMap<string, string> {
  const paths = foldersIn(folder).filter((name) => LOCK.test(name));
  return new Map(paths.map((name) => [join(folder, name), madeAt(join(folder, name))]));
}

function madeAt(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs}` : ""; // given back since
}

/** Returns how many there were. */
export function dropDeadLocks(home: string): number {
  const dead = agentFolders(home).flatMap((folder) => [...locksIn(folder).keys()]);
  for (const lock of dead) rmSync(lock, { recursive: true, force: true });
  return dead.length;
}

/** As `profileFolder` names them, and below each those of other providers. */
function agentFolders(home: string): readonly string[] {
  const roles = below(join(home, "roles"));
  const own = [join(home, "agent"), ...below(join(home, "agents")), ...roles.flatMap(below)];
  return own.flatMap((folder) => [folder, ...below(join(folder, "providers"))]);
}

function below(folder: string): readonly string[] {
  return foldersIn(folder).map((name) => join(folder, name));
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry: Dirent) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return []; // not made yet
  }
}
