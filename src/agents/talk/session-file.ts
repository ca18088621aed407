/** Session files: made by the gateway before pi opens them, and cut back before a retry. Only plain names below the sessions folder are accepted. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { parseJson } from "../../kit/json.ts";
import { writeWhole } from "../../kit/write-whole.ts";
import { usageOfLines } from "./entry-usage.ts";
import { isFields } from "./protocol.ts";

const NAME = /^[a-z0-9-]{8,80}\.jsonl$/;
const PASSING = /^(?:delegate|request)-[a-z0-9-]+\.jsonl$|\.jsonl\.download-/;
/** Where a process looks while it is only asked what it can do. Always empty. */
export const PROBE_FILE = "which-models.jsonl";
/** Longer than any turn. */
const PASSING_KEPT_MS = 24 * 60 * 60_000;
const SESSION_VERSION = 3;
const MAX_HEADER_BYTES = 8_192;
const MAX_REST_BYTES = 32 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const LINE_FEED = 10;
/** Room in the first line, so that it can be corrected in place: sizes of finished turns are remembered and must not shift. */
const HEADER_ROOM_BYTES = 1_024;

export interface SessionHeader {
  readonly id: string;
  readonly at: number;
  readonly cwd: string;
  /** Set when this file takes the place of a damaged one: how long that was at the end of its last turn. */
  readonly startedOverAt?: number;
}

export function isSessionFileName(name: string): boolean {
  return NAME.test(name);
}

/** Of a session that has a row: not one of a single request or delegated turn. */
export function isKeptSession(name: string): boolean {
  return isSessionFileName(name) && !PASSING.test(name) && name !== PROBE_FILE;
}

export function sessionPath(folder: string, name: string): string {
  if (!isSessionFileName(name)) throw new GatewayError("internal", "not a session file name", { fields: { name } });
  return join(folder, name);
}

/** Makes the file with its header, and with these entries, unless it is there. pi keeps the first prompt of a new session only in a file that already exists. */
export async function ensureSessionFile(path: string, header: SessionHeader, entries = ""): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  const made = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600).catch(ifExists);
  if (!made) return;
  try {
    await made.write(headerLine(header) + entries);
  } finally {
    await made.close();
  }
}

/** Cuts the file back to what belonged to finished turns, and says what the rest had cost. Never grows it; what would not even hold the header begins anew. */
export async function rewindSessionFile(
  path: string,
  settledBytes: number,
  header: SessionHeader,
): Promise<ReturnType<typeof usageOfLines>> {
  await ensureSessionFile(path, header);
  const file = await open(path, "r+");
  try {
    const first = await firstLine(file);
    const lost = usageOfLines(await rest(file, settledBytes));
    if (first !== null && Buffer.byteLength(first) < settledBytes) {
      const { size } = await file.stat();
      if (settledBytes < size) await file.truncate(settledBytes);
      return lost;
    }
    await file.truncate(0);
    await writeWhole(file, Buffer.from(headerLine(header)), 0);
    return lost;
  } finally {
    await file.close();
  }
}

/** Sessions follow the workspace: pi refuses one whose folder is gone, as after a move of the state directory. */
export async function moveSession(path: string, cwd: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const line = (await firstLine(file)) ?? "";
    const parsed = parseJson(line, { maxChars: MAX_HEADER_BYTES, maxDepth: 8 });
    if (!parsed.ok || !isFields(parsed.value) || parsed.value.type !== "session" || parsed.value.cwd === cwd) return;
    const moved = Buffer.from(JSON.stringify({ ...parsed.value, cwd }));
    const room = Buffer.byteLength(line);
    if (moved.length > room) return; // no room to say so; pi will tell what is wrong
    await writeWhole(file, Buffer.concat([moved, Buffer.alloc(room - moved.length, " ")]), 0);
  } finally {
    await file.close();
  }
}

/** 0 when there is no such file; a link is none, because an agent may have made it. Asked three times in every turn, so it is one system call and not a trip through the thread pool. */
export function sizeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : 0;
}

/**
 * The end of the last whole line; 0 when there is no such file. A full disk can leave half a line behind, and the next entry must not be
 * written into it.
 */
export function settledSize(path: string): number {
  const file = openPlain(path);
  if (file === null) return 0;
  try {
    const found = fstatSync(file);
    const size = found.isFile() ? found.size : 0;
    if (size === 0) return 0;
    const last = Buffer.alloc(1); // nearly always all there is to read
    if (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === LINE_FEED) return size;
    const chunk = Buffer.alloc(Math.min(size, TAIL_BYTES));
    for (let end = size; end > 0; end -= chunk.length) {
      const from = Math.max(0, end - chunk.length);
      const found = chunk.subarray(0, readSync(file, chunk, 0, end - from, from)).lastIndexOf(LINE_FEED);
      if (found >= 0) return from + found + 1;
    }
    return 0;
  } finally {
    closeSync(file);
  }
}

/** Null: there is none, or it is a link. */
function openPlain(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ELOOP")) return null;
    throw error;
  }
}

/** Where a file is written before it gets its name. */
export function downloadPath(path: string, id: string): string {
  return `${path}.download-${id}`;
}

/** Files of delegated turns and of single requests, and half of a download, that a crash has left behind; a fresh one may be in use. */
export async function sweepPassing(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []); // there is no folder before the first session
  for (const name of names.filter((one) => PASSING.test(one))) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: now })); // removed by its lease just now
    if (now - mtimeMs > PASSING_KEPT_MS) await rm(join(folder, name), { force: true });
  }
}

/** What stands after `from`; of a very long rest only the beginning. */
async function rest(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(Math.min(Math.max(0, size - from), MAX_REST_BYTES));
  const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, from);
  return buffer.toString("utf8", 0, bytesRead);
}

/** Without its line feed; null when there is no complete line. */
async function firstLine(file: FileHandle): Promise<string | null> {
  const buffer = Buffer.alloc(MAX_HEADER_BYTES);
  const { bytesRead } = await file.read(buffer, 0, MAX_HEADER_BYTES, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(LINE_FEED);
  return end < 0 ? null : buffer.toString("utf8", 0, end);
}

export function headerLine({ id, at, cwd, startedOverAt }: SessionHeader): string {
  const timestamp = new Date(at).toISOString();
  const json = JSON.stringify({ type: "session", version: SESSION_VERSION, id, timestamp, cwd, startedOverAt });
  return `${json}${" ".repeat(Math.max(0, HEADER_ROOM_BYTES - 1 - Buffer.byteLength(json)))}\n`;
}

function ifExists(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "EEXIST") return null;
  throw error;
}
