/**
 * Which of a job's passed slots run, and what the others are: a pure decision with reasons. Every slot that has passed gets a row, and the
 * next slot is one that has not. A clock that was set back finds its slots taken; one that was set forward is a time nobody was there.
 */
import type { Job, JobState, NewRun } from "../contracts/automation/job.ts";

/** A run may begin this late and still count as on time: a busy machine is not a missed appointment. */
export const ON_TIME_MS = 60_000;
/** Slots older than this are not caught up with. */
export const CATCH_UP_WINDOW_MS = 3_600_000;
/** With `catchUp: "all"`. */
export const MAX_CATCH_UP = 10;
/** Rows written in one step for one job; after a long sleep the rest follows in the next steps. */
export const MAX_SLOTS_PER_STEP = 500;

export interface Passed {
  /** Slots not later than now that have no row yet, oldest first; at most `MAX_SLOTS_PER_STEP`. */
  readonly slots: readonly number[];
  /** The slot after the last of these; null: there is none. */
  readonly nextAt: number | null;
}

export interface Busy {
  readonly running: number;
  readonly waiting: number;
}

export interface Moment {
  readonly passed: Passed;
  readonly busy: Busy;
  readonly now: number;
}

export interface Plan {
  readonly rows: readonly NewRun[];
  readonly nextAt: number | null;
  readonly state: JobState;
}

/** `newId` is asked once for each row. */
export function plan(job: Job, { passed, busy, now }: Moment, newId: () => string): Plan {
  const runs = new Set(slotsToRun(job, passed, now));
  let { running, waiting } = busy;
  const rows = passed.slots.map((slot): NewRun => {
    const row = { id: newId(), slot };
    if (!runs.has(slot)) return { ...row, status: "missed", reason: missedBecause(job, slot, now) };
    if (running === 0 || job.overlap === "allow") {
      running++;
      return { ...row, status: "running", reason: null };
    }
    if (job.overlap === "queue" && waiting === 0) {
      waiting++;
      return { ...row, status: "waiting", reason: null };
    }
    const reason = waiting > 0 ? "one is running and one waits already" : "the one before is still running";
    return { ...row, status: "skipped", reason };
  });
  const begun = rows.some(({ status }) => status === "running" || status === "waiting");
  return { rows, nextAt: passed.nextAt, state: passed.nextAt === null && !begun ? "done" : job.state };
}

/** Those on time, and of the late ones what the job wants to catch up with. */
function slotsToRun(job: Job, { slots, nextAt }: Passed, now: number): readonly number[] {
  const onTime = slots.filter((slot) => now - slot <= ON_TIME_MS);
  const late = slots.filter((slot) => now - slot > ON_TIME_MS && now - slot <= window(job));
  const moreWillFollow = nextAt !== null && nextAt <= now;
  if (job.catchUp === "skip" || late.length === 0) return onTime;
  if (job.catchUp === "all") return [...late.slice(-MAX_CATCH_UP), ...onTime];
  if (onTime.length > 0 || moreWillFollow) return onTime; // a newer slot stands for the older ones
  return late.slice(-1);
}

/** A moment that was asked for once is kept for a day: nothing newer will stand for it. */
function window(job: Job): number {
  return job.schedule.kind === "at" ? 24 * CATCH_UP_WINDOW_MS : CATCH_UP_WINDOW_MS;
}

function missedBecause(job: Job, slot: number, now: number): string {
  if (now - slot > window(job)) return "it was too long ago when the gateway came back";
  if (job.catchUp === "skip") return "the gateway was not running, and the job does not catch up";
  return "the gateway was not running; a newer slot stands for it";
}
