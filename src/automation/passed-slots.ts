/** The slots of a job that have passed and have no row yet. A change of the job must not lose them: they get their rows with it. */
import type { Job, NewRun } from "../contracts/automation/job.ts";
import type { Ids } from "../kit/ids.ts";
import { MAX_CATCH_UP, MAX_SLOTS_PER_STEP, type Passed } from "./plan.ts";
import { slotAfterUpdate } from "./times/zone-update.ts";
import type { Times } from "./times/times.ts";

interface NextSlot {
  readonly nextAt: number | null;
  readonly slotZone?: string;
}

/** The first slot after a moment, with the zone it was computed in. */
export function nextSlot(
  times: Times,
  { schedule, anchorAt }: Pick<Job, "schedule" | "anchorAt">,
  after: number,
): NextSlot {
  const read = times.read(schedule);
  if (!read.ok) return { nextAt: null };
  const nextAt = times.next(read.schedule, after, anchorAt);
  return read.schedule.kind === "cron" ? { nextAt, slotZone: read.schedule.timezone } : { nextAt };
}

export function passedSlots(times: Times, job: Job, now: number): Passed & NextSlot {
  const read = times.read(job.schedule);
  const slots: number[] = [];
  let next: NextSlot = { nextAt: read.ok ? slotAfterUpdate(times, read.schedule, job) : job.nextAt };
  if (read.ok && read.schedule.kind === "cron") next = { ...next, slotZone: read.schedule.timezone };
  while (next.nextAt !== null && next.nextAt <= now && slots.length < MAX_SLOTS_PER_STEP) {
    slots.push(next.nextAt);
    next = nextSlot(times, job, next.nextAt);
  }
  return { slots, ...next, following: countPassed(times, job, { from: next.nextAt, now }) };
}

/** Slots from `from` to `now`, counted up to `MAX_CATCH_UP`: more of them change no decision. */
function countPassed(times: Times, job: Job, { from, now }: { readonly from: number | null; readonly now: number }) {
  let count = 0;
  for (let at = from; at !== null && at <= now && count < MAX_CATCH_UP; count++) at = nextSlot(times, job, at).nextAt;
  return count;
}

/** Rows for what a change of schedule or state leaves behind. At most as many as one step of the engine writes. */
export function slotsBeforeChange(
  { times, ids }: { readonly times: Times; readonly ids: Ids },
  { job, changed, now }: { readonly job: Job; readonly changed: Job; readonly now: number },
): readonly NewRun[] {
  if (job.state !== "active" || job.nextAt === null || job.nextAt > now || changed.nextAt === job.nextAt) return [];
  const reason = "the job was changed before this slot could run";
  return passedSlots(times, job, now).slots.map((slot) => ({ id: ids.next("run"), slot, status: "missed", reason }));
}
