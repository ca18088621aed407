/**
 * An update of the time-zone data may change the rules of a zone. The next slot was computed under the old rules, so it is computed again when
 * it comes: "at nine" must not run at eight and again at nine. A machine that moves to another zone is the subject of `zone-change.ts`. Pure.
 */
import type { Job } from "../../contracts/automation/job.ts";
import type { ParsedSchedule } from "./parse.ts";
import type { Times } from "./times.ts";

/** Largest time-zone shift: 26 h. A slot that would move further is kept. */
const MAX_MOVE_MS = 26 * 3_600_000;

/** The stored slot under the rules of now. Moved to later: the later one, and nothing is due yet. Moved to earlier: the stored one, a little late. */
export function slotAfterUpdate(
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
