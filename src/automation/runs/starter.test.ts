/** Runs on their way into the inbox: a few at a time, with the right rights, and each end heard once. */
import { expect, test } from "bun:test";
import type { Job, JobRun } from "../../contracts/automation/job.ts";
import type { RunOutcome } from "./run-start.ts";
import type { InternalMessage } from "../../contracts/automation/internal-message.ts";
import type { AgentId, InboxId, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { unhandledIn } from "../../testing/unhandled.ts";
import { job } from "../../testing/automation/job-fixture.ts";
import { startRuns } from "./starter.ts";

const HOME = "agent:default:webchat:dm:1" as SessionKey;
const USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const never = new AbortController().signal;

function run(id: string, more: Partial<JobRun> = {}): JobRun {
  return {
    id,
    jobId: "water",
    slot: 0,
    manual: false,
    status: "running",
    reason: null,
    attempt: 1,
    startedAt: 0,
    ms: null,
    turnId: null,
    retryAt: null,
    ...more,
  };
}

function world(options: { readonly role?: Role | null; readonly max?: number } = {}) {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  const put: InternalMessage[] = [];
  const results = new Map<InboxId, TurnResult>();
  const ended: [string, RunOutcome][] = [];
  const aborted: SessionKey[] = [];
  const told: unknown[] = [];
  const gone = new Set<string>();
  const disk = { fails: 0 };
  const to = { channel: "webchat", account: "default", chat: "1" };
  const chat = { sessionKey: HOME, agentId: "default" as AgentId, to, scope: "dm" } as const;
  const runs = startRuns(
    {
      clock,
      log: recordingLog(),
      events,
      turns: { resultOf: async (id) => results.get(id) ?? null },
      jobs: {
        async run(id) {
          if (id === "broken") {
            disk.fails = 1;
            throw new Error("disk full");
          }
          return gone.has(id) ? null : run(id);
        },
      },
      sessionChats: { of: async () => chat, ofOwner: async () => chat, at: async () => chat },
      systemEvents: { put: async (event) => void told.push(event) },
      receiver: {
        async put(entry) {
          put.push(entry);
          return { kind: "queued", id: entry.message.eventId as InboxId, sessionKey: entry.sessionKey, position: 0 };
        },
      },
      rights: {
        roleOf: () => (options.role === undefined ? "member" : options.role),
        sessionOf: (agent, jobId, runId) => `agent:${agent}:cron:${jobId}:run:${runId}` as SessionKey,
        unable: () => null,
        unpaid: () => null,
      },
      abort: (key) => void aborted.push(key),
      async ended(id, outcome) {
        if (disk.fails-- > 0) throw new Error("disk full");
        ended.push([id, outcome]);
      },
    },
    () => options.max ?? 2,
  );
  const end = async (eventId: string, more: Partial<TurnResult> = {}) => {
    const id = eventId as InboxId;
    const base = { turnId: "t" as TurnId, sessionKey: HOME, content: "", errorCode: null, toolCalls: [], usage: USAGE };
    results.set(id, { ...base, outcome: "done", ...more });
    const { outcome = "done" } = more;
    events.emit("turn.ended", { sessionKey: HOME, turnId: base.turnId, inboxIds: [id], outcome, ms: 1, usage: USAGE });
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  const start = (id: string, about: Partial<Job> = {}, more: Partial<JobRun> = {}) =>
    runs.start(run(id, more), job(about), never);
  return { runs, put, ended, end, start, aborted, told, clock, results, gone, events, disk };
}

test("a run that stood in line lets people speak first, for a moment", async () => {
  const { start, put, end, clock, events } = world({ max: 1 });
  await start("r1");
  await start("r2");
  const person = { sessionKey: HOME, turnId: "t9" as TurnId, inboxIds: ["m9" as InboxId] };
  events.emit("turn.started", { ...person, attempt: 1, waitedMs: 0 });
  await end(put[0]?.message.eventId ?? "");
  await clock.advance(199);
  expect(put).toHaveLength(1);
  await clock.advance(1);
  expect(put).toHaveLength(2);
});

test("a run has a session of its own, its maker's rights, and an id that another begin would have too", async () => {
  const { start, put } = world();
  expect(await start("r1", {}, { attempt: 3 })).toEqual({ kind: "begun" });
  expect(put).toMatchObject([
    {
      sessionKey: "agent:default:cron:water:run:r1",
      role: "member",
      priority: 3,
      message: {
        eventId: "cron:r1:3",
        origin: "cron",
        text: "water the plants",
        address: { channel: "cron", chat: HOME, thread: "announce:water" },
      },
    },
  ]);
});

test("a run for the main session leaves its task there as an event, once for each attempt", async () => {
  const { start, put, told } = world();
  await start("r1", { mode: "main" });
  expect(told).toMatchObject([{ id: "cron:r1:1", kind: "task", text: "water the plants", sessionKey: HOME }]);
  expect(put).toMatchObject([{ sessionKey: HOME, message: { eventId: "cron:r1:1", address: { channel: "webchat" } } }]);
});

test("a run of somebody who may not use the gateway any more is refused, and nothing is put in", async () => {
  const { start, put } = world({ role: null });
  expect(await start("r1")).toMatchObject({ kind: "refused", again: false });
  expect(put).toEqual([]);
});

test("a crowd stands in line: the next begins when one has ended, and not when it was taken away meanwhile", async () => {
  const { start, put, end, ended, runs, gone } = world({ max: 2 });
  await Promise.all(["r1", "r2", "r3", "r4"].map((id) => start(id)));
  expect([put.length, runs.stats()]).toEqual([2, { active: 2, waiting: 2 }]);
  gone.add("r3");
  await end("cron:r1:1");
  await end("cron:r2:1", { outcome: "failed", errorCode: "provider_down" });
  expect(put.map(({ message }) => message.eventId)).toEqual(["cron:r1:1", "cron:r2:1", "cron:r4:1"]);
  expect(ended).toMatchObject([
    ["r1", { kind: "ran" }],
    ["r2", { kind: "failed", again: true }],
  ]);
});

test("a crowd is never more than its limit at work, however many have ended", async () => {
  const { start, put, end, runs } = world({ max: 2 });
  const names = Array.from({ length: 12 }, (_, n) => `r${n}`);
  await Promise.all(names.map((id) => start(id)));
  const most: number[] = [];
  for (let ended = 0; ended < names.length; ended++) {
    most.push(put.length - ended);
    await end(`cron:r${ended}:1`);
  }
  expect([Math.max(...most), put.length, runs.stats()]).toEqual([2, 12, { active: 0, waiting: 0 }]);
});

test("a run that had ended before anybody listened is ended at once, and not twice", async () => {
  const { start, results, end, ended } = world();
  const result = { turnId: "t" as TurnId, sessionKey: HOME, content: "", errorCode: null, toolCalls: [], usage: USAGE };
  results.set("cron:r1:1" as InboxId, { ...result, outcome: "done" });
  expect(await start("r1")).toMatchObject({ kind: "ended", outcome: { kind: "ran" } });
  await end("cron:r1:1");
  expect(ended).toEqual([]);
});

test("a run that takes longer than its job allows is stopped, and says so", async () => {
  const { start, clock, aborted, end, ended } = world();
  await start("r1", { timeoutMs: 5_000 });
  await clock.advance(5_000);
  expect(aborted).toEqual(["agent:default:cron:water:run:r1" as SessionKey]);
  await end("cron:r1:1", { outcome: "aborted" });
  expect(ended).toEqual([["r1", { kind: "failed", because: "It took longer than the job allows.", again: true }]]);
});

test("a run that is over has no time limit any more: nothing that follows in its session is stopped", async () => {
  const { start, clock, aborted, end, results } = world();
  await start("r1", { timeoutMs: 5_000 });
  await end("cron:r1:1");
  const result = { turnId: "t" as TurnId, sessionKey: HOME, content: "", errorCode: null, toolCalls: [], usage: USAGE };
  results.set("cron:r2:1" as InboxId, { ...result, outcome: "done" }); // over before anybody listened
  await start("r2", { timeoutMs: 5_000 });
  expect(clock.pending()).toBe(0);
  await clock.advance(60_000);
  expect(aborted).toEqual([]);
});

test("a stop ends the time limits of the runs that are at work, and hears no more ends", async () => {
  const { start, clock, runs, aborted, end, ended } = world();
  await start("r1", { timeoutMs: 5_000 });
  await runs[Symbol.asyncDispose]();
  expect(clock.pending()).toBe(0);
  await end("cron:r1:1");
  expect([aborted, ended]).toEqual([[], []]);
});

test("the end of a run that cannot be noted is noted later, and the next one begins", async () => {
  const { start, end, ended, put, clock, disk, runs } = world({ max: 1 });
  await start("r1");
  await start("r2");
  disk.fails = 2;
  await end("cron:r1:1");
  expect(ended).toEqual([]);
  await clock.advance(1_000 + 2_000);
  expect([ended, put.length]).toMatchObject([[["r1", { kind: "ran" }]], 2]);
  await runs[Symbol.asyncDispose]();
  expect(clock.pending()).toBe(0);
});

test("a run from the line that can neither be begun nor ended is nobody's unhandled failure, and its end is noted later", async () => {
  const { start, end, ended, clock } = world({ max: 1 });
  await start("r1");
  await start("broken");
  const unhandled = await unhandledIn(() => end("cron:r1:1"));
  expect(unhandled).toEqual([]);
  await clock.advance(1_000);
  expect(ended).toMatchObject([
    ["r1", { kind: "ran" }],
    ["broken", { kind: "failed", again: true }],
  ]);
});
