/** New rules for a time zone, between the life that worked out the next slot and the one in which it comes. */
import { describe, expect, test } from "bun:test";
import type { JobRun } from "../../contracts/automation/job.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { job } from "../../testing/automation/job-fixture.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { startEngine } from "../engine.ts";
import { slotAfterUpdate } from "./zone-update.ts";
import { createTimes } from "./times.ts";
import { ENDLESS_RUNS, NO_REPORTS } from "../../testing/automation/quiet-jobs.ts";

const HOUR = 3_600_000;
const DAY = Date.UTC(2026, 0, 10);
const times = createTimes(() => "UTC");

/** `nextAt` as hours of the day under the old rules; the expression is read under the new ones, which are UTC. */
const slot = (expr: string, hours: number): number | null => {
  const read = times.read({ kind: "cron", expr });
  if (!read.ok) throw new Error(read.problem);
  const at = slotAfterUpdate(times, read.schedule, { nextAt: DAY + hours * HOUR, anchorAt: 0 });
  return at === null ? null : (at - DAY) / HOUR;
};

describe("the next slot, under rules that have changed since", () => {
  test.each([
    ["0 9 * * *", 9, 9, "the same"],
    ["0 9 * * *", 8, 9, "an hour later now"],
    ["0 9 * * *", 10, 10, "an hour earlier: late is better than never"],
    ["0 9 * * *", 3, 9, "six hours later: the machine moved"],
    ["0 9 * * *", 15, 15, "six hours earlier"],
    ["0 9 1 * *", 8, 8, "not today at all any more, and nobody knows why"],
    ["*/5 * * * *", 8, 8, "one of many"],
    ["0 9,11 * * *", 8, 9, "the first of two"],
  ])("of %s, worked out as %d, is %d: %s", (expr, stored, expected) => {
    expect(slot(expr, stored)).toBe(expected);
  });

  test("is none where there was none, and an interval or a moment knows no zone", () => {
    const every = times.read({ kind: "every", expr: "1h" });
    if (!every.ok) throw new Error(every.problem);
    expect(slotAfterUpdate(times, every.schedule, { nextAt: 5, anchorAt: 0 })).toBe(5);
    expect(slotAfterUpdate(times, every.schedule, { nextAt: null, anchorAt: 0 })).toBeNull();
  });
});

test("a job at nine runs once on the day on which the rules of its zone are others, at nine, and never at eight", async () => {
  const clock = createFakeClock(DAY + 7 * HOUR);
  await using real = await realStore(clock);
  const stored = DAY + 8 * HOUR; // nine o'clock, as an earlier version knew it
  await real.store.jobs.add(job({ schedule: { kind: "cron", expr: "0 9 * * *" }, nextAt: stored }));
  const deps = {
    clock,
    ids: createSeqIds(),
    log: recordingLog(),
    store: real.store.jobs,
    times,
    starter: ENDLESS_RUNS,
  };
  const told: JobRun[] = [];
  await using _engine = startEngine({ ...deps, ...NO_REPORTS, told: (run) => void told.push(run) });
  for (let minute = 0; minute < 180; minute++) await clock.advance(60_000);
  expect(told.map(({ slot: at, status }) => [new Date(at).toISOString(), status])).toEqual([
    ["2026-01-10T09:00:00.000Z", "running"],
  ]);
  const { items } = await real.store.jobs.runs("water", { limit: 10 });
  expect(items.length).toBe(1);
});
