/** The engine and the clock on the wall, runs that two steps want to begin, and what a stop waits for. */
import { describe, expect, test } from "bun:test";
import type { Job, JobRun, JobStore } from "../contracts/automation/job.ts";
import type { Clock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { waitFor } from "../testing/wait-for.ts";
import { type EngineDeps, startEngine } from "./engine.ts";
import { createTimes } from "./times/times.ts";
import { NO_REPORTS } from "../testing/automation/quiet-jobs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A machine whose wall clock can be moved without any time passing. */
async function machine(
  more: Partial<Pick<EngineDeps, "pruneSessions">> & { readonly around?: (jobs: JobStore) => JobStore } = {},
) {
  const fake = createFakeClock(0);
  const wall = { shiftMs: 0 };
  const clock: Clock = { ...fake, now: () => fake.now() + wall.shiftMs };
  const real = await realStore(clock);
  const { jobs } = real.store;
  const started: JobRun[] = [];
  const log = recordingLog();
  const starter = {
    unpaid: () => null,
    check: async () => null,
    async start(run: JobRun) {
      started.push(run);
      return { kind: "begun" as const };
    },
  };
  const { around = (jobs: JobStore) => jobs, ...deps } = more;
  const start = () =>
    startEngine({
      clock,
      ids: createSeqIds(),
      log,
      store: around(jobs),
      times: createTimes(() => "UTC"),
      starter,
      ...NO_REPORTS,
      ...deps,
    });
  return { fake, wall, jobs, started, log, start, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("a clock that is moved", () => {
  test("forward over a slot is noticed within half a minute", async () => {
    await using world = await machine();
    await world.jobs.add(job({ nextAt: 2 * HOUR, schedule: { kind: "every", expr: "2h" } }));
    await using _engine = world.start();
    await world.fake.advance(MINUTE);
    world.wall.shiftMs = 2 * HOUR;
    await world.fake.advance(30_000);
    expect(world.started.map(({ slot }) => slot)).toEqual([2 * HOUR]);
  });

  test("forward over the next attempt of a failed run is noticed within half a minute", async () => {
    await using world = await machine();
    await world.jobs.add(job({ nextAt: 10 * MINUTE, schedule: { kind: "every", expr: "100h" } }));
    await using engine = world.start();
    await world.fake.advance(10 * MINUTE);
    const [run] = world.started;
    await engine.ended(run?.id ?? "", { kind: "failed", because: "busy", again: true }, null);
    for (const attempt of [2, 3]) {
      await world.fake.advance(HOUR);
      await engine.ended(run?.id ?? "", { kind: "failed", because: "busy", again: true }, null);
      expect(world.started.length).toBe(attempt);
    }
    world.wall.shiftMs = HOUR; // the fourth is due in five minutes by now
    await world.fake.advance(30_000);
    expect(world.started.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  test("back does not run a slot a second time", async () => {
    await using world = await machine();
    await world.jobs.add(job({ nextAt: 10 * MINUTE, overlap: "allow" }));
    await using _engine = world.start();
    await world.fake.advance(10 * MINUTE);
    world.wall.shiftMs = -5 * MINUTE;
    await world.fake.advance(10 * MINUTE);
    expect(world.started.map(({ slot }) => slot)).toEqual([10 * MINUTE]);
  });
});

test("a failed run that another step has begun already is not begun a second time", async () => {
  const again: JobRun[] = [];
  await using world = await machine({
    around: (jobs) => ({
      ...jobs,
      async retries(now, limit) {
        const due = await jobs.retries(now, limit);
        again.push(...due);
        return [...due, ...again]; // as if it had been read before the other step wrote
      },
    }),
  });
  await world.jobs.add(job({ nextAt: 10 * MINUTE, schedule: { kind: "every", expr: "100h" } }));
  await using engine = world.start();
  await world.fake.advance(10 * MINUTE);
  await engine.ended(world.started[0]?.id ?? "", { kind: "failed", because: "busy", again: true }, null);
  await world.fake.advance(10 * MINUTE);
  expect(world.started.map(({ attempt }) => attempt)).toEqual([1, 2]);
});

describe("the deletion of old runs", () => {
  test("is waited for by a stop", async () => {
    const pruning = deferred<void>();
    let begun = false;
    await using world = await machine({
      pruneSessions() {
        begun = true;
        return pruning.promise;
      },
    });
    const engine = world.start();
    await waitFor("the deletion has begun", () => begun);
    let stopped = false;
    const stop = Promise.resolve(engine[Symbol.asyncDispose]()).then(() => (stopped = true));
    await world.fake.advance(0);
    expect(stopped).toBe(false);
    pruning.resolve();
    await stop;
  });

  test("that fails is said in the log, and jobs and the stop go on", async () => {
    await using world = await machine({ pruneSessions: () => Promise.reject(new Error("the disk is full")) });
    await world.jobs.add(job({ nextAt: 10 * MINUTE }));
    const engine = world.start();
    await world.fake.advance(10 * MINUTE);
    expect(world.started.length).toBe(1);
    await engine[Symbol.asyncDispose]();
    expect(world.log.lines.map(({ words }) => words)).toContain("old runs could not be dropped");
  });
});

test.each<Job["overlap"]>(["skip", "queue"])(
  "a job with catchUp all and overlap %s runs the ten newest slots of a stop one after the other, oldest first",
  async (overlap) => {
    await using world = await machine();
    await world.fake.advance(55 * MINUTE);
    const schedule = { kind: "every", expr: "2s" } as const; // more slots than one step writes
    await world.jobs.add(job({ nextAt: 2_000, schedule, catchUp: "all", overlap }));
    await using engine = world.start();
    for (let count = 1; count <= 10; count++) {
      await waitFor(
        `run ${count}`,
        () => world.started.length,
        (seen) => seen >= count,
      );
      await world.fake.advance(0);
      expect([world.started.length, (await world.jobs.busy("water")).running]).toEqual([count, 1]);
      await engine.ended(world.started.at(-1)?.id ?? "", { kind: "ran" }, null);
    }
    const newest = 55 * MINUTE;
    expect(world.started.map(({ slot }) => slot)).toEqual(
      Array.from({ length: 10 }, (_, n) => newest - (9 - n) * 2_000),
    );
    expect((await world.jobs.busy("water")).waiting).toBe(0);
  },
);

test("more jobs than fit in one step are all begun at their moment", async () => {
  await using world = await machine();
  for (let n = 0; n < 450; n++)
    await world.jobs.add(job({ id: `job-${n}`, nextAt: 10 * MINUTE, schedule: { kind: "every", expr: "100h" } }));
  await using _engine = world.start();
  await world.fake.advance(10 * MINUTE);
  await waitFor(
    "450 runs",
    () => world.started.length,
    (count) => count === 450,
  );
  expect(world.fake.elapsed()).toBe(10 * MINUTE);
});

test("a start that cannot read what was running tries again, and jobs run", async () => {
  let failures = 2;
  await using world = await machine({
    around: (jobs) => ({
      ...jobs,
      running: () => (failures-- > 0 ? Promise.reject(new Error("disk full")) : jobs.running()),
    }),
  });
  await world.jobs.add(job({ nextAt: 10 * MINUTE }));
  await using _engine = world.start();
  await world.fake.advance(10 * MINUTE);
  expect(world.started.map(({ slot }) => slot)).toEqual([10 * MINUTE]);
});

test("runs that came from another gateway are begun again, and those that run here or have ended are not", async () => {
  await using world = await machine();
  await using engine = world.start();
  await world.fake.advance(0); // it has read what a process before it had begun
  const ids = ["mine", "came", "ended"];
  for (const id of ids) {
    await world.jobs.add(job({ id, nextAt: null }));
    await world.jobs.addManualRun({ id: `run-${id}`, jobId: id, slot: MINUTE });
  }
  await engine.ended("run-ended", { kind: "skipped", because: "a test" }, null);
  await engine.adopt(["run-came", "run-ended", "run-unknown"]);
  expect(world.started.map(({ id }) => id)).toEqual(["run-came"]);
});
