/** Private files that the gateway appends to, logs and transcripts alike: readable by its user alone, and never written through a link. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { GatewayError } from "../contracts/errors.ts";

/** What writers need from a file system; the real one is `systemDisk`. */
export interface FileDisk {
  /** Opens for appending, made private, never through a link. Gives the current size. */
  open(path: string): { readonly fd: number; readonly bytes: number };
  /** Returns how many bytes were taken; may be fewer than given. */
  write(fd: number, data: Uint8Array): number;
  close(fd: number): void;
  remove(path: string): void;
}

export const systemDisk: FileDisk = {
  open(path) {
    const before = lstatSync(path, { throwIfNoEntry: false });
    if (before && !before.isFile()) throw notAFile(path);
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
    const opened = fstatSync(fd);
    if (!opened.isFile() || opened.nlink > 1) {
      closeSync(fd);
      throw notAFile(path);
    }
    if ((opened.mode & 0o077) !== 0) chmodSync(path, 0o600);
    return { fd, bytes: opened.size };
  },
  write: (fd, data) => writeSync(fd, data),
  close: (fd) => closeSync(fd),
  remove: (path) => unlinkSync(path),
};

function notAFile(path: string): GatewayError {
  return new GatewayError("home_unusable", "a file to write is not a plain file", {
    fields: { path },
    say: `${path} is a link or not a plain file, so nothing is written there. Move it away and start again.`,
  });
}

/** Throws GatewayError when something else than a folder is there. */
export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lstatSync(folder).isDirectory()) return;
  throw new GatewayError("home_unusable", "a folder to write to is not a folder", {
    fields: { folder },
    say: `${folder} is a link or not a folder, so nothing is written there. Move it away and start again.`,
  });
}

export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there yet, or not readable: nothing to list either way
  }
}
