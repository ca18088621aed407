/**
 * The one place that opens a path an agent names. The words of the path are judged first; then the file is opened without following a link
 * anywhere on the way, and everything else is decided about what was opened, not about its name. It is read from that handle only.
 */
import { constants, existsSync } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { judgeName } from "./file-rules.ts";
import { judgePath, type MediaRoots } from "./path-rules.ts";

type ReadFile =
  | { readonly ok: true; readonly name: string; readonly data: Uint8Array }
  | { readonly ok: false; readonly because: string };

type AgentFile = ReadFile & { readonly about: OpenedFile | null };

/** Which file it is, as far as one was opened. */
export interface OpenedFile {
  /** Below its root. */
  readonly parts: readonly string[];
  readonly isInBase: boolean;
  /** When it was made, in milliseconds; 0: the file system does not say. */
  readonly bornAt: number;
}

export interface OpenLimits extends MediaRoots {
  readonly maxBytes: number;
  /** Whose files may be sent: the user that the gateway and its agents run as. */
  readonly uid: number;
}

/** With O_NONBLOCK a pipe or device is opened without waiting for its other end; the next check then refuses it. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
const HANDLES = "/proc/self/fd";
const MIB = 1024 * 1024;

const GONE = "There is no such file.";
const NOT_PLAIN =
  "That is not a plain file of this agent: links, folders, devices and files of other users are not sent.";

export async function openAgentFile(path: string, limits: OpenLimits, signal: AbortSignal): Promise<AgentFile> {
  const verdict = judgePath(path, limits);
  if (!verdict.ok) return { ...verdict, about: null };
  const { root, parts } = verdict;
  const named = judgeName(parts);
  if (!named.ok) return { ...named, about: null };
  const opened = await openBelow(root, parts);
  if ("because" in opened) return { ok: false, because: opened.because, about: null };
  await using handle = opened;
  signal.throwIfAborted();
  const name = parts.at(-1) ?? "file";
  const read = await readChecked(handle, { ...limits, root, name, path: join(root, ...parts) });
  const { birthtimeMs } = await handle.stat();
  return { ...read, about: { parts, isInBase: root === limits.base, bornAt: birthtimeMs } };
}

type Opened = FileHandle | { readonly because: string };

/** 6: folder by folder through open handles, so that none of them can be swapped for a link in between. */
async function openBelow(root: string, parts: readonly string[]): Promise<Opened> {
  const folders: FileHandle[] = [];
  try {
    // without a way to name an open handle, the check of the real path below has to be enough
    if (!existsSync(HANDLES)) return await open(join(root, ...parts), READ);
    let folder = await open(root, FOLDER);
    folders.push(folder);
    for (const part of parts.slice(0, -1)) {
      folder = await open(join(HANDLES, String(folder.fd), part), FOLDER);
      folders.push(folder);
    }
    return await open(join(HANDLES, String(folder.fd), parts.at(-1) ?? ""), READ);
  } catch (error) {
    return { because: reasonOf(error) };
  } finally {
    for (const folder of folders) await folder.close();
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return GONE;
  if (code === "ENAMETOOLONG") return "The path is too long.";
  return ["ELOOP", "ENOTDIR", "EMLINK", "EACCES", "EPERM", "ENXIO"].includes(code)
    ? NOT_PLAIN
    : "The file could not be opened.";
}

interface CheckedRead extends OpenLimits {
  readonly root: string;
  readonly name: string;
  readonly path: string;
}

/** 7: about the handle. */
async function readChecked(handle: FileHandle, limits: CheckedRead): Promise<ReadFile> {
  const about = await handle.stat();
  // a second name for the file may be in a folder that agents are not to see
  if (!about.isFile() || about.nlink !== 1 || about.uid !== limits.uid) return { ok: false, because: NOT_PLAIN };
  if (!(await isBelow(handle, limits))) return { ok: false, because: NOT_PLAIN };
  if (about.size === 0) return { ok: false, because: "The file is empty." };
  const tooLarge = `The file is larger than ${Math.floor(limits.maxBytes / MIB)} MiB, which is the most that is sent.`;
  if (about.size > limits.maxBytes) return { ok: false, because: tooLarge };
  const data = await readUpTo(handle, limits.maxBytes);
  return data ? { ok: true, name: limits.name, data } : { ok: false, because: tooLarge };
}

async function isBelow(handle: FileHandle, { root, path }: CheckedRead): Promise<boolean> {
  if (existsSync(HANDLES)) return (await readlink(join(HANDLES, String(handle.fd)))).startsWith(`${root}${sep}`);
  const real = await realpath(path).catch(() => "");
  const [now, opened] = await Promise.all([stat(real).catch(() => null), handle.stat()]);
  return real.startsWith(`${root}${sep}`) && now?.ino === opened.ino && now.dev === opened.dev;
}

const CHUNK_BYTES = 256 * 1024;

/** Null when there is more. A file may grow while it is read; its size before that is not believed. */
export async function readUpTo(handle: Pick<FileHandle, "read">, maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, bytes);
    if (bytesRead === 0) return Buffer.concat(chunks);
    bytes += bytesRead;
    if (bytes > maxBytes) return null;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}
