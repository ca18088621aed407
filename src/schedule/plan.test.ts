import { describe, expect, test } from "bun:test";
import type { Job } from "../contracts/automation/job.ts";
import { job } from "../testing/schedule/job-fixture.ts";
import { MAX_CATCH_UP, plan } from "./plan.ts";

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const idle = { running: 0, waiting: 0 };

/** Minutes ago → what becomes of each slot. */
function fates(more: Partial<Job>, minutesAgo: readonly number[], busy = idle, nextAt: number | null = NOW + HOUR) {
  let id = 0;
  const slots = minutesAgo.map((minutes) => NOW - minutes * 60_000);
  const planned = plan(job(more), { passed: { slots, nextAt }, busy, now: NOW }, () => `run-${id++}`);
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
    expect(fates({ catchUp: "all", overlap: "queue" }, [30, 20, 10])).toEqual(["running", "waiting", "skipped"]);
  });
});

test("a job whose last slot was missed is done, one whose last slot runs is not yet", () => {
  const planned = (ago: number) =>
    plan(job(), { passed: { slots: [NOW - ago], nextAt: null }, busy: idle, now: NOW }, () => "run").state;
  expect([planned(2 * HOUR), planned(0)]).toEqual(["done", "active"]);
});

test("every row that does not run says why", () => {
  const moment = { passed: { slots: [NOW - 2 * HOUR, NOW - HOUR / 2, NOW], nextAt: null }, busy: idle, now: NOW };
  expect(plan(job(), moment, () => "run").rows.map(({ reason }) => reason)).toEqual([
    "it was too long ago when the gateway came back",
    "the gateway was not running; a newer slot stands for it",
    null,
  ]);
});
