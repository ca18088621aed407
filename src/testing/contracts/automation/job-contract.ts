/** What every store promises about jobs and their runs: a slot has one row, a decision about something that has changed since is not written. */
import { describe, expect, test } from "bun:test";
import type { Job, JobFire, RunEnd } from "../../../contracts/automation/job.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { job } from "../../automation/job-fixture.ts";
import type { StoreWorld } from "../store/store-world.ts";

const MINUTE = 60_000;
const ANN = "telegram:user:7" as Principal;

export function fire(one: Job, more: Partial<JobFire> = {}): JobFire {
  const slot = one.nextAt ?? 0;
  return {
    jobId: one.id,
    seenRevision: one.revision,
    seenNextAt: slot,
    rows: [{ id: `run-${one.id}-${slot}`, slot, status: "running", reason: null }],
    nextAt: slot + 10 * MINUTE,
    state: "active",
    at: slot,
    ...more,
  };
}

export function ended(one: Job, more: Partial<RunEnd> = {}): RunEnd {
  const { revision, failures, state, nextAt } = one;
  return {
    status: "ran",
    reason: null,
    ms: 5,
    turnId: null,
    retryAt: null,
    seen: { revision, failures, state, nextAt },
    job: { failures: 0, state: "active", because: null },
    remove: false,
    alert: null,
    at: 700_000,
    ...more,
  };
}

export function jobContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    listPromises(open);
    slotPromises(open);
    runPromises(open);
    alertPromises(open);
  });
}

