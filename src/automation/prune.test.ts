/** Old rows of runs: which are dropped, that nothing else is, and that ten thousand jobs are no long breath. */
import { expect, test } from "bun:test";
import type { JobStore, NewRun } from "../contracts/automation/job.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { startEngine } from "./engine.ts";
import { createTimes } from "./times/times.ts";
import { ENDLESS_RUNS, NO_REPORTS } from "../testing/automation/quiet-jobs.ts";

const DAY = 86_400_000;
const NOW = 100 * DAY;
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

type Row = Pick<NewRun, "slot" | "status">;

/** A job that has written these rows, each at its slot or when `at` says. */
async function written(jobs: JobStore, id: string, rows: readonly Row[], at?: number): Promise<void> {
  await jobs.add(job({ id, nextAt: 0 }));
  for (const [n, { slot, status }] of rows.entries())
    await jobs.fire([
      {
        jobId: id,
        seenRevision: 1,
        seenNextAt: n === 0 ? 0 : (rows[n - 1]?.slot ?? 0) + 1,
        state: "active",
        rows: [{ id: `${id}-${slot}`, slot, status, reason: null }],
        nextAt: slot + 1,
        at: at ?? slot,
      },
    ]);
}

const slotsOf = async (jobs: JobStore, id: string): Promise<readonly number[]> =>
  (await jobs.runs(id, { limit: 100 })).items.map(({ slot }) => slot / DAY).toReversed();

test("of each job the newest are kept, and all that is not old; what runs, waits or is tried again stays", async () => {
  const clock = createFakeClock(NOW);
  await using real = await realStore(clock);
  const { jobs } = real.store;
  const at = (days: number, status: NewRun["status"] = "missed") => ({ slot: days * DAY, status });
  await written(jobs, "daily", [at(80), at(81), at(82), at(83), at(94), at(95)]);
  await written(jobs, "rare", [at(10), at(20), at(30)]);
  await written(jobs, "stuck", [at(10, "running"), at(11, "waiting"), at(12), at(95), at(96), at(97)]);
  await written(jobs, "young", [at(94), at(95), at(96), at(97)]);
  await written(jobs, "late", [at(60), at(61), at(62), at(63)], 95 * DAY); // the gateway was away for weeks
  const rule = { before: NOW - 7 * DAY, keepPerJob: 3, from: null };
  expect(await jobs.prune(rule)).toEqual({ dropped: 4, next: null });
  expect(await slotsOf(jobs, "daily")).toEqual([83, 94, 95]);
  expect(await slotsOf(jobs, "rare")).toEqual([10, 20, 30]);
  expect(await slotsOf(jobs, "stuck")).toEqual([10, 11, 95, 96, 97]);
  expect(await slotsOf(jobs, "young")).toEqual([94, 95, 96, 97]);
  expect(await slotsOf(jobs, "late")).toEqual([60, 61, 62, 63]);
  expect(await jobs.prune(rule)).toEqual({ dropped: 0, next: null });
});

test("a crowd is gone through a hundred at a time, by an engine that goes on until it is done", async () => {
  const clock = createFakeClock(NOW);
  await using real = await realStore(clock);
  const { jobs } = real.store;
  const all = ids("job", 250);
  await Promise.all(all.map((id) => jobs.add(job({ id, nextAt: 0 }))));
  await jobs.fire(
    all.map((id) => ({
      jobId: id,
      seenRevision: 1,
      seenNextAt: 0,
      nextAt: null,
      state: "paused",
      at: 100,
      rows: ids(id, 22).map((run, slot) => ({ id: run, slot, status: "missed", reason: null })),
    })),
  );
  const asked: (string | null)[] = [];
  const done = Promise.withResolvers<void>();
  const store: JobStore = {
    ...jobs,
    async prune(rule) {
      asked.push(rule.from);
      const pruned = await jobs.prune(rule);
      if (pruned.next === null) done.resolve();
      return pruned;
    },
  };
  const deps = { clock, ids: createSeqIds(), log: recordingLog(), store, times: createTimes(() => "UTC") };
  await using _engine = startEngine({ ...deps, ...NO_REPORTS, starter: ENDLESS_RUNS });
  await done.promise;
  expect(asked.length).toBe(3);
  for (const id of ["job-0", "job-99", "job-249"]) expect((await slotsOf(jobs, id)).length).toBe(20);
});

test("jobs run while old things are taken away, however long that takes, and a stop ends it", async () => {
  const clock = createFakeClock(0);
  await using real = await realStore(clock);
  await real.store.jobs.add(job());
  const told: string[] = [];
  let stopped = false;
  const deps = {
    clock,
    ids: createSeqIds(),
    log: recordingLog(),
    store: real.store.jobs,
    times: createTimes(() => "UTC"),
  };
  {
    await using _engine = startEngine({
      ...deps,
      starter: ENDLESS_RUNS,
      tellOwner: async () => undefined,
      told: ({ status }) => void told.push(status),
      pruneSessions: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            stopped = true;
            resolve();
          });
        }),
    });
    for (let minute = 0; minute < 11; minute++) await clock.advance(60_000);
    expect([told, stopped]).toEqual([["running"], false]);
  }
  expect(stopped).toBe(true);
});
