/**
 * Looks for damage in the write-ahead log before SQLite opens it, because opening it is what forgets the damaged part. Changes nothing.
 * Two witnesses: frames behind a bad one, and the index that a killed process leaves in the `-shm` file, which says how long the log was.
 * A log that was cut at its end, and whose index is gone too, cannot be told from one that was never longer.
 */
import { type FileHandle, open } from "node:fs/promises";
import {
  addToChecksum,
  createFrameCounter,
  FRAME_HEADER_BYTES,
  type FrameCount,
  isPageSize,
  readWalHeader,
  saltAt,
  WAL_HEADER_BYTES,
  type WalHeader,
  type WalLayout,
} from "./wal-frames.ts";

/** Numbers are lower bounds: what a damaged frame held is not known. */
export interface WalDamage {
  /** 0: all of them had been copied into the database before. */
  readonly missingFrames: number;
  /** Null when only the index knows of them, which counts frames. */
  readonly missingCommits: number | null;
  /** Frames that SQLite still reads. */
  readonly readableFrames: number;
  /** A checkpoint had copied more into the database than can still be read: the rest of the log would put old pages over new ones. */
  readonly databaseIsNewer: boolean;
}

/** The header of the index twice, then how far the checkpoint has come (https://sqlite.org/walformat.html#the_wal_index_file_format). */
const INDEX_HEADER_BYTES = 48;
const BACKFILLED_AT = 96;
const BACKFILL_BEGUN_AT = 128;
const INDEX_BYTES = 136;
const FRAMES_AT_ONCE = 256;
/** A running gateway adds to the log while it is read, and may begin it anew: a frame that was half written then is whole at the next look. */
const MAX_LOOKS = 3;

/** Null: nothing is missing, as far as can be known. */
export async function findWalDamage(databaseFile: string): Promise<WalDamage | null> {
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const index = await readIndex(databaseFile); // before the log: a running gateway may only have added to that since
    const log = await readLog(databaseFile, index);
    const damage = judge(log?.count ?? NOTHING_READ, index && (log?.salt ?? index.salt) === index.salt ? index : null);
    if (damage === null) return null;
    const [indexNow, logNow] = [await readIndex(databaseFile), await readLog(databaseFile, index)];
    const isSame = indexNow?.salt === index?.salt && logNow?.salt === log?.salt;
    if (isSame && logNow?.count.committed === log?.count.committed) return damage;
  }
  return null; // it changes all the time: a gateway is running, and no damaged log grows where it is damaged
}

/** For logs, status and `doctor`. */
export function describeDamage({ missingFrames, missingCommits }: WalDamage): string {
  if (missingFrames === 0) return "nothing is missing, because all of it was in the database already";
  const pages = `at least ${missingFrames} ${missingFrames === 1 ? "page" : "pages"}`;
  if (missingCommits === null) return `${pages} of what was written last are missing`;
  return `${pages} of at least ${missingCommits} ${missingCommits === 1 ? "commit" : "commits"} are missing`;
}

/** `index`: what the index says about this very log; null when it says nothing. */
export function judge(
  { committed, unreachable }: FrameCount,
  index: { readonly frames: number; readonly backfilled: number } | null,
): WalDamage | null {
  const { frames, backfilled } = index ?? { frames: 0, backfilled: 0 };
  const end = Math.max(frames, unreachable.frames === 0 ? 0 : committed + unreachable.frames);
  if (end <= committed) return null;
  if (committed === 0 && backfilled >= end) return null; // SQLite ignores the whole log then, and needs nothing of it
  const missingFrames = Math.max(0, end - Math.max(committed, backfilled));
  return {
    missingFrames,
    missingCommits: unreachable.commits > 0 && missingFrames > 0 ? unreachable.commits : null,
    readableFrames: committed,
    databaseIsNewer: backfilled > 0 && backfilled >= committed,
  };
}

interface WalIndex extends WalLayout {
  /** Up to the last commit. */
  readonly frames: number;
  /** How many of them are in the database as well; 0 while a checkpoint is under way, when it is not known. */
  readonly backfilled: number;
}

