import { describe, expect, test } from "bun:test";
import type { CommandContext } from "../contracts/command.ts";
import type { AgentId, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import { createJobs, createTimes } from "../automation/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { testPersonTimes } from "../testing/automation/person-times.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { remindCommand } from "./remind-command.ts";
import { noJobRules } from "../testing/automation/quiet-jobs.ts";

async function world() {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const real = await realStore(clock);
  const people = testPersonTimes(clock);
  const jobs = createJobs({
    ...noJobRules(clock),
    clock,
    ids: createSeqIds(),
    store: real.store.jobs,
    times: createTimes(() => "UTC"),
    people,
    engine: { poke: () => undefined, runNow: async () => null },
    limits: () => ({ minInterval: 1, maxJobs: 2 }),
  });
  const command = remindCommand({ jobs, people });
  let turns = 0;
  const say = (args: string, turn = `turn_${++turns}`, role: Role = "owner") => {
    const context: CommandContext = {
      sessionKey: "agent:default:webchat:dm:1" as SessionKey,
      sessionFile: "f",
      agentId: "default" as AgentId,
      turnId: turn as TurnId,
      role,
      message: inbound(`/remind ${args}`),
    };
    return command.run(args, context, new AbortController().signal);
  };
  const planned = async () => (await real.store.jobs.list({}, { limit: 10 })).items;
  return { say, people, planned, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("/remind", () => {
  test.each([
    ["in half an hour call the plumber", "2026-01-01T00:30:00.000Z", "call the plumber"],
    ["tomorrow 9am water 2 plants", "2026-01-02T09:00:00.000Z", "water 2 plants"],
    ["18:00 take out the bins", "2026-01-01T18:00:00.000Z", "take out the bins"],
    ["me at 18:00 to take out the bins", "2026-01-01T18:00:00.000Z", "take out the bins"],
  ])("understands %j and says zone, instant and words", async (args, at, what) => {
    await using fx = await world();
    const said = await fx.say(args);
    expect(said).toContain(at);
    expect(said).toContain(what);
    expect(said).toMatch(/^I will remind you at 2026-01-0\d \d\d:\d\d \(UTC; /);
    const [job, ...others] = await fx.planned();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ nextAt: Date.parse(at), deleteAfterRun: true, delivery: "direct", source: "person" });
    expect(job?.task).toEndWith(`: ${what}`);
  });

  test("reads words in the person's own zone", async () => {
    await using fx = await world();
    await fx.people.choose(inbound("x").sender.principal, "Asia/Tokyo");
    expect(await fx.say("18:00 eat")).toContain("at 2026-01-01 18:00 (Asia/Tokyo; 2026-01-01T09:00:00.000Z): eat");
  });

  test.each(["", "call the plumber", "sometime call", "every 5m call", "tomorrow at 9 call", "tomorrow call Ann"])(
    "answers %j, in which there is no clear time, with a sentence and three examples, and plans nothing",
    async (args) => {
      await using fx = await world();
      const said = await fx.say(args);
      expect(said.match(/\/remind /g)).toHaveLength(3);
      expect(await fx.planned()).toEqual([]);
    },
  );

  test("keeps the limit of jobs, and makes one reminder when it runs again after a crash", async () => {
    await using fx = await world();
    const first = await fx.say("in 20m one", "turn_same");
    expect(await fx.say("in 20m one", "turn_same")).toBe(first);
    await fx.say("in 20m two");
    expect(await fx.say("in 20m three")).not.toContain("I will remind you");
    expect(await fx.planned()).toHaveLength(2);
  });
});
