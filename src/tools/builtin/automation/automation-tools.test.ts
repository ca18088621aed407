/** The tools `cron` and `create_reminder`, through the real gate and the real rules of jobs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { testPersonTimes } from "../../../testing/automation/person-times.ts";
import type { JobsApi } from "../../../contracts/automation/jobs.ts";
import type { Caller } from "../../../contracts/agent.ts";
import type { AgentId, Principal, SessionKey } from "../../../contracts/ids.ts";
import { createJobs, createTimes } from "../../../automation/index.ts";
import { BENCH_CONTEXT, type BuiltinBench, builtinBench } from "../../../testing/tools/builtin-bench.ts";
import { createReminder } from "./create-reminder.ts";
import { cron } from "./cron.ts";
import { noJobRules } from "../../../testing/automation/quiet-jobs.ts";

let bench: BuiltinBench;
const woken: unknown[] = [];
const ran: string[] = [];
const ANN = { principal: "telegram:user:7" as Principal, role: "member" } as const;
const hourly = { kind: "every", expr: "1h" };

beforeAll(async () => {
  bench = await builtinBench((deps) => {
    const engine = {
      poke: () => undefined,
      async runNow(id: string) {
        ran.push(id);
        return null;
      },
    };
    const people = testPersonTimes(deps.clock);
    const jobs: JobsApi = {
      ...createJobs({
        ...noJobRules(deps.clock),
        ...deps,
        store: deps.store.jobs,
        times: createTimes(() => "UTC"),
        engine,
        people,
      }),
      async wake(words, who) {
        woken.push([words, who.sessionKey]);
        return { kind: "ok", sessionKey: who.sessionKey as never };
      },
      status: async () => ({ enabled: true, nextAt: Date.UTC(2030, 0, 1), running: 0 }),
    };
    return [cron({ jobs }), createReminder({ jobs, people })];
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

describe("cron", () => {
  test.each(["add", "update", "run", "wake", "resume"])(
    "does not %s what a job that runs, or what a hook sent, asks for",
    async (action) => {
      for (const cause of ["cron", "webhook"] as const)
        expect(await bench.call("cron", { action, id: "any", task: "x", schedule: hourly }, { cause })).toMatchObject({
          kind: "failed",
          message: expect.stringContaining("cannot make, change or start jobs"),
        });
    },
  );

  test("does all it says: add, list, update, pause, resume, run, runs, wake, status, remove", async () => {
    const added = await bench.json("cron", { action: "add", id: "backup", schedule: hourly, task: "Run backup check" });
    expect(added).toMatchObject({
      job: { id: "backup", state: "active", next: { at: expect.stringMatching(/Z$/), timezone: "UTC" } },
    });
    const job = await bench.store.jobs.get("backup");
    expect(job).toMatchObject({
      source: "agent",
      createdBy: "operator",
      sessionKey: "agent:default:webchat:dm:a",
      to: { chat: "42" },
    });
    expect(await bench.json("cron", { action: "list" })).toMatchObject({ jobs: [{ id: "backup" }] });
    const update = { action: "update", id: "backup", task: "Look at the backup", delivery: "silent" };
    expect(await bench.json("cron", update)).toMatchObject({ job: { task: "Look at the backup", delivery: "silent" } });
    const policies = { catchUp: "all", overlap: "queue", timeoutMs: 60_000 } as const;
    await bench.json("cron", { action: "update", id: "backup", ...policies });
    expect(await bench.store.jobs.get("backup")).toMatchObject({ ...policies, task: "Look at the backup" });
    expect(await bench.json("cron", { action: "pause", id: "backup" })).toMatchObject({ job: { state: "paused" } });
    expect(await bench.json("cron", { action: "resume", id: "backup" })).toMatchObject({ job: { state: "active" } });
    await bench.json("cron", { action: "run", id: "backup" });
    expect(ran).toEqual(["backup"]);
    expect(await bench.json("cron", { action: "runs", id: "backup" })).toEqual({ runs: [] });
    await bench.json("cron", { action: "wake", task: "look up", wakeMode: "next-heartbeat" });
    expect(woken).toEqual([[{ text: "look up", mode: "next-heartbeat" }, "agent:default:webchat:dm:a"]]);
    expect(await bench.json("cron", { action: "status" })).toEqual({
      enabled: true,
      next: "2030-01-01T00:00:00.000Z",
      running: 0,
    });
    expect(await bench.json("cron", { action: "remove", id: "backup" })).toMatchObject({ job: { id: "backup" } });
    expect(await bench.store.jobs.get("backup")).toBeNull();
  });

  test("says what is missing or wrong in words a model can act on", async () => {
    const failed = async (params: unknown) => bench.call("cron", params);
    expect(await failed({ action: "pause" })).toMatchObject({
      message: "pause needs the id of a job. list shows them.",
    });
    expect(await failed({ action: "add", id: "x" })).toMatchObject({ message: "add needs a schedule and a task." });
    const bad = { action: "add", schedule: { kind: "cron", expr: "nope" }, task: "x" };
    expect(await failed(bad)).toMatchObject({ kind: "failed", message: expect.stringContaining("5 fields") });
    expect(await failed({ action: "fly" })).toMatchObject({ code: "invalid_params" });
  });

  test("shows nobody another person's jobs", async () => {
    await bench.json("cron", { action: "add", id: "mine", schedule: hourly, task: "x" });
    expect(await bench.json("cron", { action: "list" }, ANN)).toEqual({ jobs: [] });
    expect(await bench.call("cron", { action: "remove", id: "mine" }, ANN)).toMatchObject({
      message: "There is no job called mine.",
    });
  });

  test("lets a run that was talked into it make no jobs, and a guest none at all", async () => {
    const add = { action: "add", schedule: hourly, task: "again" };
    expect(await bench.call("cron", add, { cause: "cron" })).toMatchObject({ kind: "failed" });
    expect(await bench.call("cron", add, { cause: "webhook" })).toMatchObject({ kind: "failed" });
    expect(await bench.call("cron", { ...add, webhook: "ops" })).toMatchObject({ kind: "refused" }); // the way out is the owner's to name
    expect(await bench.call("cron", { action: "run", id: "mine" }, { cause: "cron" })).toMatchObject({
      kind: "failed",
    });
    expect(await bench.json("cron", { action: "list" }, { cause: "cron" })).toMatchObject({ jobs: [{ id: "mine" }] });
    expect(await bench.call("cron", add, { role: "guest" })).toMatchObject({ kind: "failed" });
  });

  test("lets nobody do by asking another agent what they may not do themselves, and the words go to the chat it began in", async () => {
    const asker = BENCH_CONTEXT;
    const delegated = { channel: "delegate", account: "default", chat: "turn_1" };
    const sessionKey = "agent:helper:delegate:turn_1:c1" as SessionKey;
    const by = (askedBy: Partial<Caller>) => ({ sessionKey, origin: delegated, askedBy: { ...asker, ...askedBy } });
    const add = { action: "add", id: "asked", schedule: hourly, task: "again" };
    for (const cause of ["cron", "webhook"] as const) {
      expect(await bench.call("cron", add, by({ cause }))).toMatchObject({ kind: "failed" });
      const deeper = by(by({ cause }));
      expect(await bench.call("cron", add, deeper)).toMatchObject({ kind: "failed" });
      expect(await bench.call("create_reminder", { text: "x", when: "in 1m" }, by({ cause }))).toMatchObject({
        kind: "failed",
      });
    }
    await bench.json("cron", add, by({}));
    expect(await bench.store.jobs.get("asked")).toMatchObject({ sessionKey: asker.sessionKey, to: asker.origin });
  });

  test("says when a job runs next as an instant, with its zone and the time on a clock there", async () => {
    const schedule = { kind: "cron", expr: "0 9 1 7 *", timezone: "America/New_York" };
    const added = await bench.json("cron", { action: "add", id: "july", schedule, task: "Look" });
    expect(added).toMatchObject({
      job: {
        next: {
          at: expect.stringMatching(/^\d{4}-07-01T13:00:00\.000Z$/),
          timezone: "America/New_York",
          local: expect.stringMatching(/^\d{4}-07-01T09:00:00-04:00$/),
        },
      },
    });
    await bench.json("cron", {
      action: "add",
      id: "host",
      schedule: { kind: "cron", expr: "0 9 * * *" },
      task: "Look",
    });
    const { jobs } = (await bench.json("cron", { action: "list" })) as { jobs: { id: string; next: object }[] };
    expect(jobs.find(({ id }) => id === "host")?.next).toMatchObject({
      timezone: "UTC",
      at: expect.stringMatching(/Z$/),
    });
    for (const id of ["july", "host"]) await bench.json("cron", { action: "remove", id });
  });

  test("has a quota for each person", async () => {
    const who = { ...ANN, principal: "telegram:user:8" as Principal };
    const add = { action: "add", schedule: hourly, task: "more" };
    const outcomes = [];
    for (let n = 0; n < 21; n++) outcomes.push(await bench.call("cron", add, who));
    expect(outcomes.filter(({ kind }) => kind === "ok").length).toBe(20);
    expect(outcomes.at(-1)).toMatchObject({ message: expect.stringContaining("20 jobs already") });
  });
});

describe("create_reminder", () => {
  test("makes one job that says its words here once and is gone", async () => {
    const made = await bench.json("create_reminder", { text: "stretch", when: "in 5 seconds" });
    const at = new Date(bench.clock.now() + 5_000).toISOString();
    const local = at.replace(/\.\d{3}Z$/, "+00:00");
    expect(made).toEqual({ reminder: expect.any(String), at, timezone: "UTC", local });
    expect(await bench.store.jobs.get(String(made["reminder"]))).toMatchObject({
      schedule: { kind: "at", expr: at },
      delivery: "direct",
      deleteAfterRun: true,
      agentId: "default" as AgentId,
    });
  });

  test("takes a moment with a zone, and refuses what has passed or says nothing", async () => {
    const later = { text: "call", when: "2030-01-01T09:00", timezone: "Europe/Berlin" };
    expect(await bench.json("create_reminder", later)).toMatchObject({
      at: "2030-01-01T08:00:00.000Z",
      timezone: "Europe/Berlin",
      local: "2030-01-01T09:00:00+01:00",
    });
    const soon = { text: "call", when: "in 1m", timezone: "Nowhere/Special" };
    expect(await bench.call("create_reminder", soon)).toMatchObject({ message: expect.stringContaining("time zone") });
    for (const when of ["2020-01-01T09:00:00Z", "soon"])
      expect(await bench.call("create_reminder", { text: "call", when })).toMatchObject({ kind: "failed" });
    for (const cause of ["cron", "webhook"] as const)
      expect(await bench.call("create_reminder", { text: "x", when: "in 1m" }, { cause })).toMatchObject({
        kind: "failed",
      });
  });
});
