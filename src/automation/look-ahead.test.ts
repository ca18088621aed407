/** The next times of a schedule that is being written, and the days of a calendar. */
import { expect, test } from "bun:test";
import type { Job, Schedule } from "../contracts/automation/job.ts";
import { OPERATOR } from "../contracts/ids.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createLookAhead } from "./look-ahead.ts";
import { plainTimes } from "./times/calendar-days.ts";
import { createTimes } from "./times/times.ts";
import { readWhen } from "./times/when.ts";
import { localConverter } from "./times/zone.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const OWNER = { principal: OPERATOR, role: "owner" } as const;
const times = createTimes(() => "UTC");

function lookAhead(jobs: readonly Job[] = []) {
  const clock = createFakeClock(NOW);
  return createLookAhead({
    clock,
    times,
    people: { zoneOf: () => undefined, read: (text, _who, timezone = "UTC") => readWhen(text, { now: NOW, timezone }) },
    store: { due: async (until) => jobs.filter(({ nextAt }) => nextAt !== null && nextAt <= until) },
    limits: () => ({ minInterval: 60_000, maxJobs: 10 }),
  });
}

const planned = (id: string, schedule: Schedule): Job => {
  const read = times.read(schedule);
  return job({ id, schedule, anchorAt: NOW, nextAt: read.ok ? times.next(read.schedule, NOW, NOW) : null });
};
const iso = (all: readonly number[]) => all.map((at) => new Date(at).toISOString().slice(0, 16));

test("words are answered with the schedule, the words it is kept as, and the next five times in its zone", () => {
  const answer = lookAhead().preview({ words: "every weekday at 9", timezone: "Europe/Berlin" }, OWNER);
  expect(answer).toMatchObject({
    kind: "ok",
    schedule: { kind: "cron", expr: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    words: "every weekday at 09:00",
  });
  expect(answer.kind === "ok" && iso(answer.nextAt)).toEqual([
    ...["2026-11-17T08:00", "2026-11-18T08:00", "2026-11-19T08:00", "2026-11-20T08:00", "2026-11-23T08:00"],
  ]);
});

test("words that name one moment are a schedule of one time", () => {
  const answer = lookAhead().preview({ words: "tomorrow 9am" }, OWNER);
  expect(answer).toMatchObject({ kind: "ok", words: "once", schedule: { kind: "at" } });
  expect(answer.kind === "ok" && iso(answer.nextAt)).toEqual(["2026-11-17T09:00"]);
});

test("a cron expression that cannot be said in plain words still has its next times", () => {
  const schedule = { kind: "cron", expr: "*/7 9 * * *" } as const;
  const answer = lookAhead().preview({ schedule }, OWNER);
  expect(answer).toMatchObject({ kind: "ok", schedule, words: null });
  expect(answer.kind === "ok" && answer.nextAt).toHaveLength(5);
});

test.each([
  [{ words: "every weekday" }, "Say at what time"],
  [{ words: "some day" }, "is not a moment"],
  [{ words: "every 10 seconds" }, "more often than every"],
  [{ schedule: { kind: "cron", expr: "0 9 * *" } }, "5 fields"],
  [{ schedule: { kind: "at", expr: "2020-01-01T00:00:00Z" } }, "has passed already"],
  [{ words: "every day at 9", timezone: "Mars/Olympus" }, "is not a time zone"],
] as const)("%j is refused with the reason", (asked, because) => {
  const answer = lookAhead().preview(asked, OWNER);
  expect(answer.kind === "refused" ? answer.say : answer.kind).toContain(because);
});

const NOVEMBER = { from: "2026-11-01", days: 30, timezone: "Europe/Berlin" };

test("a calendar has the planned runs of each day from now on, in the order of time", async () => {
  const jobs = [
    planned("weekdays", { kind: "cron", expr: "0 9 * * 1-5", timezone: "Europe/Berlin" }),
    planned("twice", { kind: "every", expr: "12h" }),
    planned("odd", { kind: "cron", expr: "*/30 23 19 11 *", timezone: "UTC" }), // midnight in Berlin has passed by then
    planned("once", { kind: "at", expr: "2026-11-20T07:00:00Z" }),
  ];
  const calendar = await lookAhead(jobs).calendar(NOVEMBER);
  expect(calendar).toMatchObject({ frequent: [], isPartial: false });
  expect(calendar.days[0]).toEqual({
    date: "2026-11-17",
    runs: [expect.anything(), expect.anything(), expect.anything()],
  });
  const friday = calendar.days.find(({ date }) => date === "2026-11-20");
  expect(friday?.runs.map(({ jobId, at }) => `${jobId} ${iso([at])[0]?.slice(11)}`)).toEqual([
    ...["odd 23:00", "odd 23:30", "twice 00:00", "once 07:00", "weekdays 08:00", "twice 12:00"],
  ]);
  expect(calendar.days.at(-1)?.date).toBe("2026-11-30");
});

test("jobs that run all the time are named beside the calendar, and too many jobs are not all looked at", async () => {
  const often = planned("often", { kind: "cron", expr: "*/7 * * * *" });
  expect(await lookAhead([often]).calendar(NOVEMBER)).toEqual({ days: [], frequent: ["often"], isPartial: false });
  const many = Array.from({ length: 201 }, (_, at) => planned(`j${at}`, { kind: "cron", expr: "0 9 * * *" }));
  expect((await lookAhead(many).calendar(NOVEMBER)).isPartial).toBe(true);
  const odd = Array.from({ length: 20 }, (_, at) => planned(`j${at}`, { kind: "cron", expr: "0,20 9 * * *" }));
  expect((await lookAhead(odd).calendar(NOVEMBER)).isPartial).toBe(true);
});

test.each([
  { ...NOVEMBER, from: "2026-13-01" },
  { ...NOVEMBER, from: "yesterday" },
  { ...NOVEMBER, days: 43 },
  { ...NOVEMBER, timezone: "Mars/Olympus" },
])("days that are none are refused: %j", async (range) => {
  await expect(lookAhead().calendar(range)).rejects.toMatchObject({ code: "bad_request" });
});

test.each([
  ...["0 9 * * 1-5", "30 2 * * *", "30 2 * * 0", "0 6 31 * *", "15 8,12,18 1,15 * *", "0 6 L * *", "0 18 24 12 *"],
  ...["0 8 * * 5-7", "0 0 * * 6,0", "0 7 29 2 *"],
])("the times of %s on a calendar are those that the job runs at, also when clocks change", (expr) => {
  const read = times.read({ kind: "cron", expr, timezone: "Europe/Berlin" });
  const end = NOW + 400 * 86_400_000;
  const searched: number[] = [];
  for (let at: number | null = NOW; read.ok && at !== null;) {
    at = times.next(read.schedule, at, NOW);
    if (at === null || at >= end) break;
    searched.push(at);
  }
  expect([...(plainTimes(expr)?.between(NOW, end, localConverter("Europe/Berlin")) ?? [])]).toEqual(searched);
});

test.each(["0 6 1 * 1", "*/5 9 * * *", "0 9-17 * * *", "0 9 * * 5#2", "30 0 9 * * *"])(
  "the times of %s are looked for by the cron library, because it says more than plain numbers",
  (expr) => expect(plainTimes(expr)).toBeNull(),
);
