/** Functions of the C library, by name. Null where there is none that is known: not Linux, or another C library. */
import { dlopen, type FFIFunction } from "bun:ffi";

const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

export function openCLibrary<Functions extends Record<string, FFIFunction>>(functions: Functions) {
  if (process.platform !== "linux") return null;
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      continue; // another C library, or another processor
    }
  }
  return null;
}
