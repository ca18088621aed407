/** Reads an archive from a stream of bytes, entry by entry, and checks every file against the manifest at its end. Writes nothing itself. */
import { createHash } from "node:crypto";
import { backupDamaged } from "../damaged.ts";
import { type Manifest, MANIFEST_PATH, type ManifestFile, parseManifest } from "../manifest.ts";
import { BLOCK_BYTES, padding, readFields, readHeader, type TarEntry } from "./tar.ts";

const MAX_ENTRIES = 2_000_000;
const MAX_MANIFEST_BYTES = 512 * 1024 * 1024;

/** What is done with an entry. `data` has to be read to its end. */
export type TakeEntry = (entry: TarEntry, data: AsyncIterable<Uint8Array>) => Promise<void>;

/** Throws `backup_damaged` when anything is missing, added or different. */
export async function readArchive(bytes: AsyncIterable<Uint8Array>, take: TakeEntry): Promise<Manifest> {
  const input = createInput(bytes);
  const found = new Map<string, ManifestFile>();
  let manifest: Manifest | null = null;
  for (let count = 0; ; count++) {
    if (count > MAX_ENTRIES) throw backupDamaged("it holds too many files");
    const entry = await nextEntry(input);
    if (entry === null) break;
    if (manifest !== null) throw backupDamaged("it goes on after its manifest");
    if (found.has(entry.path)) throw backupDamaged(`it holds ${entry.path} twice`);
    if (entry.path === MANIFEST_PATH) {
      if (entry.bytes > MAX_MANIFEST_BYTES) throw backupDamaged("its manifest is too large");
      manifest = parseManifest((await input.exactly(entry.bytes)).toString("utf8"));
      await input.exactly(padding(entry.bytes).length);
      continue;
    }
    const hash = createHash("sha256");
    await take(entry, hashed(input, entry.bytes, hash));
    await input.exactly(padding(entry.bytes).length);
    if (entry.kind === "file")
      found.set(entry.path, { path: entry.path, bytes: entry.bytes, sha256: hash.digest("hex") });
  }
  if (manifest === null) throw backupDamaged("it ends before its manifest, so it was never finished or was cut off");
  await input.end();
  compare(manifest, found);
  return manifest;
}

function compare({ files }: Manifest, found: ReadonlyMap<string, ManifestFile>): void {
  for (const { path, bytes, sha256 } of files) {
    const read = found.get(path);
    if (!read) throw backupDamaged(`${path} is missing`);
    if (read.bytes !== bytes || read.sha256 !== sha256) throw backupDamaged(`${path} is not what was written`);
  }
  if (found.size !== files.length) throw backupDamaged("it holds files that its manifest does not name");
}

async function nextEntry(input: Input): Promise<TarEntry | null> {
  let fields: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const header = readHeader(await input.exactly(BLOCK_BYTES), fields);
    if (header.kind === "entry") return header.entry;
    if (header.kind === "end") return null;
    fields = readFields(await input.exactly(header.bytes));
    await input.exactly(padding(header.bytes).length);
  }
}

async function* hashed(
  input: Input,
  bytes: number,
  hash: { update(data: Uint8Array): unknown },
): AsyncGenerator<Uint8Array, void, void> {
  for (let left = bytes; left > 0;) {
    const piece = await input.some(left);
    hash.update(piece);
    left -= piece.length;
    yield piece;
  }
}

interface Input {
  /** Throws when the stream ends before. */
  exactly(bytes: number): Promise<Buffer>;
  /** At least one byte, at most `max`. */
  some(max: number): Promise<Uint8Array>;
  /** Reads what is left, so that whatever stands before this stream says whether it was whole. */
  end(): Promise<void>;
}

function createInput(bytes: AsyncIterable<Uint8Array>): Input {
  const pieces = bytes[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array();
  const some = async (max: number): Promise<Uint8Array> => {
    while (held.length === 0) {
      const next = await pieces.next();
      if (next.done) throw backupDamaged("it ends in the middle, so it was never finished or was cut off");
      held = next.value;
    }
    const piece = held.subarray(0, max);
    held = held.subarray(piece.length);
    return piece;
  };
  return {
    some,
    async exactly(wanted) {
      const parts: Uint8Array[] = [];
      for (let left = wanted; left > 0;) {
        const piece = await some(left);
        parts.push(piece);
        left -= piece.length;
      }
      return Buffer.concat(parts);
    },
    async end() {
      while (!(await pieces.next()).done) held = new Uint8Array();
    },
  };
}