function listPromises(open: () => Promise<StoreWorld>): void {
  test("a job is added once under its name, is read whole, and is there after a restart", async () => {
    await using world = await open();
    const made = job({ needs: ["web_search"], webhook: "ops", timeoutMs: 1_000 });
    expect(await world.store.jobs.add(made)).toBe(true);
    expect(await world.store.jobs.add(job({ task: "another" }))).toBe(false);
    expect(await world.store.jobs.get("water")).toEqual(made);
    const { jobs } = await world.reopen();
    expect(await jobs.get("water")).toEqual(made);
    expect(await jobs.get("nothing")).toBeNull();
  });

  test("jobs are listed and counted by source and creator, page by page", async () => {
    await using world = await open();
    const { jobs } = world.store;
    for (const id of ["a", "b", "c"]) await jobs.add(job({ id, createdBy: ANN }));
    await jobs.add(job({ id: "d", source: "config" }));
    const first = await jobs.list({ createdBy: ANN }, { limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await jobs.list({ createdBy: ANN }, { limit: 2, ...(first.next ? { cursor: first.next } : {}) });
    expect([...first.items, ...second.items].map(({ id }) => id).toSorted()).toEqual(["a", "b", "c"]);
    expect((await jobs.list({ source: "config" }, { limit: 9 })).items.map(({ id }) => id)).toEqual(["d"]);
    expect(await jobs.count({ createdBy: ANN, source: "person" })).toBe(3);
  });

  test("only jobs whose last run failed are listed when that is asked for", async () => {
    await using world = await open();
    const { jobs } = world.store;
    await jobs.add(job({ id: "well" }));
    await jobs.add(job({ id: "badly", failures: 2 }));
    expect((await jobs.list({ failing: true }, { limit: 9 })).items.map(({ id }) => id)).toEqual(["badly"]);
    expect((await jobs.list({ failing: false }, { limit: 9 })).items).toHaveLength(2);
  });

  test("planned jobs are listed by their next slot, page by page; those without one are a list of their own", async () => {
    await using world = await open();
    const { jobs } = world.store;
    for (const [id, nextAt] of [
      ["late", 30],
      ["b", 10],
      ["a", 10],
      ["soon", 5],
    ] as const)
      await jobs.add(job({ id, nextAt }));
    await jobs.add(job({ id: "paused", state: "paused", nextAt: null }));
    const pages: string[][] = [];
    for (let cursor: string | undefined; ;) {
      const page = await jobs.list({ planned: true }, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(pages).toEqual([
      ["soon", "a"],
      ["b", "late"],
    ]);
    expect((await jobs.list({ planned: false }, { limit: 9 })).items.map(({ id }) => id)).toEqual(["paused"]);
  });

  test("a change is written when the job still is what was seen, and not after another change", async () => {
    await using world = await open();
    const { jobs } = world.store;
    await jobs.add(job());
    expect(await jobs.change(job({ task: "first", revision: 2 }), 1)).toBe(true);
    expect(await jobs.change(job({ task: "second", revision: 2 }), 1)).toBe(false);
    expect((await jobs.get("water"))?.task).toBe("first");
    expect([await jobs.remove("water"), await jobs.remove("water"), await jobs.get("water")]).toEqual([
      true,
      false,
      null,
    ]);
  });
}

function slotPromises(open: () => Promise<StoreWorld>): void {
  test("due are active jobs whose slot has come, the oldest first; the next moment is known without changing anything", async () => {
    await using world = await open();
    const { jobs } = world.store;
    expect(await jobs.nextDueAt()).toBeNull();
    await jobs.add(job({ id: "late", nextAt: 2_000 }));
    await jobs.add(job({ id: "soon", nextAt: 1_000 }));
    await jobs.add(job({ id: "off", nextAt: 500, state: "paused" }));
    expect(await jobs.nextDueAt()).toBe(1_000);
    expect((await jobs.due(2_000, 10)).map(({ id }) => id)).toEqual(["soon", "late"]);
    expect((await jobs.due(1_999, 10)).map(({ id }) => id)).toEqual(["soon"]);
    expect(await jobs.due(2_000, 1)).toHaveLength(1);
  });

  test("a slot gets one row, however often it is fired; a job that changed since is left alone", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job();
    await jobs.add(made);
    expect([...(await jobs.fire([fire(made)]))]).toEqual(["run-water-600000"]);
    expect([...(await jobs.fire([fire(made)]))]).toEqual([]);
    expect((await jobs.get("water"))?.nextAt).toBe(1_200_000);
    const again = { ...fire({ ...made, nextAt: 1_200_000 }), seenRevision: 7 };
    expect([...(await jobs.fire([again]))]).toEqual([]);
    expect((await jobs.runs("water", { limit: 9 })).items.map(({ slot, status }) => [slot, status])).toEqual([
      [600_000, "running"],
    ]);
  });

  test("slots are moved to another zone only where the job still is what was seen", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const cron = { schedule: { kind: "cron", expr: "0 9 * * *" }, slotZone: "Europe/Berlin" } as const;
    await jobs.add(job({ id: "a", ...cron }));
    await jobs.add(job({ id: "b", ...cron }));
    expect((await jobs.inOtherZone("Asia/Tokyo", 9)).map(({ id }) => id).toSorted()).toEqual(["a", "b"]);
    const move = { seenNextAt: 600_000, nextAt: 900_000, slotZone: "Asia/Tokyo" };
    await jobs.moveSlots([
      { jobId: "a", seenRevision: 1, ...move },
      { jobId: "b", seenRevision: 9, ...move },
    ]);
    expect([(await jobs.get("a"))?.nextAt, (await jobs.get("b"))?.nextAt]).toEqual([900_000, 600_000]);
    expect((await jobs.inOtherZone("Asia/Tokyo", 9)).map(({ id }) => id)).toEqual(["b"]);
  });
}

function runPromises(open: () => Promise<StoreWorld>): void {
  test("a run by hand is written once for one moment", async () => {
    await using world = await open();
    const { jobs } = world.store;
    await jobs.add(job());
    expect(await jobs.addManualRun({ id: "r1", jobId: "water", slot: 5 })).toBe(true);
    expect(await jobs.addManualRun({ id: "r2", jobId: "water", slot: 5 })).toBe(false);
    expect(await jobs.run("r1")).toMatchObject({ manual: true, slot: 5 });
    expect(await jobs.run("r2")).toBeNull();
  });

  test("a run ends once, with its job; an end that was decided about another state is refused", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job();
    await jobs.add(made);
    await jobs.fire([fire(made)]);
    const now = { ...made, nextAt: 1_200_000 };
    expect((await jobs.running()).map(({ id }) => id)).toEqual(["run-water-600000"]);
    expect(await jobs.end("run-water-600000", ended({ ...now, failures: 4 }))).toBe("changed");
    const failed = { failures: 1, state: "active", because: null } as const;
    const how = ended(now, { status: "failed", reason: "no key", retryAt: 800_000, job: failed });
    expect(await jobs.end("run-water-600000", how)).toBe("ended");
    expect(await jobs.end("run-water-600000", ended({ ...now, failures: 1 }))).toBe("over");
    const { jobs: later } = await world.reopen();
    expect(await later.running()).toEqual([]);
    expect(await later.run("run-water-600000")).toMatchObject({ status: "failed", reason: "no key", retryAt: 800_000 });
    expect((await later.get("water"))?.failures).toBe(1);
  });

  test("a failed run is tried again when its time has come, and begins once", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job();
    await jobs.add(made);
    await jobs.fire([fire(made)]);
    await jobs.end("run-water-600000", ended({ ...made, nextAt: 1_200_000 }, { status: "failed", retryAt: 800_000 }));
    expect(await jobs.retries(799_999, 9)).toEqual([]);
    expect((await jobs.retries(800_000, 9)).map(({ id }) => id)).toEqual(["run-water-600000"]);
    expect(await jobs.begin("run-water-600000", "failed", 800_000)).toBe(true);
    expect(await jobs.begin("run-water-600000", "failed", 800_000)).toBe(false);
    expect(await jobs.run("run-water-600000")).toMatchObject({ status: "running", attempt: 2 });
  });

  test("a run that waits for the one before is free when that has ended, and counts as waiting until then", async () => {
    await using world = await open();
    const { jobs } = world.store;
    const made = job({ overlap: "queue" });
    await jobs.add(made);
    await jobs.fire([fire(made)]);
    const second = { ...made, nextAt: 1_200_000 };
    await jobs.fire([fire(second, { rows: [{ id: "w", slot: 1_200_000, status: "waiting", reason: null }] })]);
    expect([await jobs.busy("water"), await jobs.freed()]).toEqual([{ running: 1, waiting: 1 }, []]);
    await jobs.end("run-water-600000", ended({ ...made, nextAt: 1_800_000 }));
    expect((await jobs.freed()).map(({ id }) => id)).toEqual(["w"]);
    expect(await jobs.begin("w", "waiting", 5)).toBe(true);
    expect(await jobs.busy("water")).toEqual({ running: 1, waiting: 0 });
  });

  test("old ended runs are dropped but for the newest of each job", async () => {
    await using world = await open();
    const { jobs } = world.store;
    let made = job();
    await jobs.add(made);
    for (let slot = 0; slot < 4; slot++) {
      await jobs.fire([fire(made)]);
      const id = `run-water-${made.nextAt}`;
      made = { ...made, nextAt: (made.nextAt ?? 0) + 10 * MINUTE };
      await jobs.end(id, ended(made));
    }
    const { dropped } = await jobs.prune({ before: 100 * MINUTE, keepPerJob: 1, from: null });
    expect(dropped).toBe(3);
    expect((await jobs.runs("water", { limit: 9 })).items.map(({ slot }) => slot)).toEqual([40 * MINUTE]);
  });
}

function alertPromises(open: () => Promise<StoreWorld>): void {
  test("what an owner has to know is kept with the end of the run until it was told", async () => {
    await using world = await open();
    const made = job();
    await world.store.jobs.add(made);
    await world.store.jobs.fire([fire(made)]);
    const failed = { failures: 1, state: "active", because: null } as const;
    const end = ended(
      { ...made, nextAt: 1_200_000 },
      { status: "failed", reason: "no key", job: failed, alert: "failing" },
    );
    await world.store.jobs.end("run-water-600000", end);
    const { jobs } = await world.reopen();
    const [alert, ...more] = await jobs.alerts(9);
    expect([alert, more]).toMatchObject([{ jobId: "water", kind: "failing", failures: 1, because: "no key" }, []]);
    await jobs.alertTold(alert?.id ?? "");
    expect(await jobs.alerts(9)).toEqual([]);
  });
}
