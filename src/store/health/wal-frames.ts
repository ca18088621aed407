/**
 * Reads the frames of a write-ahead log as SQLite's file format defines them (https://sqlite.org/fileformat2.html#walformat). SQLite stops
 * at the first frame whose checksum is wrong and forgets the rest without a word; this counts what it would forget.
 */
import { endianness } from "node:os";

export const WAL_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
const MAGIC_LITTLE_ENDIAN = 0x377f0682;
const MAGIC_BIG_ENDIAN = 0x377f0683;
const MIN_PAGE_BYTES = 512;
const MAX_PAGE_BYTES = 65_536;
const HOST_IS_BIG_ENDIAN = endianness() === "BE";

/** Two running sums over 32-bit words. */
type Checksum = readonly [number, number];

export interface WalLayout {
  readonly pageBytes: number;
  /** The order in which checksums read the words of a page. */
  readonly bigEndian: boolean;
  /** New with every restart of the log: frames with another salt are left over from before. As hexadecimal digits. */
  readonly salt: string;
}

export interface WalHeader extends WalLayout {
  readonly checksum: Checksum;
}

/** Null when SQLite would not accept it, and would therefore ignore the whole log. */
export function readWalHeader(bytes: Buffer): WalHeader | null {
  if (bytes.length < WAL_HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  if (magic !== MAGIC_LITTLE_ENDIAN && magic !== MAGIC_BIG_ENDIAN) return null;
  const pageBytes = bytes.readUInt32BE(8);
  if (!isPageSize(pageBytes)) return null;
  const bigEndian = magic === MAGIC_BIG_ENDIAN;
  const checksum = addToChecksum([0, 0], bytes.subarray(0, 24), bigEndian);
  if (!isSame(checksum, checksumAt(bytes, 24))) return null;
  return { pageBytes, bigEndian, salt: saltAt(bytes, 16), checksum };
}

export function isPageSize(bytes: number): boolean {
  return bytes >= MIN_PAGE_BYTES && bytes <= MAX_PAGE_BYTES && (bytes & (bytes - 1)) === 0;
}

export function saltAt(bytes: Buffer, at: number): string {
  return bytes.toString("hex", at, at + 8);
}

export interface FrameCount {
  /** Frames up to the last commit that SQLite reads. Whatever follows them is not part of the database. */
  readonly committed: number;
  /**
   * Frames behind a bad one that belong to this log, up to the last commit among them, and how many commits those are. Writing goes from
   * front to back, so a process that was killed leaves none: each commit here is one that SQLite will forget.
   */
  readonly unreachable: { readonly frames: number; readonly commits: number };
}

/** Takes the frames one after the other. `start` is the checksum of the header; null when the header cannot be trusted. */
export function createFrameCounter(layout: WalLayout, start: Checksum | null) {
  let before: Checksum = start ?? [0, 0];
  let readable = start !== null;
  let seen = 0;
  let committed = 0;
  let lastUnreachable = 0;
  let commits = 0;

  return {
    push(frame: Buffer): void {
      seen++;
      const sum = addToChecksum(
        addToChecksum(before, frame.subarray(0, 8), layout.bigEndian),
        frame.subarray(FRAME_HEADER_BYTES),
        layout.bigEndian,
      );
      const written = checksumAt(frame, 16);
      const follows = saltAt(frame, 8) === layout.salt && frame.readUInt32BE(0) !== 0 && isSame(sum, written);
      const isCommit = frame.readUInt32BE(4) !== 0;
      before = written; // as it stands in the file: the frame after a bad one is judged by itself
      readable &&= follows;
      if (!follows || !isCommit) return;
      if (readable) committed = seen;
      else {
        lastUnreachable = seen;
        commits++;
      }
    },
    result(): FrameCount {
      const frames = lastUnreachable === 0 ? 0 : lastUnreachable - committed;
      return { committed, unreachable: { frames, commits } };
    },
  };
}

export function addToChecksum([first, second]: Checksum, bytes: Buffer, bigEndian: boolean): Checksum {
  let [a, b] = [first, second];
  const words = wordsOf(bytes, bigEndian);
  for (let at = 0; at + 1 < words.length; at += 2) {
    a = (a + (words[at] ?? 0) + b) >>> 0;
    b = (b + (words[at + 1] ?? 0) + a) >>> 0;
  }
  return [a, b];
}

function wordsOf(bytes: Buffer, bigEndian: boolean): Uint32Array {
  const inPlace = bigEndian === HOST_IS_BIG_ENDIAN && bytes.byteOffset % 4 === 0;
  if (inPlace) return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  const copy = Buffer.from(new Uint8Array(bytes).buffer); // begins at offset 0, which a view of words needs
  if (bigEndian !== HOST_IS_BIG_ENDIAN) copy.swap32();
  return new Uint32Array(copy.buffer, 0, copy.length >> 2);
}

function checksumAt(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isSame(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}
