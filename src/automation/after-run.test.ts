import { describe, expect, test } from "bun:test";
import { job } from "../testing/automation/job-fixture.ts";
import { afterRun, BACKOFF_MS } from "./after-run.ts";

const NOW = 1_000_000;
const first = { attempt: 1, manual: false };
const busyProvider = { kind: "failed", because: "the provider is busy", again: true } as const;
const wrongKey = { kind: "failed", because: "the key is wrong", again: false } as const;

describe("a run that went well", () => {
  test("forgets failures, and says so when the owner had been told of them", () => {
    expect(afterRun(job({ failures: 1 }), first, { kind: "ran" }, NOW)).toMatchObject({ failures: 0, alert: null });
    expect(afterRun(job({ failures: 3 }), first, { kind: "ran" }, NOW)).toMatchObject({ alert: "recovered" });
  });

  test("takes the job away when it was to run once and be forgotten, and leaves it done otherwise", () => {
    const last = { schedule: { kind: "at", expr: "x" }, nextAt: null } as const;
    expect(afterRun(job({ ...last, deleteAfterRun: true }), first, { kind: "ran" }, NOW).remove).toBe(true);
    expect(afterRun(job(last), first, { kind: "ran" }, NOW)).toMatchObject({ remove: false, state: "done" });
  });

  test("by hand leaves the job as it is", () => {
    const byHand = { attempt: 1, manual: true };
    const after = afterRun(job({ deleteAfterRun: true, nextAt: null }), byHand, { kind: "ran" }, NOW);
    expect(after).toMatchObject({ remove: false, state: "active" });
  });
});

describe("a run there was no money for", () => {
  const skipped = { kind: "skipped", because: "the budget is used up" } as const;
  test("counts as no failure, is not tried again and disables no job, however often it happens", () => {
    const after = afterRun(job({ failures: 9 }), first, skipped, NOW);
    expect(after).toEqual({
      failures: 9,
      retryAt: null,
      state: "active",
      because: null,
      remove: false,
      alert: null,
    });
  });

  test("leaves a job whose only moment it was to be started by hand, with the reason", () => {
    const once = { schedule: { kind: "at", expr: "x" }, nextAt: null, deleteAfterRun: true } as const;
    expect(afterRun(job(once), first, skipped, NOW)).toMatchObject({
      state: "disabled",
      because: "the budget is used up",
      remove: false,
    });
  });
});

describe("a run that failed", () => {
  test("is tried again after 30 s, 60 s, 5 m, 15 m and 60 m, then no more", () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((attempt) => {
      const { retryAt } = afterRun(job(), { attempt, manual: false }, busyProvider, NOW);
      return retryAt === null ? null : retryAt - NOW;
    });
    expect(pauses).toEqual([...BACKOFF_MS, null]);
    expect(BACKOFF_MS).toEqual([30_000, 60_000, 300_000, 900_000, 3_600_000]);
  });

  test("is not tried again when that cannot help", () => {
    expect(afterRun(job(), first, wrongKey, NOW).retryAt).toBeNull();
  });

  test("alerts the owner the second time in a row, once", () => {
    const alerts = [0, 1, 2, 3].map((failures) => afterRun(job({ failures }), first, busyProvider, NOW).alert);
    expect(alerts).toEqual([null, "failing", null, null]);
  });

  test("switches the job off the tenth time in a row, with the reason", () => {
    expect(afterRun(job({ failures: 8 }), first, busyProvider, NOW).state).toBe("active");
    const after = afterRun(job({ failures: 9 }), first, busyProvider, NOW);
    expect(after).toMatchObject({ state: "disabled", alert: "disabled", retryAt: null });
    expect(after.because).toContain("the provider is busy");
  });

  test("and had no other chance is told at once, and kept with its reason", () => {
    const after = afterRun(job({ nextAt: null, deleteAfterRun: true }), first, wrongKey, NOW);
    expect(after).toMatchObject({ state: "disabled", because: "the key is wrong", alert: "failing", remove: false });
  });
});
