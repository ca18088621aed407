/**
 * The view of the full tier: an empty root in memory, into which only the named files and folders are mounted, with its own /proc, /dev and
 * /tmp. Works on the calling process's own mount namespace; what is not mounted into the view cannot be named any more.
 */
import { closeFd, linkTarget, makeFile, makeFolder, makeLink, tryPath } from "./files.ts";
import type { Kernel } from "./libc.ts";
import type { OpenedPath } from "./open-paths.ts";

const MS_RDONLY = 1;
const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_NOEXEC = 8;
const MS_BIND = 4096;
const MNT_DETACH = 2;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_RECURSIVE = 0x8000;
const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = 0o2000000;
const MOVE_MOUNT_F_EMPTY_PATH = 4;
const MOUNT_ATTR_RDONLY = 1;
const MOUNT_ATTR_NOSUID = 2;
const MOUNT_ATTR_NODEV = 4;

/** Every system has it, and nothing is needed from there once the parts of the view are held open. */
const BUILDING_SITE = "/usr";
/** Names of keys, which no namespace keeps apart. */
const HIDDEN = ["/proc/keys", "/proc/key-users"];
/** Folders at the root that many systems have as links into /usr. */
const ROOT_LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

interface View {
  readonly paths: readonly OpenedPath[];
  readonly tempMb: number;
  readonly tempFiles: number;
}

/** Returns what went wrong, or null. */
export function enterView(kernel: Kernel, view: View): string | null {
  const links = ROOT_LINKS.flatMap((path) => linkAt(kernel, path));
  const parts = view.paths.flatMap((one) => copied(kernel, one, links));
  const lost = parts.find(({ tree }) => tree < 0);
  if (lost) return `${lost.target} cannot be mounted (error ${-lost.tree})`;
  const memory = (target: string, options: string, flags = MS_NOSUID | MS_NODEV): number =>
    kernel.call("mount", "tmpfs", target, "tmpfs", flags, options);
  const root = memory(BUILDING_SITE, "mode=755,size=4m,nr_inodes=4096");
  if (root !== 0) return `an empty root cannot be made (error ${-root})`;
  process.chdir(BUILDING_SITE);
  makeFolder(kernel, "proc");
  // before the old root is left: the kernel gives a new /proc only to those who still see one
  const proc = kernel.call("mount", "proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, 0);
  if (proc !== 0) return `a /proc of its own cannot be made (error ${-proc})`;
  const pivoted = kernel.call("pivot_root", ".", ".");
  if (pivoted !== 0) return `the root cannot be changed (error ${-pivoted})`;
  const left = kernel.call("umount2", ".", MNT_DETACH);
  if (left !== 0) return `the old root cannot be left (error ${-left})`;
  process.chdir("/");

  for (const { path, target } of links) makeLink(kernel, target, path);
  for (const folder of ["/dev/shm", "/tmp", "/var", "/run"]) makeFolder(kernel, folder);
  const limit = `size=${view.tempMb}m,nr_inodes=${view.tempFiles}`;
  const private_ = [memory("/tmp", `mode=1777,${limit}`), memory("/dev/shm", `mode=1777,${limit}`)];
  if (private_.some((result) => result !== 0)) return "a private /tmp cannot be made";
  makeLink(kernel, "/tmp", "/var/tmp");
  makeLink(kernel, "/proc/self/fd", "/dev/fd");
  for (const [index, name] of ["stdin", "stdout", "stderr"].entries())
    makeLink(kernel, `/proc/self/fd/${index}`, `/dev/${name}`);
  for (const part of parts.toSorted((a, b) => a.target.length - b.target.length)) {
    const trouble = mounted(kernel, part);
    if (trouble !== null) return trouble;
  }
  for (const path of HIDDEN.filter((one) => isThere(kernel, one))) {
    const hidden = kernel.call("mount", "/dev/null", path, 0, MS_BIND, 0);
    if (hidden !== 0) return `${path} cannot be hidden (error ${-hidden})`;
  }
  const sealed = setAttributes(kernel, { fd: AT_FDCWD, path: "/", flags: 0, attributes: MOUNT_ATTR_RDONLY });
  return sealed === 0 ? null : `the root cannot be made read-only (error ${-sealed})`;
}

interface Part {
  readonly target: string;
  readonly isFolder: boolean;
  readonly attributes: number;
  /** A copy of the mount that is attached nowhere yet. */
  readonly tree: number;
}

/** Once under its real name and once under the name it was given, which differ when a link was on the way. */
function copied(kernel: Kernel, one: OpenedPath, links: readonly Link[]): readonly Part[] {
  const attributes = attributesOf(one.access);
  const targets =
    one.path === one.real || links.some(({ path }) => isAtOrBelow(path, one.path)) ? [one.real] : [one.real, one.path];
  return targets.map((target) => ({
    target,
    isFolder: one.isFolder,
    attributes,
    tree: kernel.call(
      "open_tree",
      one.fd,
      "",
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (one.isFolder ? AT_RECURSIVE : 0),
    ),
  }));
}

function attributesOf(access: OpenedPath["access"]): number {
  if (access === "device") return MOUNT_ATTR_NOSUID;
  return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (access === "read" ? MOUNT_ATTR_RDONLY : 0);
}

function mounted(kernel: Kernel, { target, isFolder, attributes, tree }: Part): string | null {
  const flags = AT_EMPTY_PATH | (isFolder ? AT_RECURSIVE : 0);
  const set = setAttributes(kernel, { fd: tree, path: "", flags, attributes });
  if (set !== 0) return `${target} cannot be mounted as it should (error ${-set})`;
  if (isFolder) makeFolder(kernel, target);
  else makeFile(kernel, target);
  const moved = kernel.call("move_mount", tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
  return moved === 0 ? null : `${target} cannot be shown (error ${-moved})`;
}

interface MountAttributes {
  readonly fd: number;
  readonly path: string;
  readonly flags: number;
  readonly attributes: number;
}

function setAttributes(kernel: Kernel, { fd, path, flags, attributes }: MountAttributes): number {
  const change = new BigUint64Array([BigInt(attributes), 0n, 0n, 0n]); // set, clear, propagation, user namespace
  return kernel.call("mount_setattr", fd, path, flags, change, change.byteLength);
}

interface Link {
  readonly path: string;
  readonly target: string;
}

function linkAt(kernel: Kernel, path: string): readonly Link[] {
  const target = linkTarget(kernel, path);
  return target === null ? [] : [{ path, target }];
}

/** `/bin/sh` of a system whose /bin is a link is there as soon as /usr is. */
function isAtOrBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isThere(kernel: Kernel, path: string): boolean {
  const fd = tryPath(kernel, path);
  if (fd >= 0) closeFd(kernel, fd);
  return fd >= 0;
}
