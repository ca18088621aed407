/** Which processors a thread of another process may run on, as its owner sees and sets it (Linux). Elsewhere nothing is known and nothing is set. */
import { ptr } from "bun:ffi";
import { openCLibrary } from "../../kit/c-library.ts";
import { MASK_BYTES, maskOf, processorsIn } from "../../kit/processor-mask.ts";

const CALLS = {
  sched_getaffinity: { args: ["i32", "u64", "ptr"], returns: "i32" },
  sched_setaffinity: { args: ["i32", "u64", "ptr"], returns: "i32" },
} as const;

export interface Affinity {
  /** Numbers of processors; none when the thread is gone. */
  get(thread: number): readonly number[];
  /** A thread that is gone is as good as one that was set. */
  set(thread: number, processors: readonly number[]): void;
}

/** Null: this system has no such thing. */
export function openAffinity(): Affinity | null {
  const calls = openCLibrary(CALLS);
  if (calls === null) return null;
  return {
    get(thread) {
      const mask = new Uint8Array(MASK_BYTES);
      return calls.sched_getaffinity(thread, mask.byteLength, ptr(mask)) === 0 ? processorsIn(mask) : [];
    },
    set(thread, processors) {
      const mask = maskOf(processors);
      calls.sched_setaffinity(thread, mask.byteLength, ptr(mask));
    },
  };
}
