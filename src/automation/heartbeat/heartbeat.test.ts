/** Beats over simulated days: how many model calls a heartbeat makes, and when it stops by itself. */
import { expect, test } from "bun:test";
import type { InternalMessage } from "../../contracts/automation/internal-message.ts";
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import type { Clock } from "../../kit/clock.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { type HeartbeatRefusal, type HeartbeatSettings, startHeartbeat } from "./heartbeat.ts";

const HOME = "agent:default:webchat:dm:1" as SessionKey;
const MINUTE = 60_000;
const DAY = 86_400_000;
const USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** One agent every half hour, whose runs end at once or when the test says so, on a clock that can be moved. */
function slowLife({ endsAtOnce = false } = {}) {
  const fake = createFakeClock(Date.UTC(2026, 0, 5));
  const asleep = { ms: 0 };
  const clock: Clock = { ...fake, elapsed: () => fake.elapsed() + asleep.ms };
  const events = createEvents({ log: recordingLog() });
  const put: InternalMessage[] = [];
  const asked: InboxId[] = [];
  const to = { channel: "webchat", account: "default", chat: "1" };
  const chat = { sessionKey: HOME, agentId: "default" as AgentId, to, scope: "dm" } as const;
  const heartbeat = startHeartbeat(
    {
      clock,
      log: recordingLog(),
      events,
      store: {
        systemEvents: { waiting: async () => 0 },
        turns: {
          async resultOf(id) {
            asked.push(id);
            return null;
          },
        },
        sessionChats: { of: async () => ({ ...chat, principal: "operator" as Principal, heardAt: fake.now() }) },
      },
      sessionChats: { ofOwner: async () => chat },
      receiver: {
        async put(entry) {
          put.push(entry);
          const n = put.length;
          if (endsAtOnce) setImmediate(() => void end(n));
          return { kind: "queued", id: `msg-${n}` as InboxId, sessionKey: entry.sessionKey, position: 0 };
        },
      },
      busy: () => false,
      agents: {
        checklist: async () => "- watch the stove",
        rightsOf: () => ({ principal: "operator" as Principal, role: "owner" }),
        sessionOf: (agent, run) => `agent:${agent}:heartbeat:run:${run}` as SessionKey,
        unpaid: () => false,
      },
      tellRefused: async () => undefined,
    },
    () => [
      {
        agentId: "default" as AgentId,
        enabled: true,
        every: 30 * MINUTE,
        activeHours: {},
        retries: 1,
        skipWhenBusy: true,
        withoutChecklist: true,
      },
    ],
  );
  const end = async (n: number): Promise<void> => {
    const about = { sessionKey: HOME, turnId: "turn" as TurnId, inboxIds: [`msg-${n}` as InboxId] };
    events.emit("turn.ended", { ...about, outcome: "done", ms: 1, usage: USAGE });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { fake, asleep, put, asked, end, heartbeat };
}

test("a heartbeat run does not begin while the one before has not ended, and the next one does", async () => {
  const { fake, put, end, heartbeat } = slowLife();
  await fake.advance(95 * MINUTE);
  expect(put.length).toBe(1);
  await end(1);
  await fake.advance(30 * MINUTE);
  expect(put.length).toBe(2);
  await heartbeat[Symbol.asyncDispose]();
});

test("a machine that slept through a night makes up for one heartbeat run, and not for all of them", async () => {
  const { fake, asleep, put, heartbeat } = slowLife({ endsAtOnce: true });
  await fake.advance(31 * MINUTE);
  asleep.ms = 8 * 60 * MINUTE;
  await fake.advance(20 * MINUTE);
  expect(put.length).toBe(2);
  await heartbeat[Symbol.asyncDispose]();
});

test("a heartbeat that has stopped begins nothing, hears nothing and leaves no timer behind", async () => {
  const { fake, put, asked, end, heartbeat } = slowLife();
  await fake.advance(31 * MINUTE);
  await heartbeat[Symbol.asyncDispose]();
  await end(1);
  await fake.advance(2 * 60 * MINUTE);
  expect([put.length, asked, fake.pending()]).toEqual([1, [], 0]);
});

interface Life {
  readonly settings?: Partial<HeartbeatSettings>;
  readonly others?: readonly HeartbeatSettings[];
  readonly checklist?: string | null;
  readonly errorCode?: string;
  readonly content?: string;
  readonly refusals?: HeartbeatRefusal[];
  /** The person says something every day. */
  readonly lively?: boolean;
  readonly days: number;
}

async function live({
  settings = {},
  others = [],
  checklist = "- watch the stove",
  errorCode,
  content = "",
  refusals = [],
  lively = false,
  days,
}: Life) {
  const clock = createFakeClock(Date.UTC(2026, 0, 5));
  const events = createEvents({ log: recordingLog() });
  const put: InternalMessage[] = [];
  const began = clock.now();
  const to = { channel: "webchat", account: "default", chat: "1" };
  const chat = { sessionKey: HOME, agentId: "default" as AgentId, to, scope: "dm" } as const;
  const result: TurnResult = {
    turnId: "turn" as TurnId,
    sessionKey: HOME,
    content,
    toolCalls: [],
    usage: USAGE,
    outcome: errorCode === undefined ? "done" : "failed",
    errorCode: errorCode ?? null,
  };
  const heartbeat = startHeartbeat(
    {
      clock,
      log: recordingLog(),
      events,
      store: {
        turns: { resultOf: async () => result },
        sessionChats: {
          async of() {
            const heardAt = lively ? clock.now() : began;
            return { ...chat, principal: "operator" as Principal, heardAt };
          },
        },
        systemEvents: { waiting: async () => 0 },
      },
      sessionChats: { ofOwner: async () => chat },
      receiver: {
        async put(entry) {
          put.push(entry);
          const id = `msg-${put.length}` as InboxId;
          const { sessionKey } = entry;
          const ended = {
            sessionKey,
            turnId: result.turnId,
            inboxIds: [id],
            outcome: result.outcome,
            ms: 1,
            usage: USAGE,
          };
          setImmediate(() => events.emit("turn.ended", ended));
          return { kind: "queued", id, sessionKey, position: 0 };
        },
      },
      busy: () => false,
      agents: {
        checklist: async () => checklist,
        rightsOf: () => ({ principal: "operator" as Principal, role: "owner" }),
        sessionOf: (agent, run) => `agent:${agent}:heartbeat:run:${run}` as SessionKey,
        unpaid: () => false,
      },
      tellRefused: async (refusal) => void refusals.push(refusal),
    },
    () => [
      {
        agentId: "default" as AgentId,
        enabled: true,
        every: 30 * MINUTE,
        activeHours: {},
        retries: 1,
        skipWhenBusy: true,
        withoutChecklist: true,
        ...settings,
      },
      ...others,
    ],
  );
  for (let passed = 0; passed < days * DAY; passed += 10 * MINUTE) {
    await clock.advance(10 * MINUTE);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await heartbeat[Symbol.asyncDispose]();
  return put;
}

test("a week without anybody costs three days of beats and then nothing", async () => {
  const put = await live({ days: 7 });
  console.info(`a week alone, every 30 minutes: ${put.length} model calls`);
  expect(put.length).toBe(3 * 48);
});

test("a week with somebody there beats every half hour, each time in a fresh session", async () => {
  const put = await live({ days: 7, lively: true });
  expect(Math.abs(put.length - 7 * 48)).toBeLessThanOrEqual(1);
  expect(new Set(put.map(({ sessionKey }) => sessionKey)).size).toBe(put.length);
  expect(put[0]).toMatchObject({ role: "owner", priority: 1, message: { origin: "heartbeat" } });
  expect(put[0]?.message.text).toContain("watch the stove");
});

test("an empty checklist costs nothing in a week", async () => {
  expect(await live({ days: 7, lively: true, checklist: "# Heartbeat\n\n- [ ]\n" })).toEqual([]);
});

test("a heartbeat that is off costs nothing in a week", async () => {
  expect(await live({ days: 7, lively: true, settings: { enabled: false } })).toEqual([]);
});

test.each(["provider_auth", "provider_unpaid"])(
  "a provider that says no (%s) is asked three times and no more, and the owner is told once",
  async (errorCode) => {
    const refusals: HeartbeatRefusal[] = [];
    expect((await live({ days: 2, lively: true, errorCode, refusals })).length).toBe(3);
    expect(refusals).toMatchObject([{ agentId: "default", code: errorCode }]);
  },
);

test("a failed beat is tried again as often as the settings say, before the next one is due", async () => {
  const put = await live({
    days: 1,
    lively: true,
    errorCode: "provider_down",
    settings: { every: 4 * 60 * MINUTE, retries: 2 },
  });
  expect(put.length).toBe(6 * 3 - 2); // the last one's retries fall into the next day
});

test("active hours keep the night quiet", async () => {
  const hours = { start: "08:00", end: "20:00", timezone: "UTC" };
  const put = await live({ days: 2, lively: true, settings: { activeHours: hours } });
  expect(put.length).toBe(2 * 24);
  for (const { message } of put) expect(new Date(message.receivedAt).getUTCHours()).toBeGreaterThanOrEqual(8);
});

test("each agent has its own interval, hours and words, and none of them waits for another", async () => {
  const base = { activeHours: {}, retries: 1, skipWhenBusy: true, withoutChecklist: true, enabled: true };
  const others = [
    { ...base, agentId: "slow" as AgentId, every: 6 * 60 * MINUTE, prompt: "Slowly, please." },
    { ...base, agentId: "morning" as AgentId, every: 60 * MINUTE, activeHours: { end: "06:00", timezone: "UTC" } },
    { ...base, agentId: "off" as AgentId, every: 60 * MINUTE, enabled: false },
  ];
  const put = await live({ days: 2, lively: true, others });
  const of = (agent: string) => put.filter(({ agentId }) => agentId === agent);
  expect(Math.abs(of("default").length - 2 * 48)).toBeLessThanOrEqual(1);
  expect([of("slow").length, of("morning").length, of("off").length]).toEqual([2 * 4, 2 * 6, 0]);
  expect(of("slow")[0]?.message.text).toStartWith("Slowly, please.");
});

test("an agent without a checklist has a heartbeat only where that is wanted", async () => {
  const agent = { activeHours: {}, retries: 0, skipWhenBusy: true, enabled: true, every: 60 * MINUTE };
  const others = [
    { ...agent, agentId: "wanted" as AgentId, withoutChecklist: true },
    { ...agent, agentId: "idle" as AgentId, withoutChecklist: false },
  ];
  const put = await live({ days: 1, lively: true, checklist: null, others });
  expect(new Set(put.map(({ agentId }) => agentId))).toEqual(new Set(["default", "wanted"] as AgentId[]));
});

test("a heartbeat run is told what the run before has reported, so that it does not report it again", async () => {
  const put = await live({ days: 1, lively: true, content: "The stove is on." });
  const texts = put.map(({ message }) => message.text);
  expect(texts[0]).not.toContain("Reported already");
  expect(texts[1]).toEndWith("unless it has changed:\nThe stove is on.");
});
