/**
 * The next slot of a cron job after the zone of the machine has changed. A job at fixed times of day keeps the local date and time of its
 * next slot, so that no local time is run twice or left out. Any other job goes on with the next local time that fits. Pure.
 */
import type { Job } from "../../contracts/automation/job.ts";
import type { Times } from "./times.ts";
import { fromLocal, isTimezone, toLocalTime } from "./zone.ts";

/** Read in the zone of now. `slotZone` of the job is the zone before. */
export function slotInHostZone(times: Times, job: Job, now: number): number | null {
  const { nextAt, slotZone, anchorAt } = job;
  const read = times.read(job.schedule);
  if (nextAt === null || !read.ok || read.schedule.kind !== "cron" || slotZone === undefined) return nextAt;
  const { timezone, expr } = read.schedule;
  const fixed = hasFixedTimes(expr) && isTimezone(slotZone);
  const from = fixed ? fromLocal(toLocalTime(nextAt, slotZone), timezone) - 1 : Math.min(now, nextAt - 1);
  return times.next(read.schedule, from, anchorAt) ?? nextAt;
}

/** As Vixie cron has it: neither the minute nor the hour is a wildcard. */
function hasFixedTimes(expr: string): boolean {
  if (expr.startsWith("@")) return expr !== "@hourly";
  const [minute = "*", hour = "*"] = expr.split(/\s+/).slice(-5);
  return !`${minute}${hour}`.includes("*");
}
