import { describe, expect, test } from "bun:test";
import type { CommandContext } from "../contracts/command.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { JobsApi } from "../contracts/automation/jobs.ts";
import { createJobs, createTimes } from "../automation/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { testPersonTimes } from "../testing/automation/person-times.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { cronCommand, readAdd } from "./cron-command.ts";
import { noJobRules } from "../testing/automation/quiet-jobs.ts";

async function world() {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const real = await realStore(clock);
  const runs: unknown[] = [];
  const engine = {
    poke: () => undefined,
    async runNow(...asked: unknown[]) {
      runs.push(asked);
      return null;
    },
  };
  const people = testPersonTimes(clock);
  const jobs: JobsApi = {
    ...createJobs({
      ...noJobRules(clock),
      clock,
      ids: createSeqIds(),
      store: real.store.jobs,
      times: createTimes(() => "UTC"),
      engine,
      people,
    }),
    wake: async () => ({ kind: "ok", sessionKey: "s" as SessionKey }),
    status: async () => ({ enabled: true, nextAt: null, running: 0 }),
  };
  const command = cronCommand({ jobs, people });
  const say = (args: string, turn = "turn_0001", role: Role = "owner") => {
    const message = inbound(`/cron ${args}`);
    const context: CommandContext = {
      sessionKey: "agent:default:webchat:dm:1" as SessionKey,
      sessionFile: "f",
      agentId: "default" as AgentId,
      turnId: turn as TurnId,
      role,
      message,
    };
    return command.run(args, context, new AbortController().signal);
  };
  return { say, runs, store: real.store.jobs, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("/cron", () => {
  test("makes a job, lists it, pauses, resumes, runs and removes it", async () => {
    await using fx = await world();
    expect(await fx.say("")).toContain("Nothing is planned.");
    expect(await fx.say("add every 30m check the mail")).toBe(
      "job-turn0001 is planned. Next: 2026-01-01T00:30:00.000Z",
    );
    expect(await fx.say("list")).toContain("`job-turn0001` every 30m: check the mail");
    expect(await fx.say("pause job-turn0001")).toContain("is paused");
    expect(await fx.say("resume job-turn0001")).toContain("is active");
    expect(await fx.say("run job-turn0001")).toBe("job-turn0001 begins now.");
    expect(await fx.say("runs job-turn0001")).toBe("job-turn0001 has not run yet.");
    expect(await fx.say("remove job-turn0001")).toBe("job-turn0001 is removed.");
    expect(await fx.say("wake look up")).toBe("The assistant is told.");
    expect(await fx.say("status")).toContain("nothing is planned");
    expect(await fx.say("fly")).toContain('I do not know "fly"');
    expect(await fx.say("pause nothing")).toBe("There is no job called nothing.");
  });

  test("changes the time, the task, or both", async () => {
    await using fx = await world();
    await fx.say("add every 30m check the mail");
    const now = async () => {
      const job = await fx.store.get("job-turn0001");
      return [job?.schedule.expr, job?.task];
    };
    expect(await fx.say("update job-turn0001 every 1h")).toBe(
      "job-turn0001 is changed. Next: 2026-01-01T01:00:00.000Z",
    );
    expect(await now()).toEqual(["1h", "check the mail"]);
    await fx.say("update job-turn0001 look out of the window");
    expect(await now()).toEqual(["1h", "look out of the window"]);
    await fx.say('update job-turn0001 "0 9 * * 1-5" plan the day');
    expect(await now()).toEqual(["0 9 * * 1-5", "plan the day"]);
    await fx.say("update job-turn0001 in 20 minutes");
    expect(await now()).toEqual(["2026-01-01T00:20:00.000Z", "plan the day"]);
    expect(await fx.say("update job-turn0001 every day sleep")).toContain("is not an interval");
    expect(await now()).toEqual(["2026-01-01T00:20:00.000Z", "plan the day"]);
    expect(await fx.say("update")).toContain("Say which job");
    expect(await fx.say("update job-turn0001")).toContain("Say which job");
    expect(await fx.say("update none every 1h x")).toBe("There is no job called none.");
  });

  test("run again after a crash makes one job, and one run of it", async () => {
    await using fx = await world();
    const first = await fx.say("add in 20m water the plants");
    expect(await fx.say("add in 20m water the plants")).toBe(first);
    expect((await fx.store.list({}, { limit: 10 })).items).toMatchObject([{ deleteAfterRun: true, source: "person" }]);
    await fx.say("run job-turn0001");
    await fx.say("run job-turn0001");
    expect(new Set(fx.runs.map((asked) => JSON.stringify(asked))).size).toBe(1);
  });
});

const clock = createFakeClock(Date.UTC(2026, 0, 1));
test.each([
  ["every 30m check", { schedule: { kind: "every", expr: "30m" }, task: "check" }],
  ["at 2026-12-24T18:00:00Z light up", { schedule: { kind: "at", expr: "2026-12-24T18:00:00Z" }, task: "light up" }],
  ['"0 9 * * 1-5" plan the day', { schedule: { kind: "cron", expr: "0 9 * * 1-5" }, task: "plan the day" }],
  ["in 20 minutes water", { schedule: { kind: "at", expr: "2026-01-01T00:20:00.000Z" }, task: "water" }],
  ["in 20m water", { schedule: { kind: "at", expr: "2026-01-01T00:20:00.000Z" }, task: "water" }],
  ["in a while water", null],
  ["at 18:00 light up", { schedule: { kind: "at", expr: "2026-01-01T18:00:00.000Z" }, task: "light up" }],
  ["tomorrow 9am call 3 people", { schedule: { kind: "at", expr: "2026-01-02T09:00:00.000Z" }, task: "call 3 people" }],
  [
    "in half an hour water 2 plants",
    { schedule: { kind: "at", expr: "2026-01-01T00:30:00.000Z" }, task: "water 2 plants" },
  ],
  ["every 1h30m check", { schedule: { kind: "every", expr: "1h30m" }, task: "check" }],
  ["tomorrow at 9 call", { problem: expect.stringContaining("morning or in the evening") }],
  ["tomorrow call Ann", { problem: expect.stringContaining("no time of day") }],
  ["check the mail", null],
  ["tomorrow", null],
])("%p is read as %j", (text, expected) => {
  expect(readAdd({ people: testPersonTimes(clock) }, text, "operator" as Principal)).toEqual(expected as never);
});
