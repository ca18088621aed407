/** How much processor time an agent process and everything it started has used. Reads only; without /proc nothing is known. */
import { readFileSync } from "node:fs";
import { allProcesses, withDescendants } from "./proc.ts";

/** What Linux counts processor time in, on every machine it tells user programs about. */
const TICKS_PER_SECOND = 100;
/** utime, stime, and the two of children that have ended and were waited for. Counted from the state on, which is field 3. */
const TIME_FIELDS = [11, 12, 13, 14];

/** In seconds, with that of programs that have ended. */
export function processorSeconds(root: number): number {
  const family = withDescendants(allProcesses(), [root]);
  return [...family].reduce((sum, pid) => sum + ticksOf(pid), 0) / TICKS_PER_SECOND;
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return TIME_FIELDS.reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  } catch {
    return 0; // gone: its parent has its time
  }
}
