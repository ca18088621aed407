/** Limits of one confined program: what the kernel counts per process, per user namespace and per pid namespace. */
import type { SandboxLimits } from "../policy.ts";
import { writeText } from "./files.ts";
import type { Kernel } from "./libc.ts";

const RLIMIT_FSIZE = 1;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_NOFILE = 7;
const RLIMIT_MEMLOCK = 8;
const RLIMIT_LOCKS = 10;
const RLIMIT_MSGQUEUE = 12;
const RLIMIT_NICE = 13;
const RLIMIT_RTPRIO = 14;

const MB = 1024 * 1024;
const LOCKED_BYTES = 8 * MB;
const RLIMIT_WORDS = 2;
/** What Bun reserves at its start and never uses; the kernel counts it as if it did. */
const BUN_RESERVES_MB = 8_192;

/** Returns what went wrong, or null. */
export function setLimits(kernel: Kernel, limits: SandboxLimits, mark: string | null): string | null {
  const values: readonly (readonly [number, bigint])[] = [
    [RLIMIT_CORE, 0n],
    [RLIMIT_FSIZE, BigInt(limits.fileSizeMb) * BigInt(MB)],
    [RLIMIT_DATA, BigInt(limits.memoryMb + BUN_RESERVES_MB) * BigInt(MB)],
    [RLIMIT_NPROC, BigInt(limits.processes)],
    [RLIMIT_NOFILE, BigInt(limits.openFiles)],
    [RLIMIT_MEMLOCK, BigInt(LOCKED_BYTES)],
    [RLIMIT_MSGQUEUE, 0n],
    [RLIMIT_NICE, 0n],
    [RLIMIT_RTPRIO, 0n],
    // known by it to the gateway, with all that it starts; the kernel enforces nothing by this one
    ...(mark === null ? [] : [[RLIMIT_LOCKS, BigInt(mark)] as const]),
  ];
  for (const [resource, wanted] of values) {
    const result = setLimit(kernel, resource, wanted);
    if (result !== 0) return `limit ${resource} cannot be set (error ${-result})`;
  }
  return null;
}

/** Never above what this process has itself: raising needs rights that it does not have. */
function setLimit(kernel: Kernel, resource: number, wanted: bigint): number {
  const now = new BigUint64Array(RLIMIT_WORDS);
  const asked = kernel.call("prlimit64", 0, resource, 0, now);
  if (asked !== 0) return asked;
  const highest = now[1] ?? 0n;
  const value = wanted < highest ? wanted : highest;
  return kernel.call("prlimit64", 0, resource, new BigUint64Array([value, value]), 0);
}

/** When the machine has no memory left, the kernel ends agents before anything else. */
export function offerToOomKiller(kernel: Kernel): string | null {
  return writeText(kernel, "/proc/self/oom_score_adj", "1000") ? null : "it cannot be offered to the OOM killer";
}

const SYSINFO_BYTES = 112;
/** `procs` of `struct sysinfo`, the same on both processors. */
const SYSINFO_PROCESSES_OFFSET = 80;

/** Where all programs of a user count together: those that run already, of whoever, are added to the limit. */
export function raiseProcessLimit(kernel: Kernel, limits: SandboxLimits): SandboxLimits {
  const info = new Uint8Array(SYSINFO_BYTES);
  const running =
    kernel.call("sysinfo", info) === 0 ? new DataView(info.buffer).getUint16(SYSINFO_PROCESSES_OFFSET, true) : 0;
  return { ...limits, processes: limits.processes + running };
}

/** Since then the highest pid is a matter of each pid namespace; before, writing it would change the machine's. */
const PID_MAX_BY_NAMESPACE = [6, 14] as const;
/** The kernel refuses less. */
const LOWEST_PID_MAX = 301;

/** In namespaces of its own: what one user's programs share otherwise, and one of them could use up for all. Best effort: older kernels lack some. */
export function setNamespaceLimits(kernel: Kernel, limits: SandboxLimits): void {
  const settings: readonly (readonly [string, number])[] = [
    ["user/max_user_namespaces", 0],
    ["user/max_inotify_instances", limits.inotifyInstances],
    ["user/max_inotify_watches", limits.inotifyWatches],
    ...(pidMaxIsOwn(kernel) ? [["kernel/pid_max", Math.max(limits.processes, LOWEST_PID_MAX)] as const] : []),
  ];
  for (const [name, value] of settings) writeText(kernel, `/proc/sys/${name}`, String(value));
}

const UTSNAME_BYTES = 390;
const UTSNAME_FIELD_BYTES = 65;
/** After the name of the system and that of the machine. */
const RELEASE_FIELD = 2;

function pidMaxIsOwn(kernel: Kernel): boolean {
  const names = new Uint8Array(UTSNAME_BYTES);
  if (kernel.call("uname", names) !== 0) return false;
  const at = RELEASE_FIELD * UTSNAME_FIELD_BYTES;
  const release = new TextDecoder().decode(names.subarray(at, at + UTSNAME_FIELD_BYTES));
  const [major = 0, minor = 0] = release.split(".").map(Number);
  const [firstMajor, firstMinor] = PID_MAX_BY_NAMESPACE;
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}
