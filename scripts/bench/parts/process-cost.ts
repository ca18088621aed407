/** What a process holds and uses right now, as the system tells it. */
import { readFileSync } from "node:fs";
import { round } from "./stats.ts";

const TICKS_PER_SECOND = 100;

export function rssMb(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return round(Number(kilobytes) / 1_024);
}

/** Most it ever held. */
export function peakRssMb(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return round(Number(kilobytes) / 1_024);
}

/** Seconds of processor time since its start. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** What would be free again if it ended: pages that no other process has. 0 for one that is gone. */
export function privateMb(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].map(([, count]) => Number(count));
    return round(kilobytes.reduce((sum, one) => sum + one, 0) / 1_024);
  } catch {
    return 0; // it ended meanwhile
  }
}
