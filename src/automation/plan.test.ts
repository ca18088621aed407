import { describe, expect, test } from "bun:test";
import type { Job } from "../contracts/automation/job.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { MAX_CATCH_UP, plan } from "./plan.ts";

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const idle = { running: 0, waiting: 0 };

/** Running for ten hours. */
const since = NOW - 10 * HOUR;

/** Minutes ago → what becomes of each slot. */
function fates(more: Partial<Job>, minutesAgo: readonly number[], busy = idle, nextAt: number | null = NOW + HOUR) {
  let id = 0;
  const slots = minutesAgo.map((minutes) => NOW - minutes * 60_000);
  const planned = plan(job(more), { passed: { slots, nextAt }, busy, now: NOW, since }, () => `run-${id++}`);
  expect(planned.rows.map(({ slot }) => slot)).toEqual(slots);
  return planned.rows.map(({ status }): string => status);
}

describe("slots that have passed", () => {
  test("run when they are on time, each with a row", () => {
    expect(fates({}, [0])).toEqual(["running"]);
    expect(fates({}, [1])).toEqual(["running"]);
  });

  test.each<[Job["catchUp"], readonly number[], readonly string[]]>([
    ["skip", [30, 20, 10], ["missed", "missed", "missed"]],
    ["skip", [30, 0], ["missed", "running"]],
    ["once", [30, 20, 10], ["missed", "missed", "running"]],
    ["once", [30, 0], ["missed", "running"]],
    ["once", [90], ["missed"]],
    ["all", [90, 30, 20, 0], ["missed", "running", "running", "running"]],
  ])("with catchUp %s, %p minutes ago, are %p", (catchUp, ago, expected) => {
    expect(fates({ catchUp, overlap: "allow" }, ago)).toEqual([...expected]);
  });

  test("are caught up with up to a limit, the newest ones", () => {
    const ago = Array.from({ length: 15 }, (_, n) => 50 - n * 3);
    const found = fates({ catchUp: "all", overlap: "allow" }, ago);
    expect(found.filter((status) => status === "running").length).toBe(MAX_CATCH_UP);
    expect(found.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "missed"));
  });

  test("of a moment asked for once are kept for a day", () => {
    const once: Partial<Job> = { schedule: { kind: "at", expr: "x" } };
    expect(fates(once, [600], idle, null)).toEqual(["running"]);
    expect(fates(once, [60 * 25], idle, null)).toEqual(["missed"]);
  });

  test("do not begin an older one when more are to be written in the next step", () => {
    expect(fates({}, [59, 58], idle, NOW - 60_000 * 57)).toEqual(["missed", "missed"]);
  });
});

describe("a slot that comes while the one before is running", () => {
  const running = { running: 1, waiting: 0 };
  test.each<[Job["overlap"], { running: number; waiting: number }, string]>([
    ["skip", running, "skipped"],
    ["queue", running, "waiting"],
    ["queue", { running: 1, waiting: 1 }, "skipped"],
    ["allow", running, "running"],
  ])("with overlap %s and %j is %s", (overlap, busy, expected) => {
    expect(fates({ overlap }, [0], busy)).toEqual([expected]);
  });

  test("of the same step counts as well", () => {
    expect(fates({ overlap: "queue" }, [0], { running: 1, waiting: 3 })).toEqual(["skipped"]);
  });
});

describe("a job with catchUp all", () => {
  test.each<[Job["overlap"], string]>([
    ["skip", "waiting"],
    ["queue", "waiting"],
    ["allow", "running"],
  ])("and overlap %s runs ten of ten slots: the first at once, the others are %s", (overlap, others) => {
    const ago = Array.from({ length: 10 }, (_, n) => 50 - n * 5);
    expect(fates({ catchUp: "all", overlap }, ago)).toEqual(["running", ...Array.from({ length: 9 }, () => others)]);
  });

  test("leaves room for the newer slots that the next step writes", () => {
    const slots = Array.from({ length: 12 }, (_, n) => NOW - (50 - n) * 60_000);
    const passed = { slots, nextAt: NOW - 60_000, following: 4 };
    const { rows } = plan(job({ catchUp: "all" }), { passed, busy: idle, now: NOW, since }, () => "run");
    expect(rows.filter(({ status }) => status !== "missed").map(({ slot }) => slot)).toEqual(slots.slice(-6));
    const full = plan(
      job({ catchUp: "all" }),
      { passed: { ...passed, following: 10 }, busy: idle, now: NOW, since },
      () => "run",
    );
    expect(full.rows.every(({ status }) => status === "missed")).toBe(true);
  });
});

describe("a short stop over several slots", () => {
  const seconds = [50, 40, 30, 20, 10].map((ago) => NOW - ago * 1_000);
  const startedNow = { passed: { slots: seconds, nextAt: NOW }, busy: idle, now: NOW - 1, since: NOW - 5_000 };
  const statuses = (catchUp: Job["catchUp"], moment = startedNow) =>
    plan(job({ catchUp, overlap: "allow" }), moment, () => "run").rows.map(({ status }): string => status);

  test("runs none of them with catchUp skip, and one with catchUp once", () => {
    expect(statuses("skip")).toEqual(Array.from({ length: 5 }, () => "missed"));
    expect(statuses("once")).toEqual(["missed", "missed", "missed", "missed", "running"]);
  });

  test("of the machine alone runs the newest with catchUp skip: the gateway was there, only late", () => {
    expect(statuses("skip", { ...startedNow, since: NOW - HOUR }).at(-1)).toBe("running");
  });
});

test("a job whose last slot was missed is done, one whose last slot runs is not yet", () => {
  const planned = (ago: number) =>
    plan(job(), { passed: { slots: [NOW - ago], nextAt: null }, busy: idle, now: NOW, since }, () => "run").state;
  expect([planned(2 * HOUR), planned(0)]).toEqual(["done", "active"]);
});

test.each<[Job["catchUp"], number, readonly (string | null)[]]>([
  [
    "once",
    NOW - 1,
    [
      "the gateway was not running, and the slot is too long ago to catch up",
      "the gateway was not running; a newer slot stands for it",
      null,
    ],
  ],
  [
    "skip",
    NOW - HOUR,
    [
      "the gateway was not running, and the slot is too long ago to catch up",
      "the machine was busy or asleep, and the job does not catch up",
      null,
    ],
  ],
])("every row of catchUp %s that does not run says why, and what is true", (catchUp, start, reasons) => {
  const passed = { slots: [NOW - 2 * HOUR, NOW - HOUR / 2, NOW], nextAt: null };
  const { rows } = plan(job({ catchUp }), { passed, busy: idle, now: NOW, since: start }, () => "run");
  expect(rows.map(({ reason }) => reason)).toEqual([...reasons]);
});

test("slots beyond the limit of catchUp all say that there is a limit", () => {
  const slots = Array.from({ length: 11 }, (_, n) => NOW - (11 - n) * 60_000);
  const { rows } = plan(
    job({ catchUp: "all" }),
    { passed: { slots, nextAt: null }, busy: idle, now: NOW, since: NOW },
    () => "run",
  );
  expect(rows[0]?.reason).toBe("the gateway was not running, and only the newest 10 slots are caught up with");
});
