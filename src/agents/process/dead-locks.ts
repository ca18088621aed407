/**
 * Locks that pi left in the gateway's own folders when it was killed. pi waits up to half a minute for whoever holds one, and its start is
 * given up before that: after a crash nobody would be answered for as long. Only for a moment at which no agent runs, so that nobody holds any.
 */
import { type Dirent, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** pi makes a folder of this name beside the file it locks, `auth.json` for example. */
const LOCK = /\.json\.lock$/;

/** Returns how many there were. */
export function dropDeadLocks(home: string): number {
  const dead = agentFolders(home).flatMap((folder) =>
    foldersIn(folder)
      .filter((name) => LOCK.test(name))
      .map((name) => join(folder, name)),
  );
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
