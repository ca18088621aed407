/**
 * Closes the memory, the descriptors and the environment of this process to the programs that it starts. They run under the same user and
 * behind the same wall, so nothing else keeps a shell from reading a conversation out of pi, or the gateway's lines off its connection.
 */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

const PR_SET_DUMPABLE = 4;
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
const PRCTL = { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } } as const;

/** Only behind a wall: without one a shell can do more than that, and the owner may want to look into the process. */
export function closeMemory(): void {
  if (!isConfined()) return;
  for (const name of LIBRARIES) {
    try {
      dlopen(name, PRCTL).symbols.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
      return;
    } catch {
      continue; // another C library, or another processor
    }
  }
}

function isConfined(): boolean {
  try {
    return /^Seccomp:\s+2$/m.test(readFileSync("/proc/self/status", "utf8"));
  } catch {
    return false; // no Linux
  }
}
