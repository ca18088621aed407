/** The machine's time zone changes between two starts, or while the gateway runs: jobs without a zone follow the clock on the wall. */
import { describe, expect, test } from "bun:test";
import type { JobRun } from "../contracts/automation/job.ts";
import type { JobInput, Maker } from "../contracts/automation/jobs.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import { createFakeClock, type FakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { applyConfigJobs } from "./config-jobs.ts";
import { type Engine, startEngine } from "./engine.ts";
import { createJobs } from "./jobs.ts";
import { createTimes } from "./times/times.ts";
import { NO_REPORTS, noJobRules } from "../testing/automation/quiet-jobs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const operator: Maker = {
  principal: "operator" as Principal,
  role: "owner",
  source: "person",
  to: { channel: "webchat", account: "default", chat: "1" },
  sessionKey: null,
  agentId: "default" as AgentId,
};

/** A store that outlives its engines; each engine runs in the zone that the machine has then. */
async function machine(start: string) {
  const clock = createFakeClock(Date.parse(start));
  const real = await realStore(clock);
  const host = { zone: "UTC" };
  const deps = { clock, ids: createSeqIds(), log: recordingLog(), store: real.store.jobs };
  let engine: Engine | null = null;
  const times = createTimes(() => host.zone);
  const starter = {
    unpaid: () => null,
    check: async () => null,
    async start(run: JobRun) {
      setImmediate(() => void engine?.ended(run.id, { kind: "ran" }, null));
      return { kind: "begun" as const };
    },
  };
  return {
    ...deps,
    times,
    host,
    jobs: createJobs({
      ...noJobRules(clock),
      ...deps,
      times,
      engine: { poke: () => engine?.poke(), runNow: async () => null },
    }),
    poke: () => engine?.poke(),
    start(zone: string) {
      host.zone = zone;
      engine = startEngine({ ...deps, ...NO_REPORTS, times, starter });
    },
    async stop() {
      await engine?.[Symbol.asyncDispose]();
      engine = null;
    },
    /** Hours in which nothing is due pass without an engine, which would look twice a minute. The next start makes up for what it missed. */
    async sleepUntil(moment: string) {
      await this.stop();
      await clock.advance(Date.parse(moment) - clock.now());
      this.start(host.zone);
    },
    async rows(id = "daily") {
      const { items } = await real.store.jobs.runs(id, { limit: 200 });
      return items.map(({ slot, status }) => `${new Date(slot).toISOString().slice(0, 16)} ${status}`).reverse();
    },
    async [Symbol.asyncDispose]() {
      await engine?.[Symbol.asyncDispose]();
      await real[Symbol.asyncDispose]();
    },
  };
}

/** Moves the clock to a moment, minute by minute, so that every timer is met. */
async function passUntil(clock: FakeClock, moment: string): Promise<void> {
  for (const end = Date.parse(moment); clock.now() < end;) await clock.advance(MINUTE);
}

const job = (expr: string, more: Partial<JobInput> = {}): JobInput => ({
  id: "daily",
  task: "work",
  schedule: { kind: "cron", expr },
  ...more,
});

