/** Opens the files and folders of a policy, so that what is granted is exactly what was looked at, whatever is renamed or linked meanwhile. */
import type { SandboxPolicy } from "../policy.ts";
import { closeFd, isFolder, openPath, realPathOf, tryPath } from "./files.ts";
import type { FileAccess } from "./landlock.ts";
import type { Kernel } from "./libc.ts";

const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const RESOLVE_NO_MAGICLINKS = 2n;
const RESOLVE_NO_SYMLINKS = 4n;
const RESOLVE_BENEATH = 8n;

export interface OpenedPath {
  readonly path: string;
  /** Without any link on the way. */
  readonly real: string;
  readonly fd: number;
  readonly isFolder: boolean;
  readonly access: Exclude<FileAccess, "list">;
}

/** Throws when one that must be there is not, when a link leads out of the state directory, or when one holds the state directory. */
export function openPaths(kernel: Kernel, policy: SandboxPolicy): readonly OpenedPath[] {
  const { stateDirectory } = policy;
  const base = openPath(kernel, stateDirectory);
  const realState = realPathOf(kernel, base);
  const opened: OpenedPath[] = [];
  const add = (path: string, access: OpenedPath["access"], fd: number): void => {
    const real = realPathOf(kernel, fd);
    if (`${realState}/`.startsWith(real === "/" ? "/" : `${real}/`))
      throw new Error(`${path} contains the state directory`);
    if (opened.some((one) => one.real === real && one.path === path && one.access === access)) return;
    opened.push({ path, real, fd, isFolder: isFolder(kernel, fd), access });
  };
  const open = (path: string): number => openWithin(kernel, { stateDirectory, base }, path);
  const isThere = (path: string): boolean => {
    const fd = tryPath(kernel, path);
    if (fd >= 0) closeFd(kernel, fd);
    return fd >= 0;
  };
  for (const path of policy.readIfThere) if (isThere(path)) add(path, "read", open(path));
  for (const path of policy.devices) if (isThere(path)) add(path, "device", open(path));
  for (const path of policy.read) add(path, "read", open(path));
  for (const path of policy.write) add(path, "write", open(path));
  closeFd(kernel, base);
  return opened;
}

interface StateDirectory {
  readonly stateDirectory: string;
  /** An open handle of it. */
  readonly base: number;
}

/** Agents write below the state directory, so no link is followed there: one of them may have put it in the place of a folder. */
function openWithin(kernel: Kernel, { stateDirectory, base }: StateDirectory, path: string): number {
  if (path !== stateDirectory && !path.startsWith(`${stateDirectory}/`)) return openPath(kernel, path);
  const resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const how = new BigUint64Array([BigInt(O_PATH | O_CLOEXEC), 0n, resolve]); // flags, mode, resolve
  const below = path.slice(stateDirectory.length + 1) || ".";
  const fd = kernel.call("openat2", base, below, how, how.byteLength);
  if (fd < 0) throw new Error(`${path} cannot be opened without following a link (error ${-fd})`);
  return fd;
}
