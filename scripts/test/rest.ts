/** How much of a time the processors of this machine rested: what a run of tests leaves unused. Counts everybody's work, so it says little on a busy machine. */
import { cpus } from "node:os";

/** Of all cores since the machine started, in milliseconds. */
export interface CoreTimes {
  readonly idle: number;
  readonly all: number;
}

export function coreTimes(): CoreTimes {
  const times = cpus().map((core) => core.times);
  const sum = (of: (one: (typeof times)[number]) => number): number => times.reduce((total, one) => total + of(one), 0);
  return {
    idle: sum(({ idle }) => idle),
    all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
  };
}

/** In percent; null when no time has passed. */
export function restedPercent(before: CoreTimes, after: CoreTimes): number | null {
  const all = after.all - before.all;
  return all > 0 ? (100 * (after.idle - before.idle)) / all : null;
}
