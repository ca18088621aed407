/** How often a job may run and how many jobs a person may have, by role. Pure; the numbers come from the settings. */
import type { Job } from "../contracts/automation/job.ts";
import { showDuration } from "../kit/duration.ts";
import type { Times } from "./times/times.ts";

export interface JobLimits {
  readonly minInterval: number; // ms
  readonly maxJobs: number;
}

/** A cron expression is judged by its next slots: enough to see the densest hour of any expression people write. */
const SLOTS_LOOKED_AT = 120;

/** Why the schedule runs more often than the limit allows; null: it does not. */
export function intervalProblem(
  times: Times,
  { schedule, anchorAt }: Pick<Job, "schedule" | "anchorAt">,
  { limits, now }: { readonly limits: Pick<JobLimits, "minInterval">; readonly now: number },
): string | null {
  const read = times.read(schedule);
  if (!read.ok || read.schedule.kind === "at" || limits.minInterval === 0) return null;
  let before = times.next(read.schedule, now, anchorAt);
  for (let looked = 0; before !== null && looked < SLOTS_LOOKED_AT; looked++) {
    const next = times.next(read.schedule, before, anchorAt);
    if (next !== null && next - before < limits.minInterval)
      return `${schedule.expr} runs more often than every ${showDuration(limits.minInterval)}, the smallest interval for this role. Choose a longer one.`;
    if (read.schedule.kind === "every") return null;
    before = next;
  }
  return null;
}
