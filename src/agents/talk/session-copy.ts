/**
 * Copies the beginning of a session file under another name, for a session that goes on from an earlier point. pi only ever appends to its
 * files, so the beginning up to the end of a turn is what the file was then. Positions in the copy are the same as in the original.
 */
import { constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FileChange, SessionFileStore } from "../../contracts/store/session-files.ts";
import { parseJson } from "../../kit/json.ts";
import { isFields } from "./protocol.ts";
import { sessionPath } from "./session-file.ts";
import { findVisit } from "./session-visit.ts";

export interface SessionCopy {
  readonly from: string;
  readonly to: string;
  /** pi's own id for the new session. */
  readonly id: string;
  readonly bytes: number;
  /** When the turn ended whose place `bytes` is: a file that was begun later has replaced the one that is meant. */
  readonly endedAt: number;
}

type Copied =
  /** `change`: what the database is to hold of it; null where session files are on the disk alone. */
  | { readonly kind: "copied"; readonly change: FileChange | null }
  /** A process has the file. */
  | { readonly kind: "busy" }
  /** It is not there, or not as long as it was then, or another one. */
  | { readonly kind: "lost" }
  | { readonly kind: "too_large" };

/** It is held in memory while it is copied. */
const MAX_COPY_BYTES = 256 * 1024 * 1024;
const MAX_HEADER_BYTES = 8_192;
const LINE_FEED = 10;

export async function copySession(
  home: string,
  copy: SessionCopy,
  files: Pick<SessionFileStore, "isLocal" | "find" | "read">,
): Promise<Copied> {
  if (copy.bytes > MAX_COPY_BYTES) return { kind: "too_large" };
  if (findVisit(home, copy.from) !== null) return { kind: "busy" };
  const folder = join(home, "sessions");
  const beginning = (await readLocal(sessionPath(folder, copy.from), copy.bytes)) ?? (await readStored(files, copy));
  const data = beginning && withOwnHeader(beginning, copy);
  if (!data) return { kind: "lost" };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(sessionPath(folder, copy.to), data);
  if (files.isLocal) return { kind: "copied", change: null };
  const digest = new Bun.CryptoHasher("sha256").update(data).digest("hex");
  return { kind: "copied", change: { name: copy.to, grownFrom: null, from: 0, data, digest } };
}

/** The header has another id and the same length. Null: this is not the file that is meant. */
function withOwnHeader(beginning: Buffer, { id, endedAt }: SessionCopy): Buffer | null {
  const end = beginning.indexOf(LINE_FEED);
  if (end < 0 || end > MAX_HEADER_BYTES || beginning.at(-1) !== LINE_FEED) return null;
  const parsed = parseJson(beginning.toString("utf8", 0, end), { maxChars: MAX_HEADER_BYTES, maxDepth: 8 });
  if (!parsed.ok || !isFields(parsed.value) || parsed.value.type !== "session") return null;
  if (!(Date.parse(String(parsed.value.timestamp)) <= endedAt)) return null;
  const json = Buffer.from(JSON.stringify({ ...parsed.value, id }));
  if (json.length > end) return null;
  return Buffer.concat([json, Buffer.alloc(end - json.length, " "), beginning.subarray(end)]);
}

/** Null: it is not there, or shorter. A link is none, because an agent may have made it. */
async function readLocal(path: string, bytes: number): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ifNone);
  if (!file) return null;
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size < bytes) return null;
    const beginning = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(beginning, 0, bytes, 0);
    return bytesRead === bytes ? beginning : null;
  } finally {
    await file.close();
  }
}

/** Another gateway may have had the conversation last. */
async function readStored(
  files: Pick<SessionFileStore, "isLocal" | "find" | "read">,
  { from, bytes }: SessionCopy,
): Promise<Buffer | null> {
  const stored = files.isLocal ? null : await files.find(from);
  if (!stored || stored.bytes < bytes || stored.bytes > MAX_COPY_BYTES) return null;
  const pieces = await Array.fromAsync(files.read(from, stored), (piece) => Buffer.from(piece));
  return Buffer.concat(pieces).subarray(0, bytes);
}

/** Nothing of it stays when it could not be written to its end. */
async function writeDurably(path: string, data: Buffer): Promise<void> {
  const target = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    await target.writeFile(data);
    await target.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

function ifNone(error: unknown): null {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ELOOP")) return null;
  throw error;
}
