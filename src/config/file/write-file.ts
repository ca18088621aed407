/** Writes small private files whole or not at all. Every file is 0600 from its first byte, and no symbolic link is followed. */
import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const PRIVATE_MODE = 0o600;
const MAX_TEMP_NAMES = 8;
const MAX_BACKUPS = 1_000;

/** Temporary file in the same folder, fsync, rename over, fsync of the folder. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temp = await writeTemp(path, text);
  try {
    await rename(temp, path);
  } catch (error) {
    await unlink(temp).catch(() => undefined); // the rename's error says more
    throw error;
  }
  await syncFolder(dirname(path));
}

/** `<path>.bak-1`, `-2`, …: the first free number. An earlier backup is never touched. Gives back the name. */
export async function writeBackup(path: string, text: string): Promise<string> {
  for (let n = 1; n <= MAX_BACKUPS; n++) {
    const backup = `${path}.bak-${n}`;
    if (!(await writeNew(backup, text))) continue;
    await syncFolder(dirname(path));
    return backup;
  }
  throw new Error(`there are already ${MAX_BACKUPS} backups of this file`);
}

async function writeTemp(path: string, text: string): Promise<string> {
  const name = (n: number) => join(dirname(path), `.${basename(path)}.tmp-${process.pid}-${n}`);
  for (let n = 0; n < MAX_TEMP_NAMES; n++) {
    if (await writeNew(name(n), text)) return name(n);
  }
  throw new Error("too many temporary files were left beside this file; delete those with .tmp- in their name");
}

/** False when the name is taken. A file that could not be written whole is removed: it holds secrets, and its name would stay taken. */
async function writeNew(path: string, text: string): Promise<boolean> {
  const file = await openNew(path);
  if (!file) return false;
  try {
    await fill(file, text);
  } catch (error) {
    await unlink(path).catch(() => undefined); // the error of the write says more
    throw error;
  }
  return true;
}

/** Null when the name is taken, by a file or by a link. */
async function openNew(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_MODE);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return null;
    throw error;
  }
}

async function fill(file: FileHandle, text: string): Promise<void> {
  try {
    await file.chmod(PRIVATE_MODE); // the process's umask may have taken bits away
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
