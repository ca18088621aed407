/**
 * A mark that a program cannot lose by accident: a number in the limit of file locks (RLIMIT_LOCKS). Linux hands limits on to everything that
 * is started, whatever becomes of its environment, its session and its parents, and has enforced nothing by this one since 2003. Without
 * Linux or its C library there is no such mark, and the variable in the environment is all there is.
 */
import { ptr } from "bun:ffi";
import { readFileSync } from "node:fs";
import { openCLibrary } from "../../kit/c-library.ts";

const RLIMIT_LOCKS = 10;
/** Far above what anybody would set, far below "unlimited". */
const LOWEST = 1n << 60n;
const PRLIMIT = { prlimit: { args: ["i32", "i32", "ptr", "ptr"], returns: "i32" } } as const;

type SetLimit = (pid: number, limit: BigUint64Array) => boolean;
let setLimit: SetLimit | null = null;

/** The number for one agent process; the same name gives the same number, also in the next process of the gateway. */
export function limitMark(id: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(id).digest();
  return (LOWEST + (hash.readBigUInt64LE(0) % LOWEST)).toString();
}

/** What it starts from now on carries the mark. False: this system has no such mark. */
export function setLimitMark(pid: number, id: string): boolean {
  setLimit ??= findSetLimit();
  const number = BigInt(limitMark(id));
  return setLimit(pid, new BigUint64Array([number, number])); // what may be raised and how far, so that nobody raises it again
}

/** Null when there is no such process, or no /proc on this system. */
export function limitMarkOf(pid: number): string | null {
  try {
    return /^Max file locks +(\d+) /m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1] ?? null;
  } catch {
    return null; // gone, or no /proc
  }
}

function findSetLimit(): SetLimit {
  const library = openCLibrary(PRLIMIT);
  return (pid, limit) => library !== null && library.prlimit(pid, RLIMIT_LOCKS, ptr(limit), null) === 0;
}