/** A process that is writing the header makes its two copies differ, and then nothing is known. */
async function readIndex(databaseFile: string): Promise<WalIndex | null> {
  await using file = await openIfThere(`${databaseFile}-shm`);
  const bytes = file ? await readAt(file.handle, 0, INDEX_BYTES) : Buffer.alloc(0);
  const header = bytes.subarray(0, INDEX_HEADER_BYTES);
  if (bytes.length < INDEX_BYTES || !header.equals(bytes.subarray(INDEX_HEADER_BYTES, INDEX_HEADER_BYTES * 2)))
    return null;
  const words = new Uint32Array(new Uint8Array(bytes).buffer); // in the order of this machine, unlike the log
  const [first, second] = addToChecksum([0, 0], bytes.subarray(0, 40), isBigEndian());
  if (header[12] !== 1 || first !== words[10] || second !== words[11]) return null;
  const pageSize = new Uint16Array(words.buffer)[7] ?? 0;
  const backfilled = words[BACKFILLED_AT / 4] ?? 0;
  return {
    frames: words[4] ?? 0,
    backfilled: words[BACKFILL_BEGUN_AT / 4] === backfilled ? backfilled : 0,
    salt: saltAt(header, 32),
    bigEndian: header[13] === 1,
    pageBytes: pageSize === 1 ? 65_536 : pageSize,
  };
}

function isBigEndian(): boolean {
  return new Uint8Array(new Uint32Array([1]).buffer)[0] === 0;
}

const NOTHING_READ: FrameCount = { committed: 0, unreachable: { frames: 0, commits: 0 } };

interface ReadLog {
  readonly salt: string;
  readonly count: FrameCount;
}

/** Null when there is no log, or nothing in it. */
async function readLog(databaseFile: string, index: WalIndex | null): Promise<ReadLog | null> {
  await using file = await openIfThere(`${databaseFile}-wal`);
  if (!file) return null;
  const { handle } = file;
  const header = readWalHeader(await readAt(handle, 0, WAL_HEADER_BYTES));
  const layout = header ?? (await guessLayout(databaseFile, handle, index));
  if (!layout) return null;
  const start = header?.checksum ?? null;
  const counter = createFrameCounter(layout, start);
  for await (const frame of framesIn(handle, layout)) counter.push(frame);
  return { salt: layout.salt, count: counter.result() };
}

/** What the log would be if its header were right: by the index, else by the database's page size and the first frame. */
async function guessLayout(
  databaseFile: string,
  log: FileHandle,
  index: WalIndex | null,
): Promise<Omit<WalHeader, "checksum"> | null> {
  if (index && isPageSize(index.pageBytes)) return index;
  await using database = await openIfThere(databaseFile);
  const top = database ? await readAt(database.handle, 0, 18) : Buffer.alloc(0);
  const written = top.length < 18 ? 0 : top.readUInt16BE(16);
  const pageBytes = written === 1 ? 65_536 : written;
  const first = await readAt(log, WAL_HEADER_BYTES, FRAME_HEADER_BYTES);
  if (!isPageSize(pageBytes) || first.length < FRAME_HEADER_BYTES) return null;
  return { pageBytes, bigEndian: isBigEndian(), salt: saltAt(first, 8) };
}

/** Whole frames only; a half one at the end is a write that did not finish. */
async function* framesIn(log: FileHandle, { pageBytes }: WalLayout): AsyncGenerator<Buffer, void> {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  for (let at = WAL_HEADER_BYTES; ; at += frameBytes * FRAMES_AT_ONCE) {
    const chunk = await readAt(log, at, frameBytes * FRAMES_AT_ONCE);
    for (let start = 0; start + frameBytes <= chunk.length; start += frameBytes)
      yield chunk.subarray(start, start + frameBytes);
    if (chunk.length < frameBytes * FRAMES_AT_ONCE) return;
  }
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

async function openIfThere(path: string) {
  try {
    const handle = await open(path, "r");
    return { handle, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
