/**
 * Rules of a time zone change with an update of its data; a machine that moves is the business of `zone-change.ts`. The next slot was worked out under the old ones; when it
 * comes, it is looked at once more, so that "at nine" is not at eight and again at nine. Pure.
 */
import type { Job } from "../../contracts/automation/job.ts";
import type { ParsedSchedule } from "./parse.ts";
import type { Times } from "./times.ts";

/** Zones are not further apart; whatever else a schedule has become, its slot is kept. */
const MAX_MOVE_MS = 26 * 3_600_000;

/**
 * The slot that the stored one is under the rules of now. Moved to later: that one, and nothing is due yet. Moved to earlier: the stored one
 * stands for it, a little late.
 */
export function slotNow(
  times: Pick<Times, "next">,
  schedule: ParsedSchedule,
  { nextAt, anchorAt }: Pick<Job, "nextAt" | "anchorAt">,
): number | null {
  if (nextAt === null || schedule.kind !== "cron") return nextAt;
  const next = times.next(schedule, nextAt - 1, anchorAt);
  if (next === null || next === nextAt) return nextAt;
  const apart = next - nextAt;
  if (apart > MAX_MOVE_MS) return nextAt;
  const around = times.next(schedule, nextAt - apart, anchorAt); // one before it is nearer than the one after it
  return around === next ? next : nextAt;
}
