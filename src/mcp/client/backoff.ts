/** When a server that could not be started is tried again: at once the first time, then after pauses that grow. Pure. */

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** A server that has worked for this long begins anew. */
export const WORKED_MS = 60_000;

/** `failures`: in a row, this one included. */
export function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1));
}
