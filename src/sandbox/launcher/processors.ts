/**
 * Which processors a confined program runs on. Where there are several, one of the machine's is left to the gateway and everybody else: the kernel
 * shares processor time between sessions, and an agent can begin as many sessions as it likes, so no priority of a process holds it back.
 */
import { MASK_BYTES, maskOf, processorsIn } from "../../kit/processor-mask.ts";
import type { Kernel } from "./libc.ts";

/** Of two or three, one would be too much to give up all the time; there it is taken away when too many programs run (src/agents/process/processor-share.ts). */
const ENOUGH = 4;

/** `wanted`: how many; null: all but one where there are enough, else all. Those with the highest numbers, since interrupts are usually served by the first. Pure. */
export function chosenProcessors(allowed: readonly number[], wanted: number | null): readonly number[] {
  const count = wanted ?? (allowed.length >= ENOUGH ? allowed.length - 1 : allowed.length);
  return allowed.slice(-Math.max(1, count));
}

/** Returns what went wrong, or null. */
export function leaveProcessor(kernel: Kernel, wanted: number | null): string | null {
  const mask = new Uint8Array(MASK_BYTES);
  const filled = kernel.call("sched_getaffinity", 0, mask.byteLength, mask);
  if (filled < 0) return `its processors cannot be read (error ${-filled})`;
  const chosen = maskOf(chosenProcessors(processorsIn(mask.subarray(0, filled)), wanted));
  const set = kernel.call("sched_setaffinity", 0, chosen.byteLength, chosen);
  return set === 0 ? null : `its processors cannot be chosen (error ${-set})`;
}
