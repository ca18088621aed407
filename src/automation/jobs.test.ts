import { describe, expect, test } from "bun:test";
import type { Asker, JobInput, Maker } from "../contracts/automation/jobs.ts";
import type { Job } from "../contracts/automation/job.ts";
import type { AgentId, Principal, Role } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { testPersonTimes } from "../testing/automation/person-times.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { createJobs } from "./jobs.ts";
import { createTimes } from "./times/times.ts";
import { noJobRules } from "../testing/automation/quiet-jobs.ts";

const owner: Maker = {
  principal: "operator" as Principal,
  role: "owner",
  source: "person",
  to: { channel: "webchat", account: "default", chat: "1" },
  sessionKey: null,
  agentId: "default" as AgentId,
};
const member: Maker = { ...owner, principal: "telegram:user:7" as Principal, role: "member" };
const hourly: JobInput = { id: "hourly", schedule: { kind: "every", expr: "1h" }, task: "look at the clock" };

async function fixture() {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const real = await realStore(clock);
  const poked: string[] = [];
  const engine = { poke: () => void poked.push("poke"), runNow: async () => null };
  const switches = { on: true };
  const deps = { clock, ids: createSeqIds(), store: real.store.jobs, times: createTimes(() => "UTC"), engine };
  const limits = (role: Role) =>
    role === "owner" ? { minInterval: 1_000, maxJobs: 1_000 } : { minInterval: 300_000, maxJobs: 3 };
  const missing = async ({ webhook, needs = [] }: Job) =>
    webhook === "nowhere" || needs.includes("no_tool") ? "There is no such thing." : null;
  const people = testPersonTimes(clock);
  const jobs = createJobs({ ...noJobRules(clock), ...deps, isOn: () => switches.on, limits, missing, people });
  return { ...real, store: real.store, clock, poked, switches, jobs, people };
}

const say = (answer: { readonly kind: string; readonly say?: string }): string => answer.say ?? answer.kind;

describe("a job", () => {
  test("is made with sensible defaults and knows when it is next", async () => {
    await using world = await fixture();
    const answer = await world.jobs.add(hourly, owner);
    expect(answer).toMatchObject({
      kind: "ok",
      job: { mode: "isolated", delivery: "announce", catchUp: "once", overlap: "skip", state: "active" },
    });
    expect(answer.kind === "ok" && answer.job.nextAt).toBe(Date.UTC(2026, 0, 1, 1));
    expect(world.poked.length).toBe(1);
    expect(await world.store.jobs.get("hourly")).toEqual(answer.kind === "ok" ? answer.job : null);
  });

  test.each<[Partial<JobInput>, string]>([
    [{ task: "  " }, "needs a task"],
    [{ task: "x".repeat(9_000) }, "8000 characters"],
    [{ id: "No Good" }, "small letters"],
    [{ mode: "main", webhook: "ops" }, "posts nothing"],
    [{ schedule: { kind: "cron", expr: "nope" } }, "5 fields"],
    [{ schedule: { kind: "at", expr: "2020-01-01T00:00:00Z" } }, "has passed already"],
  ])("with %j is refused: %s", async (more, words) => {
    await using world = await fixture();
    expect(say(await world.jobs.add({ ...hourly, ...more }, owner))).toContain(words);
    expect((await world.jobs.list({ limit: 10 }, owner)).items).toEqual([]);
  });

  test("keeps the place its words are posted to, until that is taken out", async () => {
    await using world = await fixture();
    await world.jobs.add({ ...hourly, webhook: "ops" }, owner);
    expect((await world.store.jobs.get("hourly"))?.webhook).toBe("ops");
    await world.jobs.update("hourly", { webhook: null }, owner);
    expect((await world.store.jobs.get("hourly"))?.webhook).toBeUndefined();
  });

  test("keeps the tools it needs, until there are none", async () => {
    await using world = await fixture();
    await world.jobs.add({ ...hourly, needs: ["web_search"] }, owner);
    expect((await world.store.jobs.get("hourly"))?.needs).toEqual(["web_search"]);
    await world.jobs.update("hourly", { needs: [] }, owner);
    expect(await world.store.jobs.get("hourly")).not.toHaveProperty("needs");
  });

  test("has a name of its own", async () => {
    await using world = await fixture();
    await world.jobs.add(hourly, owner);
    expect(await world.jobs.add(hourly, owner)).toMatchObject({ kind: "refused", code: "job_exists" });
  });

  test("pauses without slots and goes on with the next one from then", async () => {
    await using world = await fixture();
    await world.jobs.add(hourly, owner);
    expect(await world.jobs.pause("hourly", owner)).toMatchObject({ job: { state: "paused", nextAt: null } });
    await world.clock.advance(5.5 * 3_600_000);
    const answer = await world.jobs.resume("hourly", owner);
    expect(answer.kind === "ok" && answer.job.nextAt).toBe(Date.UTC(2026, 0, 1, 6));
  });

  test("is updated in part, and a new schedule counts from now", async () => {
    await using world = await fixture();
    await world.jobs.add(hourly, owner);
    await world.jobs.update("hourly", { task: "look again" }, owner);
    await world.clock.advance(60_000);
    const answer = await world.jobs.update("hourly", { schedule: { kind: "every", expr: "2h" } }, owner);
    expect(answer).toMatchObject({ job: { task: "look again", nextAt: Date.UTC(2026, 0, 1, 2, 1) } });
    for (const expr of ["x", "30 apples", "m", "1h and"])
      expect(say(await world.jobs.update("hourly", { schedule: { kind: "every", expr } }, owner))).toContain("30m");
  });
});

