/** What every store promises about jobs beside single writes: several jobs in one transaction, what goes with a job, and lists of runs. */
import { describe, expect, test } from "bun:test";
import type { Job } from "../../../contracts/automation/job.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import type { StoreWorld } from "../store/store-world.ts";
import { ended, fire } from "./job-contract.ts";

type Open = () => Promise<StoreWorld>;
const FIRED = 1_200_000; // the next slot of a job that was fired

const statuses = async ({ jobs }: Store, jobId: string): Promise<readonly string[]> =>
  (await jobs.runs(jobId, { limit: 50 })).items.map(({ slot, status }) => `${slot} ${status}`);

/** Its first run has failed and is to be tried again at 800,000. */
async function failedOnce({ jobs }: Store, made: Job): Promise<string> {
  await jobs.add(made);
  await jobs.fire([fire(made)]);
  const id = `run-${made.id}-600000`;
  await jobs.end(id, ended({ ...made, nextAt: FIRED }, { status: "failed", retryAt: 800_000 }));
  return id;
}

export function jobRunsContract(name: string, open: Open): void {
  describe(name, () => {
    changePromises(open);
    firePromises(open);
    endPromises(open);
    retryPromises(open);
    prunePromises(open);
  });
}

function changePromises(open: Open): void {
  test("a change writes the slots that passed before it, and counts one revision more than was seen", async () => {
    await using world = await open();
    const { jobs } = world.store;
    await jobs.add(job());
    const missed = { id: "m1", slot: 5, status: "missed", reason: "asleep" } as const;
    expect(await jobs.change(job({ task: "new" }), 1, [missed])).toBe(true);
    expect(await jobs.get("water")).toMatchObject({ task: "new", revision: 2 });
    expect(await jobs.run("m1")).toMatchObject({ status: "missed", reason: "asleep", startedAt: null, manual: false });
    expect(await jobs.change(job({ task: "stale" }), 1, [{ ...missed, id: "m2", slot: 6 }])).toBe(false);
    expect([await jobs.run("m2"), await jobs.change(job({ id: "nothing" }), 1)]).toEqual([null, false]);
  });

  test("a job that is removed takes its runs with it; another job's stay", async () => {
    await using world = await open();
    const { jobs } = world.store;
    for (const id of ["a", "b"]) {
      await jobs.add(job({ id }));
      await jobs.fire([fire(job({ id }))]);
    }
    await jobs.remove("a");
    expect([await statuses(world.store, "a"), await statuses(world.store, "b")]).toEqual([[], ["600000 running"]]);
  });

  test("a cron job follows the zone of the machine only while it is active and names no zone of its own", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const schedule = { kind: "cron", expr: "0 9 * * *" } as const;
    await jobs.add(job({ id: "here", schedule, slotZone: "Europe/Berlin" }));
    await jobs.add(job({ id: "paused", schedule, slotZone: "Europe/Berlin", state: "paused" }));
    await jobs.add(job({ id: "own", schedule: { ...schedule, timezone: "Asia/Tokyo" }, slotZone: "Asia/Tokyo" }));
    await jobs.add(job({ id: "every" }));
    for (const zone of ["Africa/Cairo", "Pacific/Fiji"])
      expect((await jobs.inOtherZone(zone, 9)).map(({ id }) => id)).toEqual(["here"]);
    expect(await jobs.inOtherZone("Europe/Berlin", 9)).toEqual([]);
  });
}

function firePromises(open: Open): void {
  test("several jobs are fired in one transaction, and one that changed since does not hold up the others", async () => {
    await using world = await open();
    const { jobs } = world.store;
    for (const id of ["a", "b", "c"]) await jobs.add(job({ id }));
    await jobs.change(job({ id: "b", task: "other" }), 1);
    const written = await jobs.fire(["a", "b", "c"].map((id) => fire(job({ id }))));
    expect([...written].toSorted()).toEqual(["run-a-600000", "run-c-600000"]);
    const next = await Promise.all(["a", "b", "c"].map(async (id) => (await jobs.get(id))?.nextAt));
    expect(next).toEqual([FIRED, 600_000, FIRED]);
  });

  test("a slot that has a row keeps it, and the others of the same job are written", async () => {
    await using world = await open();
    const { jobs } = world.store;
    await jobs.add(job());
    const run = (id: string, slot: number) => ({ id, slot, status: "missed", reason: null }) as const;
    await jobs.change(job(), 1, [run("first", 100)]);
    const rows = [run("again", 100), run("second", 200)];
    const seen = fire(job({ revision: 2 }), { rows, state: "done", nextAt: null });
    expect([...(await jobs.fire([seen]))]).toEqual(["second"]);
    expect([await jobs.run("again"), (await jobs.run("first"))?.slot]).toEqual([null, 100]);
    expect(await jobs.get("water")).toMatchObject({ state: "done", nextAt: null });
  });
}

