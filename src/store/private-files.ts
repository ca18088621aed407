/** Files and folders that only their owner can read, and what it takes until they are on the disk. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** SQLite gives its side files the mode of the main file, so the main file has to be private before SQLite sees it. */
export async function ensurePrivateFile(file: string): Promise<void> {
  const handle = await open(file, constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW, PRIVATE_FILE);
  try {
    await handle.chmod(PRIVATE_FILE);
  } finally {
    await handle.close();
  }
}

/** A rename is on the disk only when its folder is. */
export function syncFolder(folder: string): Promise<void> {
  return syncPath(folder, constants.O_RDONLY | constants.O_DIRECTORY);
}

export function syncFile(file: string): Promise<void> {
  return syncPath(file, constants.O_RDWR);
}

async function syncPath(path: string, flags: number): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