test("a moment may be a distance from now, whoever says it; what is kept is the moment", async () => {
  await using world = await fixture();
  const made = await world.jobs.add({ id: "soon", schedule: { kind: "at", expr: "in 20m" }, task: "stretch" }, member);
  const at = Date.UTC(2026, 0, 1, 0, 20);
  expect(made).toMatchObject({ job: { schedule: { kind: "at", expr: new Date(at).toISOString() }, nextAt: at } });
  await world.clock.advance(60_000);
  const changed = await world.jobs.update("soon", { schedule: { kind: "at", expr: "in 2 hours" } }, member);
  expect(changed).toMatchObject({ job: { nextAt: Date.UTC(2026, 0, 1, 2, 1) } });
  expect(say(await world.jobs.add({ ...hourly, schedule: { kind: "at", expr: "in a while" } }, member))).toContain(
    "not a moment",
  );
});

describe("whose job it is", () => {
  const ways: Readonly<Record<string, (world: Awaited<ReturnType<typeof fixture>>, who: Asker) => Promise<unknown>>> = {
    get: ({ jobs }, who) => jobs.get("hourly", who),
    update: async ({ jobs }, who) => (await jobs.update("hourly", { task: "mine now" }, who)).kind === "ok" || null,
    pause: async ({ jobs }, who) => (await jobs.pause("hourly", who)).kind === "ok" || null,
    resume: async ({ jobs }, who) => (await jobs.resume("hourly", who)).kind === "ok" || null,
    run: async ({ jobs }, who) => (await jobs.run("hourly", who)).kind === "ok" || null,
    runs: ({ jobs }, who) => jobs.runs("hourly", { limit: 5 }, who),
    remove: async ({ jobs }, who) => (await jobs.remove("hourly", who)).kind === "ok" || null,
  };

  test.each(Object.keys(ways))("decides who may %s it", async (way) => {
    await using world = await fixture();
    const other: Asker = { principal: "telegram:user:8" as Principal, role: "member" };
    await world.jobs.add(hourly, member);
    expect(await ways[way]?.(world, other)).toBeNull();
    expect(await ways[way]?.(world, owner)).not.toBeNull();
  });

  test("decides what is listed", async () => {
    await using world = await fixture();
    await world.jobs.add(hourly, owner);
    await world.jobs.add({ ...hourly, id: "mine" }, member);
    const ids = async (who: Asker) => (await world.jobs.list({ limit: 10 }, who)).items.map(({ id }) => id);
    expect([await ids(owner), await ids(member)]).toEqual([["hourly", "mine"], ["mine"]]);
  });

  test("of the configuration file is changed there, but can be paused and run", async () => {
    await using world = await fixture();
    await world.store.jobs.add(job({ id: "hourly", source: "config" }));
    expect(say(await world.jobs.update("hourly", { task: "x" }, owner))).toContain("configuration file");
    expect(say(await world.jobs.remove("hourly", owner))).toContain("configuration file");
    expect(await world.jobs.pause("hourly", owner)).toMatchObject({ kind: "ok" });
  });
});

test("while jobs are switched off none is made or begun, and whoever asks is told why; what is there is kept", async () => {
  await using world = await fixture();
  await world.jobs.add(hourly, member);
  world.switches.on = false;
  const off = { kind: "refused", code: "bad_job", say: "Jobs are switched off: cron.enabled is false." } as const;
  expect(await world.jobs.add({ ...hourly, id: "more" }, member)).toEqual(off);
  expect(await world.jobs.run("hourly", member)).toEqual(off);
  expect((await world.jobs.list({ limit: 10 }, member)).items.map(({ id }) => id)).toEqual(["hourly"]);
  expect((await world.jobs.remove("hourly", member)).kind).toBe("ok");
});

test("an agent can make twenty jobs for a person, not more, and the person can make more", async () => {
  await using world = await fixture();
  const agent: Maker = { ...owner, source: "agent" };
  for (let n = 0; n < 20; n++) expect((await world.jobs.add({ ...hourly, id: `job-${n}` }, agent)).kind).toBe("ok");
  expect(await world.jobs.add({ ...hourly, id: "more" }, agent)).toMatchObject({ code: "too_many_jobs" });
  expect((await world.jobs.add({ ...hourly, id: "own" }, owner)).kind).toBe("ok");
});

