/**
 * An archive as a stream of bytes: the files one after the other, then a manifest with the SHA-256 of each. A file that shrinks while it is
 * read is filled up with zeros, because its length stands before it; one that grows is cut at the length it had.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { type Manifest, MANIFEST_PATH, type ManifestFile } from "../manifest.ts";
import { ARCHIVE_END, headerOf, padding, type TarEntry } from "./tar.ts";

const READ_BYTES = 256 * 1024;

/** One thing that belongs into the archive; `from` are the places where it may be found, tried in turn. */
export interface Source {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  readonly from: readonly string[];
}

interface ArchiveParts {
  readonly sources: AsyncIterable<Source> | Iterable<Source>;
  /** The manifest around the files that were written. */
  manifest(files: readonly ManifestFile[], gone: readonly string[]): Manifest;
  /** Told after each piece: the bytes of files that are in. */
  progress(bytes: number): void;
}

export async function* archiveBytes(parts: ArchiveParts, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const files: ManifestFile[] = [];
  const gone: string[] = [];
  for await (const source of parts.sources) {
    signal.throwIfAborted();
    if (source.kind === "file") {
      await using found = await openFirst(source.from);
      if (found === null) gone.push(source.path);
      else files.push(yield* fileBytes(source.path, found, parts.progress, signal));
      continue;
    }
    const entry = await otherEntry(source);
    if (entry === null) gone.push(source.path);
    else yield headerOf(entry);
  }
  const text = Buffer.from(`${JSON.stringify(parts.manifest(files, gone), null, 1)}\n`);
  yield headerOf(plain({ kind: "file", path: MANIFEST_PATH, mode: 0o600, bytes: text.length }));
  yield text;
  yield padding(text.length);
  yield ARCHIVE_END;
}

async function* fileBytes(
  path: string,
  file: FileHandle,
  progress: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, ManifestFile, void> {
  const { size, mode, mtimeMs } = await file.stat();
  yield headerOf({ ...plain({ kind: "file", path, mode, bytes: size }), modifiedAt: mtimeMs });
  const hash = createHash("sha256");
  for (let at = 0; at < size;) {
    signal.throwIfAborted();
    const wanted = Math.min(READ_BYTES, size - at);
    const piece = Buffer.alloc(wanted);
    const { bytesRead } = await file.read(piece, 0, wanted, at);
    const data = bytesRead === 0 ? piece : piece.subarray(0, bytesRead); // nothing left: zeros in its place
    hash.update(data);
    at += data.length;
    progress(data.length);
    yield data;
  }
  yield padding(size);
  return { path, bytes: size, sha256: hash.digest("hex") };
}

/** Files move while they are looked for: a session goes to the process that works on it, and back. */
async function openFirst(places: readonly string[]): Promise<FileHandle | null> {
  for (const place of places) {
    try {
      const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if ((await file.stat()).isFile()) return file;
      await file.close();
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return null;
}

async function otherEntry({ kind, path, from }: Source): Promise<TarEntry | null> {
  const [place = ""] = from;
  try {
    const { mode } = await lstat(place);
    const target = kind === "link" ? await readlink(place) : "";
    return { ...plain({ kind, path, mode, bytes: 0 }), target };
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Deleted since it was listed, or something else by now. */
function isGone(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return ["ENOENT", "ELOOP", "ENOTDIR", "EINVAL", "ENXIO"].includes(code);
}

function plain(entry: Pick<TarEntry, "kind" | "path" | "mode" | "bytes">): TarEntry {
  return { ...entry, modifiedAt: 0, target: "" };
}
