/** Runs there is no money for, with the shipped engine and SQL: skipped with the reason, and never a failure of the job. */
import { expect, test } from "bun:test";
import type { Job, JobRun } from "../contracts/automation/job.ts";
import type { RunStart } from "./runs/run-start.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { type Engine, startEngine } from "./engine.ts";
import { outcomeOf } from "./runs/outcome.ts";
import { createTimes } from "./times/times.ts";
import { NO_REPORTS } from "../testing/automation/quiet-jobs.ts";

const MINUTE = 60_000;

async function world(made: Partial<Job> = {}) {
  const clock = createFakeClock(0);
  const real = await realStore(clock);
  await real.store.jobs.add(job(made));
  const money = { left: false };
  const started: string[] = [];
  const starter = {
    check: async () => null,
    unpaid: () => (money.left ? null : "The daily budget is used up."),
    async start({ id }: JobRun): Promise<RunStart> {
      started.push(id);
      return { kind: "begun" };
    },
  };
  const deps = { clock, ids: createSeqIds(), log: recordingLog(), times: createTimes(() => "UTC"), starter };
  const open = (): Engine => startEngine({ ...deps, ...NO_REPORTS, store: real.store.jobs });
  const pass = async (minutes: number) => {
    for (let n = 0; n < minutes * 2; n++) await clock.advance(MINUTE / 2);
  };
  const rows = async () => (await real.store.jobs.runs("water", { limit: 50 })).items;
  const end = () => real[Symbol.asyncDispose]();
  return { clock, store: real.store, money, started, open, pass, rows, [Symbol.asyncDispose]: end };
}

test("a day of slots without money is a day of skipped rows, and the job goes on when there is some", async () => {
  await using fx = await world();
  await using _engine = fx.open();
  await fx.pass(125);
  expect((await fx.rows()).map(({ status, reason, retryAt }) => [status, reason, retryAt])).toEqual(
    Array.from({ length: 12 }, () => ["skipped", "The daily budget is used up.", null]),
  );
  expect(await fx.store.jobs.get("water")).toMatchObject({ state: "active", failures: 0 });
  expect(fx.started).toEqual([]);
  fx.money.left = true;
  await fx.pass(10);
  expect(fx.started).toHaveLength(1);
});

test("a run that a previous process had put in is taken up again without asking: the budget had allowed it then", async () => {
  await using fx = await world();
  fx.money.left = true;
  {
    await using _first = fx.open();
    await fx.pass(11);
  }
  fx.money.left = false;
  await using _second = fx.open();
  await fx.clock.advance(0);
  expect([fx.started.length, (await fx.rows())[0]?.status]).toEqual([2, "running"]);
});

test("a run whose turn found the money gone is skipped as well", async () => {
  expect(outcomeOf({ outcome: "failed", errorCode: "budget_spent" }, false)).toMatchObject({ kind: "skipped" });
  await using fx = await world();
  fx.money.left = true;
  await using engine = fx.open();
  await fx.pass(11);
  await engine.ended(fx.started[0] ?? "", { kind: "skipped", because: "A budget is used up." }, null);
  expect((await fx.rows())[0]).toMatchObject({ status: "skipped", reason: "A budget is used up.", retryAt: null });
});
