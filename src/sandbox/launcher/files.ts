/**
 * The few things the launcher does with files, by kernel calls. Not by node:fs: loading that takes as long as everything else the launcher
 * does, and it runs before every agent process.
 */
import type { Kernel } from "./libc.ts";

const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const O_WRONLY = 1;
const O_CREAT = 0o100;
const O_NOFOLLOW = 0o400000;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const EEXIST = 17;
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;
const MAX_PATH_BYTES = 4_096;

const STATX_TYPE = 1;
const STATX_BYTES = 256;
const STATX_MODE_OFFSET = 28;
const TYPE_MASK = 0o170000;
const FOLDER = 0o040000;
const SOCKET = 0o140000;

/** A handle of a file or folder that allows nothing but to name it. Throws when it is not there. */
export function openPath(kernel: Kernel, path: string): number {
  const fd = tryPath(kernel, path);
  if (fd < 0) throw new Error(`${path} cannot be opened (error ${-fd})`);
  return fd;
}

/** The same; below zero: minus the error's number. */
export function tryPath(kernel: Kernel, path: string, more = 0): number {
  return kernel.call("openat", AT_FDCWD, path, O_PATH | O_CLOEXEC | more, 0);
}

export function closeFd(kernel: Kernel, fd: number): void {
  kernel.call("close", fd);
}

/** Where an open file really is, without any link on the way. */
export function realPathOf(kernel: Kernel, fd: number): string {
  const path = linkTarget(kernel, `/proc/self/fd/${fd}`);
  if (path === null) throw new Error(`descriptor ${fd} has no path`);
  return path;
}

/** Null: there is no link. */
export function linkTarget(kernel: Kernel, path: string): string | null {
  const bytes = new Uint8Array(MAX_PATH_BYTES);
  const length = kernel.call("readlinkat", AT_FDCWD, path, bytes, bytes.byteLength);
  return length < 0 ? null : new TextDecoder().decode(bytes.subarray(0, length));
}

export function isFolder(kernel: Kernel, fd: number): boolean {
  return typeOf(kernel, fd) === FOLDER;
}

/** False also when it is not open. */
export function isSocket(kernel: Kernel, fd: number): boolean {
  return typeOf(kernel, fd) === SOCKET;
}

function typeOf(kernel: Kernel, fd: number): number | null {
  const found = new Uint8Array(STATX_BYTES);
  if (kernel.call("statx", fd, "", AT_EMPTY_PATH, STATX_TYPE, found) !== 0) return null;
  return new DataView(found.buffer).getUint16(STATX_MODE_OFFSET, true) & TYPE_MASK;
}

/** With those above it. Throws when one cannot be made. */
export function makeFolder(kernel: Kernel, path: string): void {
  for (let end = path.indexOf("/", 1); ; end = path.indexOf("/", end + 1)) {
    const part = end === -1 ? path : path.slice(0, end);
    const result = kernel.call("mkdirat", AT_FDCWD, part, FOLDER_MODE);
    if (result !== 0 && result !== -EEXIST) throw new Error(`${part} cannot be made (error ${-result})`);
    if (end === -1) return;
  }
}

/** An empty one, with the folders above it, unless there is something of this name. */
export function makeFile(kernel: Kernel, path: string): void {
  makeFolder(kernel, path.slice(0, path.lastIndexOf("/")) || "/");
  const there = tryPath(kernel, path, O_NOFOLLOW);
  const fd = there < 0 ? kernel.call("openat", AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE) : there;
  if (fd < 0) throw new Error(`${path} cannot be made (error ${-fd})`);
  closeFd(kernel, fd);
}

export function makeLink(kernel: Kernel, target: string, path: string): void {
  const result = kernel.call("symlinkat", target, AT_FDCWD, path);
  if (result !== 0) throw new Error(`${path} cannot be made (error ${-result})`);
}

/** Into a file that is there. False: it is not, or does not take it. */
export function writeText(kernel: Kernel, path: string, text: string): boolean {
  const fd = kernel.call("openat", AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  const bytes = new TextEncoder().encode(text);
  const written = kernel.call("write", fd, bytes, bytes.byteLength);
  closeFd(kernel, fd);
  return written === bytes.byteLength;
}
