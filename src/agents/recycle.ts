/** Whether a process that has just finished a turn, or rests, is used again: a pure decision with its reason. The pool acts on it. */

export interface RecycleFacts {
  /** False when what it did last leaves doubt about its state. */
  readonly trusted: boolean;
  /** Sessions it has opened so far. */
  readonly switches: number;
  readonly ageMs: number;
  /** Null where the system does not tell. */
  readonly rssBytes: number | null;
  /** Others need the memory that it holds. Asked only about a large process: the answer costs a system call. */
  isMemoryScarce(): boolean;
}

interface RecycleLimits {
  readonly maxSwitches: number;
  readonly maxAgeMs: number;
  readonly maxRssMb: number;
}

export type Recycling =
  | { readonly recycle: true; readonly because: "not_trusted" | "many_sessions" | "too_old" | "too_large" }
  | { readonly recycle: false; readonly because: "fit" };

const MB_BYTES = 1_048_576;

export function shouldRecycle(facts: RecycleFacts, limits: RecycleLimits): Recycling {
  if (!facts.trusted) return { recycle: true, because: "not_trusted" };
  if (facts.switches >= limits.maxSwitches) return { recycle: true, because: "many_sessions" };
  if (facts.ageMs >= limits.maxAgeMs) return { recycle: true, because: "too_old" };
  // a long conversation is as large in the next process: replaced after each turn, each of its turns would pay for a start
  if (facts.rssBytes !== null && facts.rssBytes > limits.maxRssMb * MB_BYTES && facts.isMemoryScarce())
    return { recycle: true, because: "too_large" };
  return { recycle: false, because: "fit" };
}
