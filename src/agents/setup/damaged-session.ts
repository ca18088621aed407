/**
 * Session files that cannot be trusted: gone, without a header, or with a line that is no entry. pi skips such a line without a word, and
 * with it everything the conversation had before it, or refuses the file for good. The file is kept beside the new one.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { createLineSplitter } from "../../kit/jsonl.ts";
import { parseJson } from "../../kit/json.ts";
import { writeWhole } from "../../kit/write-whole.ts";
import { type Fields, isFields } from "../talk/protocol.ts";
import { headerLine, isSessionFileName, type SessionHeader } from "../talk/session-file.ts";
import { findVisit } from "../talk/session-visit.ts";

const CHUNK_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
export const LINE_LIMITS = { maxChars: MAX_LINE_BYTES, maxDepth: 256 };
const LINE_FEED = 10;

export interface SessionFileState {
  /** Follows "the session file"; null when it is in order. */
  readonly flaw: string | null;
  /** Null when there is none that could be read. */
  readonly header: Fields | null;
  readonly headerBytes: number;
}

/** Looks at what belongs to finished turns; the rest is cut off anyway. */
export async function inspectSessionFile(path: string, settledBytes: number): Promise<SessionFileState> {
  await using opened = await openIfThere(path);
  if (!opened) return { flaw: "is missing", header: null, headerBytes: 0 };
  const reader = createReader();
  for await (const chunk of chunksOf(opened.file, settledBytes)) {
    reader.push(chunk);
    if (reader.flaw() !== null) break;
  }
  return reader.result();
}

/** Moves the file out of the way and begins a new one, which says so until a turn has ended in it. Returns where the old one is, if there was one. */
export async function startOver(
  path: string,
  header: SessionHeader,
  { settledBytes, at }: { readonly settledBytes: number; readonly at: number },
): Promise<string | null> {
  const aside = `${path}${ASIDE}${new Date(at).toISOString().replaceAll(/[:.]/g, "-")}`;
  const kept = await rename(path, aside).then(
    () => aside,
    (error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    },
  );
  const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    await writeWhole(file, Buffer.from(headerLine({ ...header, startedOverAt: settledBytes })), 0);
  } finally {
    await file.close();
  }
  return kept;
}

/** No turn has ended since the session was started over: whoever opens it still has to be told what was said before. */
export function isStartedOver(header: Fields | null, settledBytes: number): boolean {
  return header?.startedOverAt === settledBytes;
}

const ASIDE = ".damaged-";

/**
 * Removes the file of a session that is gone, and every damaged one that was kept beside it. A name that is no session file is ignored.
 * Throws `conflict` while a process has the file, which would bring it back when its turn is over.
 */
export async function removeSession(home: string, name: string): Promise<void> {
  if (!isSessionFileName(name)) return;
  if (findVisit(home, name) !== null)
    throw new GatewayError("conflict", "a process still has the file of this session");
  const path = join(home, "sessions", name);
  await rm(path, { force: true });
  const names = await readdir(dirname(path)).catch(() => []); // there is no folder before the first session
  for (const name of names.filter((one) => one.startsWith(`${basename(path)}${ASIDE}`)))
    await rm(join(dirname(path), name), { force: true });
}

const NO_HEADER = "has no header";

function createReader() {
  const ids = new Set<string>();
  let header: Fields | null = null;
  let headerBytes = 0;
  let flaw: string | null = null;
  let lastByte: number | null = null;

  const take = (line: string): void => {
    if (flaw !== null || line.trim() === "") return;
    const parsed = parseJson(line, LINE_LIMITS);
    const entry = parsed.ok && isFields(parsed.value) ? parsed.value : null;
    if (header === null) {
      if (entry?.type !== "session" || typeof entry.id !== "string") return void (flaw = NO_HEADER);
      header = entry;
      headerBytes = Buffer.byteLength(line) + 1;
      return;
    }
    if (entry === null || typeof entry.type !== "string") flaw = "has a line that is no entry";
    else if (typeof entry.parentId === "string" && !ids.has(entry.parentId)) flaw = "lacks an entry";
    if (typeof entry?.id === "string") ids.add(entry.id);
  };
  const lines = createLineSplitter(MAX_LINE_BYTES, {
    line: take,
    tooLong: () => {
      flaw ??= "has a line that is too long";
    },
  });
  return {
    push(chunk: Uint8Array): void {
      lines.push(chunk);
      lastByte = chunk.at(-1) ?? lastByte;
    },
    flaw: () => flaw,
    result(): SessionFileState {
      if (lastByte === null) flaw = "is empty";
      else if (header === null) flaw = NO_HEADER;
      else if (lastByte !== LINE_FEED) flaw ??= "has a last line that was cut";
      return { flaw, header, headerBytes };
    },
  };
}

async function* chunksOf(file: FileHandle, end: number): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.alloc(Math.max(1, Math.min(CHUNK_BYTES, end)));
  for (let at = 0; at < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openIfThere(path: string) {
  try {
    const file = await open(path, "r");
    return { file, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
