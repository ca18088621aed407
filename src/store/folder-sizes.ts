/** How many files the growing folders of the state directory hold, and how much room they take. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FolderSize } from "../contracts/store/retention.ts";

const FOLDERS = ["sessions", "media", "logs", "backups"];
/** So many files are counted in a folder; what is above is not. */
const MAX_FILES = 100_000;

export function folderSizes(home: string, signal: AbortSignal): Promise<readonly FolderSize[]> {
  return Promise.all(FOLDERS.map((folder) => folderSize(home, folder, signal)));
}

async function folderSize(home: string, folder: string, signal: AbortSignal): Promise<FolderSize> {
  const path = join(home, folder);
  const names = await readdir(path, { recursive: true }).catch(() => []); // it is made with the first file in it
  let [files, bytes] = [0, 0];
  for (const name of names.slice(0, MAX_FILES)) {
    signal.throwIfAborted();
    const found = await stat(join(path, name)).catch(() => null); // deleted meanwhile
    if (!found?.isFile()) continue;
    files++;
    bytes += found.size;
  }
  return { folder, files, bytes };
}
