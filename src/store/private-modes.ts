/** Makes what is in a state directory private to its owner again: an archive, a copy or a careless umask may have opened it to others. */
import { chmod, lstat } from "node:fs/promises";
import { join } from "node:path";

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;
const FOLDERS = ["", "sessions", "media", "logs", "backups", "run", "agent", "damaged"];
const FILES = ["token", "media.key", "audit.key", "push.key", "gateway.db", "gateway.db-wal", "gateway.db-shm"];
const MORE_FILES = ["lock.db", "gateway.json", "gateway.pid", "config.last-good.jsonc", "service.env"];

/** The paths that were open to others. Links are left alone: what they point to may be meant for others. */
export async function makePrivate(home: string): Promise<readonly string[]> {
  const wanted = [
    ...FOLDERS.map((name) => ({ path: join(home, name), mode: PRIVATE_FOLDER })),
    ...[...FILES, ...MORE_FILES].map((name) => ({ path: join(home, name), mode: PRIVATE_FILE })),
  ];
  const opened: string[] = [];
  for (const { path, mode } of wanted) if (await makeOnePrivate(path, mode)) opened.push(path);
  return opened;
}

/** False: it is private already, or not ours to change. */
export async function makeOnePrivate(path: string, mode = PRIVATE_FILE): Promise<boolean> {
  const found = await lstat(path).catch(() => null); // not there
  const isOurs = found !== null && (found.isFile() || found.isDirectory()) && found.uid === process.getuid?.();
  if (!isOurs || (found.mode & OTHERS) === 0) return false;
  await chmod(path, mode);
  return true;
}