describe("a job at nine of the machine's clock, after a restart in another zone", () => {
  test.each([
    {
      what: "to the east, before the new nine: runs at the new nine, and not at the old",
      zones: ["America/New_York", "Europe/Berlin"],
      down: ["2026-01-10T05:00Z", "2026-01-10T06:00Z"],
      rows: ["2026-01-10T08:00 ran", "2026-01-11T08:00 ran"],
    },
    {
      what: "to the east, soon after the new nine: is caught up with once, and does not run at the old nine as well",
      zones: ["America/New_York", "Europe/Berlin"],
      down: ["2026-01-10T05:00Z", "2026-01-10T08:30Z"],
      rows: ["2026-01-10T08:00 ran", "2026-01-11T08:00 ran"],
    },
    {
      what: "to the east, long after the new nine: has a row that says it was missed",
      zones: ["America/New_York", "Europe/Berlin"],
      down: ["2026-01-10T05:00Z", "2026-01-10T12:00Z"],
      rows: ["2026-01-10T08:00 missed", "2026-01-11T08:00 ran"],
    },
    {
      what: "to the west, before either nine: runs at the new nine, and not at the old",
      zones: ["Europe/Berlin", "America/New_York"],
      down: ["2026-01-10T05:00Z", "2026-01-10T06:00Z"],
      rows: ["2026-01-10T14:00 ran", "2026-01-11T14:00 ran"],
    },
    {
      what: "to the west, after a run at the old nine: does not run a second time on that day",
      zones: ["Europe/Berlin", "America/New_York"],
      down: ["2026-01-10T10:00Z", "2026-01-10T12:00Z"],
      rows: ["2026-01-10T08:00 ran", "2026-01-11T14:00 ran"],
    },
    {
      what: "an hour to the west, between the two nines: runs at the new nine",
      zones: ["America/New_York", "America/Chicago"],
      down: ["2026-01-10T13:00Z", "2026-01-10T14:30Z"],
      rows: ["2026-01-10T15:00 ran", "2026-01-11T15:00 ran"],
    },
  ])("$what", async ({ zones: [before = "", after = ""], down: [stop = "", start = ""], rows }) => {
    await using world = await machine("2026-01-10T04:00Z");
    world.start(before);
    await world.jobs.add(job("0 9 * * *"), operator);
    await passUntil(world.clock, stop);
    await world.stop();
    await world.clock.advance(Date.parse(start) - world.clock.now());
    world.start(after);
    await passUntil(world.clock, "2026-01-10T15:30Z"); // after both nines
    await world.sleepUntil("2026-01-11T07:30Z");
    await passUntil(world.clock, "2026-01-11T15:30Z");
    expect(await world.rows()).toEqual([...rows]);
  });
});

describe("a change of the machine's zone", () => {
  test("moves a job of certain days to the local time it names, however far its next slot is", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    world.start("America/New_York");
    await world.jobs.add(job("0 9 12 * *"), operator);
    await world.stop();
    world.start("Asia/Tokyo");
    await world.clock.advance(MINUTE);
    expect((await world.store.get("daily"))?.nextAt).toBe(Date.parse("2026-01-12T00:00Z"));
    await world.sleepUntil("2026-01-11T23:30Z");
    await passUntil(world.clock, "2026-01-12T00:30Z");
    await world.sleepUntil("2026-01-12T13:30Z");
    await passUntil(world.clock, "2026-01-12T14:30Z"); // after nine in New York
    expect(await world.rows()).toEqual(["2026-01-12T00:00 ran"]);
  });

  test("does not silence a job that runs every hour, nor run its slots twice", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    world.start("Europe/Berlin");
    await world.jobs.add(job("0 * * * *"), operator);
    await passUntil(world.clock, "2026-01-10T03:30Z");
    await world.stop();
    world.start("America/New_York");
    await passUntil(world.clock, "2026-01-10T06:30Z");
    const hours = ["01", "02", "03", "04", "05", "06"];
    expect(await world.rows()).toEqual(hours.map((hour) => `2026-01-10T${hour}:00 ran`));
  });

  test("leaves a job with a zone of its own, an interval and a moment where they are", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    world.start("America/New_York");
    const named = { kind: "cron", expr: "0 9 * * *", timezone: "America/New_York" } as const;
    await world.jobs.add(job("", { id: "named", schedule: named }), operator);
    await world.jobs.add(job("", { id: "every", schedule: { kind: "every", expr: "10h" } }), operator);
    await world.jobs.add(job("", { id: "at", schedule: { kind: "at", expr: "2026-01-10T09:00" } }), operator);
    await world.stop();
    world.start("Europe/Berlin");
    await passUntil(world.clock, "2026-01-10T14:30Z");
    expect(await world.rows("named")).toEqual(["2026-01-10T14:00 ran"]);
    expect(await world.rows("every")).toEqual(["2026-01-10T10:00 ran"]);
    expect(await world.rows("at")).toEqual(["2026-01-10T09:00 ran"]);
  });

  test("is noticed while the gateway runs: at the next reload, or half a minute later", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    world.start("America/New_York");
    await world.jobs.add(job("0 9 * * *"), operator);
    await passUntil(world.clock, "2026-01-10T01:00Z");
    world.host.zone = "Europe/Berlin";
    world.poke();
    await world.clock.advance(0);
    expect((await world.store.get("daily"))?.nextAt).toBe(Date.parse("2026-01-10T08:00Z"));
    world.host.zone = "UTC";
    await world.clock.advance(30_000);
    expect((await world.store.get("daily"))?.nextAt).toBe(Date.parse("2026-01-10T09:00Z"));
  });

  test("is not lost when the gateway dies between reading and moving: the next start moves the rest", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    world.start("America/New_York");
    for (let n = 0; n < 450; n++) await world.jobs.add(job("0 9 * * *", { id: `job-${n}` }), operator);
    await world.stop();
    world.host.zone = "Europe/Berlin";
    const others = await world.store.inOtherZone("Europe/Berlin", 100);
    const moves = others.map(({ id, revision, nextAt }) => ({
      jobId: id,
      seenRevision: revision,
      seenNextAt: nextAt ?? 0,
      nextAt: Date.parse("2026-01-10T08:00Z"),
      slotZone: "Europe/Berlin",
    }));
    await world.store.moveSlots(moves);
    world.start("Europe/Berlin");
    await passUntil(world.clock, "2026-01-10T08:05Z");
    for (const n of [0, 99, 100, 250, 449]) expect(await world.rows(`job-${n}`)).toEqual(["2026-01-10T08:00 ran"]);
  });
});