function endPromises(open: Open): void {
  test("the run of a job that is gone ends when its end says so, and not when it still expects the job", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job({ deleteAfterRun: true });
    await jobs.add(made);
    await jobs.fire([fire(made)]);
    await jobs.addManualRun({ id: "by hand", jobId: "water", slot: 7 });
    const now = { ...made, nextAt: FIRED };
    expect(await jobs.end("run-water-600000", ended(now, { remove: true, alert: "recovered" }))).toBe("ended");
    expect([await jobs.get("water"), await jobs.end("by hand", ended(now))]).toEqual([null, "changed"]);
    expect(await jobs.end("by hand", ended(now, { seen: null }))).toBe("ended");
    expect(await statuses(world.store, "water")).toEqual(["600000 ran", "7 ran"]);
    expect(await jobs.alerts(9)).toMatchObject([{ jobId: "water", kind: "recovered" }]); // it outlives the job
  });

  test("alerts are told oldest first, as many as are asked for, and each attempt of a run has its own", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job();
    await jobs.add(made);
    await jobs.fire([fire(made)]);
    const fails = (failures: number, at: number) => {
      const how = { status: "failed", retryAt: 800_000, alert: "failing", at } as const;
      return ended(
        { ...made, nextAt: FIRED, failures: failures - 1 },
        { ...how, job: { failures, state: "active", because: null } },
      );
    };
    await jobs.end("run-water-600000", fails(1, 1));
    await jobs.begin("run-water-600000", "failed", 5);
    await jobs.end("run-water-600000", fails(2, 2));
    const { jobs: later } = await world.reopen();
    expect((await later.alerts(9)).map(({ failures, at }) => [failures, at])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(await later.alerts(1)).toMatchObject([{ failures: 1 }]);
    await later.alertTold("nothing");
    expect(await later.alerts(9)).toHaveLength(2);
  });
}

function retryPromises(open: Open): void {
  test("the time of another try is a moment to wake up for, and goes when the job stops or a newer slot runs", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const [paused, newer] = [job({ id: "paused" }), job({ id: "newer" })];
    for (const one of [paused, newer]) await failedOnce(world.store, one);
    expect([await jobs.nextDueAt(), (await jobs.retries(800_000, 9)).length]).toEqual([800_000, 2]);
    expect(await jobs.retries(800_000, 1)).toHaveLength(1);
    await jobs.change(job({ id: "paused", state: "paused", nextAt: null }), 1);
    expect((await jobs.retries(800_000, 9)).map(({ jobId }) => jobId)).toEqual(["newer"]);
    await jobs.fire([fire({ ...newer, nextAt: FIRED })]);
    expect([await jobs.retries(9_999_999, 9), await jobs.nextDueAt()]).toEqual([[], FIRED + 600_000]);
  });

  test("a run begins from the state that is named, and from no other", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const id = await failedOnce(world.store, job());
    expect([await jobs.begin(id, "waiting", 1), await jobs.begin("nothing", "failed", 1)]).toEqual([false, false]);
    expect(await jobs.begin(id, "failed", 900_000)).toBe(true);
    expect(await jobs.run(id)).toEqual({
      id,
      jobId: "water",
      slot: 600_000,
      manual: false,
      status: "running",
      reason: null,
      attempt: 2,
      startedAt: 900_000,
      ms: null,
      turnId: null,
      retryAt: null,
    });
  });
}

function prunePromises(open: Open): void {
  test("runs that have not ended, or are to be tried again, are never dropped; many jobs are looked at in several goes", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const missed = (jobId: string, n: number) =>
      ({ id: `${jobId}-${n}`, slot: n, status: "missed", reason: null }) as const;
    const id = await failedOnce(world.store, job({ id: "again" }));
    await jobs.addManualRun({ id: "running", jobId: "again", slot: 3 });
    const names = Array.from({ length: 101 }, (_, n) => `j${String(n).padStart(3, "0")}`);
    await Promise.all(names.map((name) => jobs.add(job({ id: name }))));
    await jobs.fire(names.map((name) => fire(job({ id: name }), { rows: [missed(name, 1), missed(name, 2)], at: 2 })));
    let dropped = 0;
    let goes = 0;
    for (let from: string | null = null, more = true; more && goes < 9; goes++) {
      const go = await jobs.prune({ before: 9_999_999, keepPerJob: 1, from });
      dropped += go.dropped;
      more = go.next !== null;
      from = go.next;
    }
    expect([dropped, goes]).toEqual([101, 2]);
    expect(await statuses(world.store, "j100")).toEqual(["2 missed"]);
    expect([(await jobs.run(id))?.status, (await jobs.run("running"))?.status]).toEqual(["failed", "running"]);
  });
}
