/** Ends of runs that meet something else: another end of the same job, or a person who changes it. Nothing overwrites the other. */
import { expect, test } from "bun:test";
import type { JobAlert } from "../contracts/automation/job.ts";
import { silentLog } from "../kit/log.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { startEngine } from "./engine.ts";
import { createTimes } from "./times/times.ts";
import { ENDLESS_RUNS, NO_REPORTS } from "../testing/automation/quiet-jobs.ts";

const failed = { kind: "failed", because: "the key is wrong", again: false } as const;

async function fixture() {
  const clock = createFakeClock(0);
  const real = await realStore(clock);
  const { jobs } = real.store;
  const told: JobAlert[] = [];
  const engine = startEngine({
    clock,
    ids: createSeqIds(),
    log: silentLog,
    store: jobs,
    times: createTimes(() => "UTC"),
    starter: ENDLESS_RUNS,
    ...NO_REPORTS,
    tellOwner: async (alert) => void told.push(alert),
  });
  const begin = async (at: number): Promise<string> => (await engine.runNow("water", at))?.id ?? "";
  return {
    jobs,
    engine,
    begin,
    told,
    clock,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await real[Symbol.asyncDispose]();
    },
  };
}

test("two failures at the same moment are two, and the owner hears of the second", async () => {
  await using world = await fixture();
  await world.jobs.add(job({ overlap: "allow" }));
  const runs = [await world.begin(1), await world.begin(2)];
  await Promise.all(runs.map((id) => world.engine.ended(id, failed, null)));
  expect(await world.jobs.get("water")).toMatchObject({ failures: 2 });
  await world.clock.advance(1);
  expect(world.told).toMatchObject([{ jobId: "water", kind: "failing", failures: 2, because: failed.because }]);
});

test("a job that is paused while its run ends stays paused", async () => {
  await using world = await fixture();
  await world.jobs.add(job());
  const run = await world.begin(1);
  const seen = await world.jobs.get("water");
  if (!seen) throw new Error("there is no job");
  const pausing = world.jobs.change({ ...seen, state: "paused", nextAt: null }, seen.revision);
  await Promise.all([world.engine.ended(run, failed, null), pausing]);
  expect(await world.jobs.get("water")).toMatchObject({ state: "paused", failures: 1 });
});