describe("a slot that passed before its job was changed", () => {
  const FILE = { id: "daily", task: "work", schedule: { kind: "cron", expr: "0 9 * * *" } } as const;

  test("runs late when only the task was changed in the file, as if nothing had been changed", async () => {
    await using world = await machine("2026-01-10T00:00Z");
    await applyConfigJobs(world, [FILE]);
    await world.clock.advance(9 * HOUR + HOUR / 2);
    await applyConfigJobs(world, [{ ...FILE, task: "work better" }]);
    world.start("UTC");
    await world.clock.advance(60_000);
    expect(await world.rows()).toEqual(["2026-01-10T09:00 ran"]);
    expect((await world.store.get("daily"))?.task).toBe("work better");
  });

  test.each([
    ["another schedule in the file", { schedule: { kind: "cron", expr: "0 15 * * *" } }],
    ["a zone in the file", { schedule: { kind: "cron", expr: "0 9 * * *", timezone: "America/New_York" } }],
    ["a pause in the file", { paused: true }],
  ] as const)("has a row with a reason after %s", async (_what, change) => {
    await using world = await machine("2026-01-10T00:00Z");
    await applyConfigJobs(world, [FILE]);
    await world.clock.advance(9 * HOUR + HOUR / 2);
    await applyConfigJobs(world, [{ ...FILE, ...change }]);
    expect(await world.rows()).toEqual(["2026-01-10T09:00 missed"]);
    const { items } = await world.store.runs("daily", { limit: 1 });
    expect(items[0]?.reason).toContain("changed");
  });

  test.each([
    ["an update of its schedule", "update"],
    ["a pause", "pause"],
    ["an update that pauses it", "paused"],
  ])("has a row with a reason after %s by a person", async (_what, how) => {
    await using world = await machine("2026-01-10T00:00Z");
    await world.jobs.add(job("0 9 * * *"), operator);
    await world.clock.advance(9 * HOUR + HOUR / 2);
    if (how === "pause") await world.jobs.pause("daily", operator);
    else if (how === "paused") await world.jobs.update("daily", { paused: true }, operator);
    else await world.jobs.update("daily", { schedule: { kind: "cron", expr: "0 15 * * *" } }, operator);
    expect(await world.rows()).toEqual(["2026-01-10T09:00 missed"]);
  });
});