describe("a member", () => {
  const every = (expr: string): JobInput => ({ id: "own", schedule: { kind: "every", expr }, task: "look" });
  const cron = (expr: string): JobInput => ({ id: "own", schedule: { kind: "cron", expr }, task: "look" });
  test.each([every("1s"), every("299s"), cron("* * * * *"), cron("0 9,10 * * * *"), cron("0,4 9 1 1 *")])(
    "may not run a job more often than the smallest interval of the role: %j",
    async (input) => {
      await using world = await fixture();
      expect(say(await world.jobs.add(input, member))).toContain("the smallest interval for this role");
      expect(say(await world.jobs.add(input, owner))).toBe("ok");
    },
  );

  test("may not make a job more frequent later, nor go on with one that was made before the limit", async () => {
    await using world = await fixture();
    await world.jobs.add(every("5m"), member);
    const frequent = { schedule: { kind: "every", expr: "1s" } } as const;
    expect(say(await world.jobs.update("own", frequent, member))).toContain("more often");
    const { principal: createdBy, role } = member;
    await world.store.jobs.add(job({ id: "old", ...frequent, createdBy, role, state: "paused", nextAt: null }));
    expect(say(await world.jobs.resume("old", member))).toContain("more often");
    expect(say(await world.jobs.pause("own", member))).toBe("ok");
  });

  test("has a number of jobs, and those that agents made for them count", async () => {
    await using world = await fixture();
    for (const [id, source] of [
      ["one", "person"],
      ["two", "agent"],
      ["three", "person"],
    ] as const)
      expect(say(await world.jobs.add({ ...hourly, id }, { ...member, source }))).toBe("ok");
    for (const source of ["person", "agent"] as const)
      expect(say(await world.jobs.add({ ...hourly, id: "four" }, { ...member, source }))).toContain("3 jobs already");
    await world.jobs.remove("one", member);
    expect(say(await world.jobs.add({ ...hourly, id: "four" }, member))).toBe("ok");
  });
});

test.each<Partial<JobInput>>([{ webhook: "nowhere" }, { needs: ["no_tool"] }])(
  "a job that names a webhook or tool that does not exist (%j) is rejected when it is made and when it is changed",
  async (more) => {
    await using world = await fixture();
    expect(say(await world.jobs.add({ ...hourly, ...more }, owner))).toBe("There is no such thing.");
    await world.jobs.add(hourly, owner);
    expect(say(await world.jobs.update("hourly", more, owner))).toBe("There is no such thing.");
    expect(await world.store.jobs.get("hourly")).not.toMatchObject(more);
  },
);

describe("a schedule in people's words", () => {
  const at = (expr: string, timezone?: string): JobInput => ({
    id: "said",
    task: "look",
    schedule: { kind: "at", expr, ...(timezone === undefined ? {} : { timezone }) },
  });
  const planned = async (world: Awaited<ReturnType<typeof fixture>>, input: JobInput) => {
    const answer = await world.jobs.add(input, owner);
    return answer.kind === "ok" ? new Date(answer.job.nextAt ?? 0).toISOString() : answer.say;
  };

  test.each([
    ["18:00", "2026-01-01T09:00:00.000Z"],
    ["tomorrow 9am", "2026-01-02T00:00:00.000Z"],
    ["in half an hour", "2026-01-01T00:30:00.000Z"],
    ["2026-03-01T09:00", "2026-03-01T00:00:00.000Z"],
    ["2026-03-01T09:00Z", "2026-03-01T09:00:00.000Z"],
  ])("is read in the zone that the person has chosen: %s is %s", async (expr, expected) => {
    await using world = await fixture();
    await world.people.choose(owner.principal, "Asia/Tokyo");
    expect(await planned(world, at(expr))).toBe(expected);
  });

  test("is read in the zone that is given with it, whatever the person has chosen", async () => {
    await using world = await fixture();
    await world.people.choose(owner.principal, "Asia/Tokyo");
    expect(await planned(world, at("18:00", "Europe/Berlin"))).toBe("2026-01-01T17:00:00.000Z");
  });

  test("is kept as a moment, and a cron expression with the person's zone", async () => {
    await using world = await fixture();
    await world.people.choose(owner.principal, "Asia/Tokyo");
    await world.jobs.add(at("18:00"), owner);
    await world.jobs.add({ id: "daily", task: "look", schedule: { kind: "cron", expr: "0 9 * * *" } }, owner);
    expect((await world.store.jobs.get("said"))?.schedule).toEqual({ kind: "at", expr: "2026-01-01T09:00:00.000Z" });
    expect((await world.store.jobs.get("daily"))?.schedule.timezone).toBe("Asia/Tokyo");
  });

  test("of an interval may have several units", async () => {
    await using world = await fixture();
    await world.jobs.add({ id: "often", task: "look", schedule: { kind: "every", expr: "1h30m" } }, owner);
    expect((await world.store.jobs.get("often"))?.schedule).toEqual({ kind: "every", expr: "90m" });
  });

  test.each(["at 9", "next friday 9am", "03/04 9am", "tomorrow", "soonish"])(
    "that is not clear (%s) is rejected with a sentence",
    async (expr) => {
      await using world = await fixture();
      expect(await planned(world, at(expr))).toMatch(/Write|Add/);
    },
  );
});
