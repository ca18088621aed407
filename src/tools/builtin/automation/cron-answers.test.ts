/** What `cron` and `create_reminder` tell a model: whose time, how much there is, what failed, and moments that need no arithmetic. */
import { expect, test } from "bun:test";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { JobsApi } from "../../../contracts/automation/jobs.ts";
import { BENCH_CONTEXT } from "../../../testing/tools/builtin-bench.ts";
import { createReminder } from "./create-reminder.ts";
import { cron } from "./cron.ts";
import { jobChat } from "./job-chat.ts";
import { momentOf } from "./moment.ts";

const NEVER = new AbortController().signal;
const NOON = Date.UTC(2030, 6, 1, 12);
const job = {
  id: "tea",
  schedule: { kind: "cron", expr: "0 9 * * *" },
  task: "Make tea",
  mode: "isolated",
  delivery: "announce",
  state: "active",
  because: null,
  nextAt: NOON,
  slotZone: "Asia/Tokyo",
  failures: 0,
};

async function told(jobs: Partial<Record<keyof JobsApi, unknown>>, params: object): Promise<unknown> {
  const tool = cron({ jobs: jobs as JobsApi });
  const { content } = await tool.execute("c1", params, NEVER, () => undefined, BENCH_CONTEXT);
  return JSON.parse(content[0]?.type === "text" ? content[0].text : "null") as unknown;
}

test("a job without a zone of its own is told in the zone that its slots are counted in", async () => {
  const list = async () => ({ items: [job, { ...job, slotZone: null }] });
  expect(await told({ list }, { action: "list" })).toMatchObject({
    jobs: [
      { next: { timezone: "Asia/Tokyo", local: "2030-07-01T21:00:00+09:00" } },
      { next: { timezone: "UTC", local: "2030-07-01T12:00:00+00:00" } },
    ],
  });
});

test("a list of jobs says that there are more of them, and of a job how often it failed and why it rests", async () => {
  const failing = { ...job, failures: 3, because: "no such tool", nextAt: null };
  const list = (next?: string) => async () => ({ items: [failing], ...(next === undefined ? {} : { next }) });
  const shown = [{ failures: 3, because: "no such tool", next: null }];
  expect(await told({ list: list("page 2") }, { action: "list" })).toMatchObject({ more: true, jobs: shown });
  expect(await told({ list: list() }, { action: "list" })).not.toHaveProperty("more");
  const fine = (await told({ list: async () => ({ items: [job] }) }, { action: "list" })) as { jobs: object[] };
  expect(Object.keys(fine.jobs[0] ?? {})).not.toContain("failures");
});

test("words that wake a conversation do so now, unless the heartbeat is named", async () => {
  const asked: unknown[] = [];
  const wake = async (news: unknown) => (asked.push(news), { kind: "ok" });
  await told({ wake }, { action: "wake", task: "look" });
  await told({ wake }, { action: "wake", task: "look", wakeMode: "next-heartbeat" });
  expect(asked).toEqual([
    { text: "look", mode: "now" },
    { text: "look", mode: "next-heartbeat" },
  ]);
});

test("runs of a job are told as moments with what became of them, and why where there is a reason", async () => {
  const run = { id: "run_1", slot: NOON, status: "ok", reason: null, ms: 1_500 };
  const runs = async () => ({ items: [run, { ...run, status: "failed", reason: "no such tool", ms: null }] });
  const slot = "2030-07-01T12:00:00.000Z";
  expect(await told({ runs }, { action: "runs", id: "tea" })).toEqual({
    runs: [
      { slot, status: "ok", ms: 1_500 },
      { slot, status: "failed", reason: "no such tool", ms: null },
    ],
  });
});

test("runs of a job that is not there are refused by its name", async () => {
  await expect(told({ runs: async () => null }, { action: "runs", id: "tee" })).rejects.toThrow(
    "There is no job called tee.",
  );
});

test("a reminder is told in the zone that the call names, else in the person's, else in the machine's", async () => {
  const jobs = { add: async () => ({ kind: "ok", job }) } as unknown as JobsApi;
  const zoneOf = (zone: string | undefined) => ({ zoneOf: () => zone, hostZone: () => "UTC" });
  const asked = async (zone: string | undefined, more: object = {}) => {
    const tool = createReminder({ jobs, people: zoneOf(zone) });
    const params = { text: "tea", when: "in 1h", ...more };
    const { details } = await tool.execute("c1", params, NEVER, () => undefined, BENCH_CONTEXT);
    return (details as { timezone: string }).timezone;
  };
  expect(await asked("Asia/Tokyo", { timezone: "Europe/Berlin" })).toBe("Europe/Berlin");
  expect(await asked("Asia/Tokyo")).toBe("Asia/Tokyo");
  expect(await asked(undefined)).toBe("UTC");
});

test.each([
  [Date.UTC(2030, 0, 1), "UTC", "2030-01-01T00:00:00+00:00"],
  [Date.UTC(2030, 0, 1, 23, 5, 9), "Europe/Berlin", "2030-01-02T00:05:09+01:00"],
  [Date.UTC(2030, 6, 1), "America/New_York", "2030-06-30T20:00:00-04:00"],
  [Date.UTC(2030, 0, 1), "Asia/Kolkata", "2030-01-01T05:30:00+05:30"],
])("the moment %i is on a clock in %s: %s", (at, timezone, local) => {
  expect(momentOf(at, timezone)).toEqual({ at: new Date(at).toISOString(), timezone, local });
});

test("a job with a zone of its own is told in that zone", async () => {
  const zoned = { ...job, schedule: { ...job.schedule, timezone: "Europe/Berlin" } };
  expect(await told({ list: async () => ({ items: [zoned] }) }, { action: "list" })).toMatchObject({
    jobs: [{ next: { timezone: "Europe/Berlin", local: "2030-07-01T14:00:00+02:00" } }],
  });
});

test("a job goes to the chat of the first of all turns that led to it, however many agents were asked", () => {
  const at = (chat: string) => ({
    ...BENCH_CONTEXT,
    sessionKey: `agent:default:webchat:dm:${chat}` as SessionKey,
    origin: { ...BENCH_CONTEXT.origin, chat },
  });
  const person = at("person");
  const asked = { ...at("second"), askedBy: { ...at("first"), askedBy: person } };
  for (const caller of [person, asked.askedBy, asked])
    expect(jobChat(caller)).toEqual({ sessionKey: person.sessionKey, origin: person.origin });
});
