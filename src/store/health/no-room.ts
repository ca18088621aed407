/**
 * Tells a used-up quota from a failing disk. SQLite knows the full disk alone (ENOSPC); a quota (EDQUOT) is the same to it as a broken
 * device, although nothing is lost by either. So a write of our own beside the database says which it was.
 */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isNoRoom } from "../../kit/no-room.ts";
import { PRIVATE_FILE } from "../private-files.ts";
import { sqliteCode } from "./write-faults.ts";

const PROBE_FILE = "room-probe.tmp";
/** More than one commit adds to the log. */
const PROBE_BYTES = 1024 * 1024;

/** Runs `work`; a write that found no room throws what a full disk throws. A failed sync stays what it is: then pages may be lost. */
export function asFullDisk<T>(work: () => T, noRoom: () => boolean): T {
  try {
    return work();
  } catch (error) {
    if (sqliteCode(error) !== "SQLITE_IOERR_WRITE" || !noRoom()) throw error;
    throw Object.assign(new Error("disk or quota is full", { cause: error }), { code: "SQLITE_FULL" });
  }
}

/** `write` can be given by tests, which have no quota. */
export function noRoomIn(folder: string, write: (fd: number, bytes: Uint8Array) => void = writeSync): boolean {
  const file = join(folder, PROBE_FILE);
  let fd: number | null = null;
  try {
    fd = openSync(file, "w", PRIVATE_FILE);
    write(fd, new Uint8Array(PROBE_BYTES).fill(1));
    return false;
  } catch (error) {
    return isNoRoom(error);
  } finally {
    if (fd !== null) closeSync(fd);
    rmSync(file, { force: true });
  }
}
