import { describe, expect, test } from "bun:test";
import type { Schedule } from "../../contracts/automation/job.ts";
import { readRelative } from "./relative.ts";
import { createTimes } from "./times.ts";

const times = createTimes(() => "Europe/Berlin");
const at = (text: string): number => Date.parse(text);

function moments(schedule: Schedule, from: string, count = 3): string[] {
  const read = times.read(schedule);
  if (!read.ok) return [read.problem];
  const found: string[] = [];
  for (let now: number | null = at(from); found.length < count;) {
    now = times.next(read.schedule, now, at(from));
    if (now === null) break;
    found.push(new Date(now).toISOString().replace(".000", ""));
  }
  return found;
}

const cron = (expr: string, timezone?: string): Schedule => ({
  kind: "cron",
  expr,
  ...(timezone === undefined ? {} : { timezone }),
});

describe("a cron expression", () => {
  test("without a zone means the clock of the machine", () => {
    expect(moments(cron("0 9 * * *"), "2026-01-01T00:00:00Z", 1)).toEqual(["2026-01-01T08:00:00Z"]);
  });

  test("at one time of day runs at the end of the gap it falls into, and once when the hour comes twice", () => {
    expect(moments(cron("30 2 * * *"), "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00Z",
      "2026-03-30T00:30:00Z",
    ]);
    expect(moments(cron("30 2 * * *"), "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00Z",
      "2026-10-26T01:30:00Z",
    ]);
  });

  test("at several times of day runs whenever the clock on the wall fits", () => {
    expect(moments(cron("*/30 2 * * *"), "2026-03-28T12:00:00Z", 1)).toEqual(["2026-03-30T00:00:00Z"]);
    expect(moments(cron("*/30 2 * * *"), "2026-10-24T12:00:00Z", 4)).toEqual([
      "2026-10-25T00:00:00Z",
      "2026-10-25T00:30:00Z",
      "2026-10-25T01:00:00Z",
      "2026-10-25T01:30:00Z",
    ]);
  });

  test("with six fields has seconds first", () => {
    expect(moments(cron("*/20 0 0 * * *", "UTC"), "2026-01-01T12:00:00Z", 3)).toEqual([
      "2026-01-02T00:00:00Z",
      "2026-01-02T00:00:20Z",
      "2026-01-02T00:00:40Z",
    ]);
  });

  test("with six fields keeps the rule about clock changes: the end of the gap, and once in the hour that comes twice", () => {
    const early = cron("30 15 2 * * *");
    expect(moments(early, "2026-03-28T12:00:00Z", 2)).toEqual(["2026-03-29T01:00:00Z", "2026-03-30T00:15:30Z"]);
    expect(moments(early, "2026-10-24T12:00:00Z", 2)).toEqual(["2026-10-25T00:15:30Z", "2026-10-26T01:15:30Z"]);
  });

  test("with a day of the month and a weekday runs on both", () => {
    expect(moments(cron("0 0 1 * 1", "UTC"), "2026-10-24T12:00:00Z", 3)).toEqual([
      "2026-10-26T00:00:00Z",
      "2026-11-01T00:00:00Z",
      "2026-11-02T00:00:00Z",
    ]);
  });
});

describe("an interval", () => {
  test("is counted from when the job was made, also over a clock change", () => {
    expect(moments({ kind: "every", expr: "45m" }, "2026-03-29T00:10:00Z", 2)).toEqual([
      "2026-03-29T00:55:00Z",
      "2026-03-29T01:40:00Z",
    ]);
  });

  test("begins one interval after the job was made, also when the clock was set back", () => {
    const read = times.read({ kind: "every", expr: "1h" });
    if (!read.ok) throw new Error(read.problem);
    expect(times.next(read.schedule, at("2026-01-01T00:00:00Z"), at("2026-01-01T05:00:00Z"))).toBe(
      at("2026-01-01T06:00:00Z"),
    );
  });
});

describe("a moment", () => {
  test.each([
    ["2026-05-01T09:00:00Z", undefined, "2026-05-01T09:00:00Z"],
    ["2026-05-01T09:00", undefined, "2026-05-01T09:00:00Z"],
    ["2026-05-01 09:00:30", undefined, "2026-05-01T09:00:30Z"],
    ["2026-05-01T09:00:30.640Z", undefined, "2026-05-01T09:00:30.640Z"],
    ["2026-05-01T09:00:30.0625", "Europe/Berlin", "2026-05-01T07:00:30.062Z"],
    ["2026-05-01", undefined, "2026-05-01T00:00:00Z"],
    ["2026-05-01T09:00:00+02:00", undefined, "2026-05-01T07:00:00Z"],
    ["2026-05-01T09:00:00-0330", "Europe/Berlin", "2026-05-01T12:30:00Z"],
    ["2026-05-01T09:00:00", "Europe/Berlin", "2026-05-01T07:00:00Z"],
    ["2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T01:00:00Z"], // skipped by the clock change
    ["2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00Z"], // comes twice
  ])("%s in %p is %s", (expr, timezone, expected) => {
    const schedule: Schedule = { kind: "at", expr, ...(timezone === undefined ? {} : { timezone }) };
    expect(moments(schedule, "2026-01-01T00:00:00Z")).toEqual([expected]);
  });

  test("that has passed has no next", () => {
    expect(moments({ kind: "at", expr: "2025-01-01T00:00:00Z" }, "2026-01-01T00:00:00Z")).toEqual([]);
  });
});

describe("a schedule that cannot be read", () => {
  test.each<[Schedule, string]>([
    [cron("* * *"), "this has 3"],
    [cron("* * * * * * *"), "this has 7"],
    [cron("61 * * * *"), "61"],
    [cron("a b c d e"), "minute (a) contains illegal characters"],
    [cron("*/0 * * * *"), "stepping"],
    [cron("0 0 31 2 *"), "No date ever fits"],
    [cron("0 0 * * *", "Mars/Base"), "not a time zone"],
    [cron(`0 0 * * ${"1,".repeat(200)}1`), "longer than"],
    [{ kind: "every", expr: "soon" }, "30m, 2h, 1d"],
    [{ kind: "every", expr: "100ms" }, "at least 1s"],
    [{ kind: "every", expr: "9999d" }, "at most 366d"],
    [{ kind: "at", expr: "tomorrow" }, "not a moment"],
    [{ kind: "at", expr: "2026-02-30T00:00:00Z" }, "There is no 2026-02-30"],
    [{ kind: "at", expr: "2026-02-03T25:00:00Z" }, "There is no"],
  ])("%j says why: %s", (schedule, words) => {
    const read = times.read(schedule);
    expect(read.ok ? "" : read.problem).toContain(words);
  });
});

test.each([
  ["in 20m", 1_200_000],
  ["in 2 hours", 7_200_000],
  ["in an hour", 3_600_000],
  ["In 5 seconds", 5_000],
  ["in 3 mins", 180_000],
  ["20m", null],
  ["in a while", null],
  ["tomorrow", null],
])("%p is %p away", (text, expected) => {
  expect(readRelative(text)).toBe(expected);
});
