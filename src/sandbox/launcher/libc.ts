/** The kernel by number, through the C library's `syscall`. Acts on the calling thread, which is the one that becomes the program. */
import { dlopen, FFIType, ptr, read } from "bun:ffi";
import type { CallNumbers } from "./syscalls.ts";

const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
const SYMBOLS = {
  syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64", "u64"], returns: FFIType.i64 },
  __errno_location: { args: [], returns: FFIType.ptr },
} as const;

type Library = ReturnType<typeof dlopen<typeof SYMBOLS>>;

type CallArgument = number | bigint | string | NodeJS.TypedArray;

/** What a step of the launcher needs of the kernel. */
export interface Kernel {
  /** The result, or minus the error's number. A text is given as a C string. */
  call(name: string, ...args: readonly CallArgument[]): number;
}

const ENOSYS = 38;

/** Null: no C library that is known. */
export function openKernel(numbers: CallNumbers): Kernel | null {
  for (const name of LIBRARIES) {
    try {
      return kernelOf(dlopen(name, SYMBOLS).symbols, numbers);
    } catch {
      continue; // another C library, or another processor
    }
  }
  return null;
}

function kernelOf(symbols: Library["symbols"], numbers: CallNumbers): Kernel {
  return {
    call(name, ...args) {
      const number = numbers.get(name);
      if (number === undefined) return -ENOSYS;
      const kept = args.map((arg) => (typeof arg === "string" ? cString(arg) : arg)); // alive until the call is over
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = kept.map((arg) =>
        typeof arg === "number" || typeof arg === "bigint" ? arg : Number(ptr(arg)),
      );
      const result = Number(symbols.syscall(number, a, b, c, d, e, f));
      const location = result === -1 ? symbols.__errno_location() : null;
      return location === null ? result : -read.i32(location);
    },
  };
}

export function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** A list of pointers that ends with zero, as `execve` wants it. The strings must stay alive as long as the list. */
export function pointerList(strings: readonly Uint8Array[]): BigUint64Array {
  const list = new BigUint64Array(strings.length + 1);
  strings.forEach((one, index) => {
    list[index] = BigInt(ptr(one));
  });
  return list;
}

export function pointerOf(bytes: NodeJS.TypedArray): bigint {
  return BigInt(ptr(bytes));
}
