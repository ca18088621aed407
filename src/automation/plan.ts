/**
 * Which of a job's passed slots run, and what the others are: a pure decision with reasons. Every slot that has passed gets a row, and the
 * next slot is one that has not. A clock that was set back finds its slots taken; one that was set forward is a time nobody was there.
 */
import type { Job, JobState, NewRun } from "../contracts/automation/job.ts";

/** The newest slot may begin this late and still count as on time: a busy machine is not a missed appointment. */
const ON_TIME_MS = 60_000;
/** Slots older than this are not caught up with. */
const CATCH_UP_WINDOW_MS = 3_600_000;
/** With `catchUp: "all"`. */
export const MAX_CATCH_UP = 10;
/** Rows written in one step for one job; after a long sleep the rest follows in the next steps. */
export const MAX_SLOTS_PER_STEP = 500;

export interface Passed {
  /** Slots not later than now that have no row yet, oldest first; at most `MAX_SLOTS_PER_STEP`. */
  readonly slots: readonly number[];
  /** The slot after the last of these; null: there is none. */
  readonly nextAt: number | null;
  /** Slots after these that have passed as well and are written in the next steps; counted up to `MAX_CATCH_UP`. */
  readonly following?: number;
}

interface Busy {
  readonly running: number;
  readonly waiting: number;
}

interface Moment {
  readonly passed: Passed;
  readonly busy: Busy;
  readonly now: number;
  /** Since when the gateway has been looking at slots without a pause. */
  readonly since: number;
}

interface Plan {
  readonly rows: readonly NewRun[];
  readonly nextAt: number | null;
  readonly state: JobState;
}

/** `newId` is asked once for each row. */
export function plan(job: Job, moment: Moment, newId: () => string): Plan {
  const { passed, busy } = moment;
  const runs = new Set(slotsToRun(job, moment));
  // slots that are caught up with run one after the other: "skip" is about a job that takes longer than its interval
  const catchesUp = job.catchUp === "all" && runs.size > 1;
  let { running, waiting } = busy;
  const rows = passed.slots.map((slot): NewRun => {
    const row = { id: newId(), slot };
    if (!runs.has(slot)) return { ...row, status: "missed", reason: missedBecause(job, slot, moment) };
    if (running === 0 || job.overlap === "allow") {
      running++;
      return { ...row, status: "running", reason: null };
    }
    if (catchesUp || (job.overlap === "queue" && waiting === 0)) {
      waiting++;
      return { ...row, status: "waiting", reason: null };
    }
    const reason = waiting > 0 ? "one is running and others wait already" : "the one before is still running";
    return { ...row, status: "skipped", reason };
  });
  const begun = rows.some(({ status }) => status === "running" || status === "waiting");
  return { rows, nextAt: passed.nextAt, state: passed.nextAt === null && !begun ? "done" : job.state };
}

function slotsToRun(job: Job, { passed, now, since }: Moment): readonly number[] {
  const { slots, nextAt, following = 0 } = passed;
  const moreWillFollow = nextAt !== null && nextAt <= now;
  const recent = slots.filter((slot) => now - slot <= window(job));
  if (job.catchUp === "all") return recent.slice(Math.max(0, recent.length - Math.max(0, MAX_CATCH_UP - following)));
  if (moreWillFollow) return []; // a newer slot stands for these
  const newest = recent.slice(-1);
  if (job.catchUp === "once") return newest;
  return newest.filter((slot) => now - slot <= ON_TIME_MS && slot >= since);
}

/** A moment that was asked for once is kept for a day: nothing newer will stand for it. */
function window(job: Job): number {
  return job.schedule.kind === "at" ? 24 * CATCH_UP_WINDOW_MS : CATCH_UP_WINDOW_MS;
}

function missedBecause(job: Job, slot: number, { now, since }: Moment): string {
  const cause = slot < since ? "the gateway was not running" : "the machine was busy or asleep";
  if (now - slot > window(job)) return `${cause}, and the slot is too long ago to catch up`;
  if (job.catchUp === "skip") return `${cause}, and the job does not catch up`;
  if (job.catchUp === "all") return `${cause}, and only the newest ${MAX_CATCH_UP} slots are caught up with`;
  return `${cause}; a newer slot stands for it`;
}
