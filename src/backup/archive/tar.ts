/** Headers of tar archives (POSIX pax), written and read. Holds no data and opens nothing. Reads only what it writes: files, folders and symbolic links. */
import { backupDamaged } from "../damaged.ts";

export const BLOCK_BYTES = 512;
/** Of a name that does not fit into a header. Linux takes no longer paths. */
const MAX_PATH_BYTES = 4_096;
const MAX_PAX_BYTES = 4 * MAX_PATH_BYTES;
const NAME_BYTES = 100;
/** Eleven octal digits. */
const MAX_HEADER_SIZE = 8 ** 11 - 1;

type EntryKind = "file" | "folder" | "link";

export interface TarEntry {
  readonly kind: EntryKind;
  /** Relative, with slashes. */
  readonly path: string;
  readonly mode: number;
  /** Of the data that follows; 0 for folders and links. */
  readonly bytes: number;
  readonly modifiedAt: number;
  /** Of a link. */
  readonly target: string;
}

const TYPE_OF: Readonly<Record<EntryKind, string>> = { file: "0", link: "2", folder: "5" };
const KIND_OF: Readonly<Record<string, EntryKind>> = { "0": "file", "2": "link", "5": "folder" };
const PAX = "x";

/** What stands before the data of an entry. */
export function headerOf(entry: TarEntry): Uint8Array {
  const records: Record<string, string> = {};
  if (!fitsHeader(entry.path)) records["path"] = entry.path;
  if (!fitsHeader(entry.target)) records["linkpath"] = entry.target;
  if (entry.bytes > MAX_HEADER_SIZE) records["size"] = String(entry.bytes);
  const header = block(entry, TYPE_OF[entry.kind]);
  if (Object.keys(records).length === 0) return header;
  const data = Buffer.from(Object.entries(records).map(paxRecord).join(""));
  const pax = block({ ...entry, path: "pax", target: "", mode: 0o600, bytes: data.length }, PAX);
  return Buffer.concat([pax, data, padding(data.length), header]);
}

/** Fills the last block of data. */
export function padding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** Two empty blocks. */
export const ARCHIVE_END: Uint8Array = new Uint8Array(2 * BLOCK_BYTES);

function fitsHeader(text: string): boolean {
  return text.length <= NAME_BYTES && /^[\x20-\x7e]*$/.test(text);
}

/** "LENGTH key=value\n", where the length counts itself. */
function paxRecord([key, value]: readonly [string, string]): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function block({ path, target, mode, bytes, modifiedAt }: TarEntry, type: string): Uint8Array {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
  header.write(fitsHeader(path) ? path : "long", 0, NAME_BYTES, "latin1");
  header.write(octal(mode & 0o777, 7), 100, "latin1");
  header.write(octal(0, 7), 108, "latin1");
  header.write(octal(0, 7), 116, "latin1");
  header.write(octal(bytes > MAX_HEADER_SIZE ? 0 : bytes, 11), 124, "latin1");
  header.write(octal(Math.max(0, Math.floor(modifiedAt / 1_000)), 11), 136, "latin1");
  header.write(" ".repeat(8), 148, "latin1");
  header.write(type, 156, "latin1");
  header.write(fitsHeader(target) ? target : "long", 157, NAME_BYTES, "latin1");
  header.write("ustar\0" + "00", 257, "latin1");
  header.write(`${octal(sumOf(header), 6)}\0 `, 148, "latin1");
  return header;
}

function sumOf(header: Uint8Array): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

type ReadHeader =
  | { readonly kind: "end" }
  /** So many bytes of further fields follow, then the header they belong to. */
  | { readonly kind: "fields"; readonly bytes: number }
  | { readonly kind: "entry"; readonly entry: TarEntry };

/** `fields` are those that stood before this header. */
export function readHeader(header: Buffer, fields: ReadonlyMap<string, string>): ReadHeader {
  if (header.every((byte) => byte === 0)) return { kind: "end" };
  const written = Number.parseInt(header.toString("latin1", 148, 154), 8);
  const blank = Buffer.from(header).fill(0x20, 148, 156);
  if (written !== sumOf(blank)) throw backupDamaged("the header of an entry does not match its sum");
  const text = (from: number, to: number): string => header.toString("latin1", from, to).replace(/\0.*$/s, "");
  const type = text(156, 157);
  const bytes = fields.has("size") ? Number(fields.get("size")) : Number.parseInt(text(124, 136), 8);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw backupDamaged("an entry has no length");
  if (type === PAX) {
    if (bytes > MAX_PAX_BYTES) throw backupDamaged("the name of an entry is too long");
    return { kind: "fields", bytes };
  }
  const kind = KIND_OF[type];
  if (kind === undefined) throw backupDamaged("an entry is neither a file nor a folder nor a link");
  const path = checkedPath(fields.get("path") ?? text(0, NAME_BYTES));
  return {
    kind: "entry",
    entry: {
      kind,
      path,
      mode: Number.parseInt(text(100, 108), 8) & 0o777,
      bytes: kind === "file" ? bytes : 0,
      modifiedAt: Number.parseInt(text(136, 148), 8) * 1_000,
      target: fields.get("linkpath") ?? text(157, 157 + NAME_BYTES),
    },
  };
}

export function readFields(data: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < data.length;) {
    const length = Number.parseInt(data.toString("latin1", at, at + 6), 10);
    const record = data.toString("utf8", at, at + length);
    const [, key, value] = /^\d+ ([a-z]+)=([^]*)\n$/.exec(record) ?? [];
    if (key === undefined || value === undefined) throw backupDamaged("the name of an entry cannot be read");
    fields.set(key, value);
    at += length;
  }
  return fields;
}

/** A path of a backup stays inside the folder it is written to, whoever made the backup. */
function checkedPath(path: string): string {
  const parts = path.split("/");
  const inside = parts.every((part) => part !== "" && part !== "." && part !== "..");
  if (!inside || path.includes("\0") || Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw backupDamaged("an entry is named outside of the state directory");
  return path;
}
