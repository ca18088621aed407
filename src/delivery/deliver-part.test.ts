/** One step of a reply part: what is asked, sent and written down, in which order, and what the outbox is told to do next. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { OutboxRow, PartEnd, PendingPart } from "../contracts/delivery.ts";
import type { InstanceId, SessionKey, TurnId } from "../contracts/ids.ts";
import { createFakeClock, type FakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { type DeliverDeps, deliverPart, type Step } from "./deliver-part.ts";
import { EXPIRED_NOTICE, GAP_NOTICE } from "./notices.ts";

const NOW = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const TO = { channel: "telegram", account: "work", chat: "5" };
const LOST = "the answer to a send was lost";
const OTHER = "gateway_2" as InstanceId;
const PART: PendingPart = {
  seq: 7,
  id: "t1:0",
  to: TO,
  createdAt: NOW - 1_000,
  state: "pending",
  attempts: 0,
  lost: 0,
  delivered: 0,
  doubt: false,
  firstTriedAt: null,
  nextTryAt: null,
};
const ROW: OutboxRow = {
  id: "t1:0",
  turnId: "t1" as TurnId,
  sessionKey: "agent:default:telegram:dm:5" as SessionKey,
  part: 0,
  to: TO,
  message: { kind: "reply", text: "hello" },
  createdAt: PART.createdAt,
  outcome: "done",
};
const TRIED = { ...PART, attempts: 1, firstTriedAt: NOW };
const SENDING = ["markSending", "t1:0", { ...TRIED, at: NOW, claimedUntil: NOW + 120_000 }];
const STATUS = ["emit", "status", { what: "outbox" }];

interface Script {
  readonly part?: Partial<PendingPart>;
  /** Null: there is none. */
  readonly channel?: Partial<Channel> | null;
  readonly send?: (clock: FakeClock) => SendReceipt | Promise<SendReceipt>;
  /** What the store answers instead of yes. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly row?: OutboxRow | null;
  readonly deps?: Partial<DeliverDeps>;
  /** Stops the outbox when this call is made. */
  readonly stopAt?: string;
  readonly stop?: AbortController;
}

/** Everything that was called, and the step that followed. */
async function stepOf({ part = {}, channel = {}, send = () => ({}), row = ROW, ...script }: Script) {
  const { stop = new AbortController() } = script;
  const clock = createFakeClock(NOW);
  const calls: unknown[] = [];
  const called = (name: string, ...given: readonly unknown[]): void => {
    calls.push([name, ...given]);
    if (name === script.stopAt) stop.abort(new Error("outbox stopped"));
  };
  const asked =
    (name: string, answer: unknown = true) =>
    async (...given: readonly unknown[]) => {
      called(name, ...given);
      const said = script.answers && name in script.answers ? script.answers[name] : answer;
      return typeof said === "function" ? (said as () => unknown)() : said;
    };
  const messages = channel?.messages && { delivered: async () => 0, skip: asked("skip") };
  const there = {
    id: TO.channel,
    repeat: "risky",
    ready: (to: unknown) => Bun.deepEquals(to, TO),
    ...channel,
    ...(messages ? { messages: { ...messages, ...channel?.messages } } : {}),
    async send(sent: OutboxRow) {
      called("send", sent.message);
      return send(clock);
    },
  } as unknown as Channel;
  const log = recordingLog();
  const store = Object.fromEntries(
    ["markSending", "markWaiting", "markSent", "settle", "noteInChat", "handTo"].map((name) => [name, asked(name)]),
  );
  const deps = {
    clock,
    ids: createSeqIds(),
    log,
    events: { emit: (...given: readonly unknown[]) => called("emit", ...given) },
    store: { ...store, part: async () => row },
    channels: { get: () => (channel === null ? undefined : there) },
    isHeld: () => true,
    mayReceive: async () => true,
    platformIds: async () => [],
    tellOwner: async ({ state, because }: { state: string; because: string }) => called("tellOwner", state, because),
    others: null,
    wake: () => called("wake"),
    ...script.deps,
  } as unknown as DeliverDeps;
  const step = await deliverPart(deps, { ...PART, ...part }, null, stop.signal);
  const errors = log.lines.filter(({ level }) => level === "error");
  return { step, calls, errors, timers: clock.pending() };
}

const ended = (state: PartEnd["state"]): Step => ({ kind: "ended", state });
const refusing = (error: unknown) => () => {
  throw error;
};

describe("a part whose channel cannot send now", () => {
  test.each([
    ["is away", { channel: { ready: () => false } }],
    ["is away, and is safe to repeat", { channel: { ready: () => false, repeat: "safe" }, part: { createdAt: 0 } }],
    ["is not there", { channel: null }],
    ["is not there, and no other gateway has it", { channel: null, deps: { others: { holderOf: async () => null } } }],
    [
      "is away, and goes to another gateway that has just ended",
      { channel: { ready: () => false }, deps: { others: { holderOf: async () => OTHER } }, answers: { handTo: [] } },
    ],
  ] as [string, Script][])("waits a second when it %s", async (_how, script) => {
    const { step, calls, timers } = await stepOf(script);
    expect(step).toEqual({ kind: "wait", part: { ...PART, ...script.part }, ms: 1_000 });
    expect([calls.filter((call) => !String(call).startsWith("handTo")), timers]).toEqual([[], 0]);
  });

  test("is given up when it is an hour old, and an owner is told where there is no channel, its chat where there is", async () => {
    const old = { createdAt: NOW - HOUR_MS };
    const gone = await stepOf({ channel: null, part: old });
    const dead = { state: "dead", because: "no channel telegram", tell: "owner" };
    expect([gone.step, gone.calls]).toEqual([
      ended("dead"),
      [["tellOwner", "dead", "no channel telegram"], ["settle", "t1:0", dead, NOW], STATUS],
    ]);
    const away = await stepOf({ channel: { ready: () => false }, part: old });
    const expired = { state: "dead", because: "it waited too long to be sent", tell: "chat" };
    expect([away.step, away.calls]).toEqual([
      ended("dead"),
      [["noteInChat", "t1:0", EXPIRED_NOTICE, NOW], ["wake"], ["settle", "t1:0", expired, NOW], STATUS],
    ]);
  });
});

describe("a part that is not sent", () => {
  test("because its row is gone is given up, and nobody can be told what it was", async () => {
    const { step, calls } = await stepOf({ row: null });
    const end = { state: "dead", because: "not in the store", tell: "owner" };
    expect([step, calls]).toEqual([ended("dead"), [["settle", "t1:0", end, NOW], STATUS]]);
  });

  test("because its person has no access any more is given up, and nobody is told again", async () => {
    const { step, calls } = await stepOf({ deps: { mayReceive: async () => false } });
    const end = { state: "dead", because: "the person has no access any more" };
    expect([step, calls]).toEqual([ended("dead"), [["settle", "t1:0", end, NOW], STATUS]]);
  });

  test("before its pause is over waits for the rest of it, as the part that it is by then", async () => {
    const left = { state: "sending", nextTryAt: NOW + 250, firstTriedAt: NOW - 1, attempts: 1 } as const;
    const { step, calls } = await stepOf({ part: left });
    expect([step, calls]).toEqual([
      { kind: "wait", part: { ...PART, ...left, state: "pending", lost: 1 }, ms: 250 },
      [],
    ]);
  });

  test("because another gateway has claimed it is that one's", async () => {
    const { step, calls } = await stepOf({ answers: { markSending: false } });
    expect([step, calls]).toEqual([{ kind: "taken" }, [SENDING]]);
  });

  test("because the outbox stops while it is announced is left as announced", async () => {
    const { step, calls } = await stepOf({ stopAt: "markSending" });
    expect([step, calls]).toEqual([{ kind: "stopped" }, [SENDING]]);
  });

  test("because this gateway was frozen waits a second, and counts no try", async () => {
    const frozen = { deps: { isHeld: () => false } };
    const waiting = { ...TRIED, attempts: 0 };
    const risky = await stepOf(frozen);
    const because = "the gateway was not heard of for too long";
    expect([risky.step, risky.calls]).toEqual([
      { kind: "wait", part: waiting, ms: 1_000 },
      [SENDING, ["markWaiting", "t1:0", { ...waiting, because }]],
    ]);
    const safe = await stepOf({ ...frozen, channel: { repeat: "safe" } });
    expect([safe.step, safe.calls]).toEqual([{ kind: "wait", part: waiting, ms: 1_000 }, []]);
  });

  test("whose message in doubt has another behind it goes on with that one, after its chat was told", async () => {
    const part = { lost: 2, firstTriedAt: NOW - 1, attempts: 2 };
    const next = { ...PART, ...part, lost: 0, delivered: 1, doubt: true };
    const { step, calls } = await stepOf({ part, channel: { messages: {} as never } });
    expect([step, calls]).toEqual([
      { kind: "wait", part: next, ms: 0 },
      [
        ["noteInChat", "t1:0", GAP_NOTICE, NOW],
        ["wake"],
        ["skip", ROW, expect.anything()],
        ["markWaiting", "t1:0", { ...next, because: LOST }],
      ],
    ]);
  });

  test("whose message a previous process may have sent is not sent again where that is held back", async () => {
    const { step, calls } = await stepOf({ part: { state: "sending" }, channel: { whenLost: "hold" } });
    expect([step, calls[0]]).toEqual([ended("ambiguous"), ["noteInChat", "t1:0", GAP_NOTICE, NOW]]);
  });

  test("because its chat could not be told in time of the message in doubt is left as it is", async () => {
    const stop = new AbortController();
    const noteInChat = () => {
      stop.abort(new Error("outbox stopped"));
      return Promise.reject(new Error("disk full"));
    };
    const { step, calls, errors } = await stepOf({
      part: { lost: 2 },
      channel: { messages: {} as never },
      answers: { noteInChat },
      stop,
    });
    expect([step, calls.map((call) => (call as unknown[])[0]), errors]).toEqual([
      { kind: "stopped" },
      ["noteInChat"],
      [], // what fails while everything stops is nobody's concern
    ]);
  });

  test("whose only message is in doubt ends in doubt; an owner is told where its chat cannot be", async () => {
    const end = { state: "ambiguous", because: LOST, tell: "chat" };
    const { step, calls } = await stepOf({ part: { lost: 2 }, answers: { noteInChat: false } });
    expect([step, calls]).toEqual([
      ended("ambiguous"),
      [["noteInChat", "t1:0", GAP_NOTICE, NOW], ["tellOwner", "ambiguous", LOST], ["settle", "t1:0", end, NOW], STATUS],
    ]);
  });
});

describe("a part that is sent", () => {
  const message = ["send", ROW.message];

  test("is announced first, and settled with the ids of its messages, where a repeat is risky", async () => {
    const { step, calls, timers } = await stepOf({ send: () => ({ providerId: "9", providerIds: ["9", "10"] }) });
    const end = { state: "sent", because: null, providerId: "9", providerIds: ["9", "10"] };
    expect([step, calls, timers]).toEqual([ended("sent"), [SENDING, message, ["settle", "t1:0", end, NOW]], 0]);
  });

  test("for the second time ends in doubt when the platform stopped to recognise repeats during that send", async () => {
    const again = { part: { lost: 1, firstTriedAt: NOW - 119_999 } };
    const channel = { repeat: "deduplicated", dedupeMs: 120_000 } as const;
    const slow = async (clock: FakeClock) => (await clock.advance(1), {});
    expect((await stepOf({ ...again, channel })).step).toEqual(ended("sent"));
    expect((await stepOf({ ...again, channel, send: slow })).step).toEqual(ended("ambiguous"));
  });

  test("is only marked as sent where a repeat is safe", async () => {
    const { step, calls } = await stepOf({ channel: { repeat: "safe" } });
    expect([step, calls]).toEqual([ended("sent"), [message, ["markSent", "t1:0", NOW]]]);
  });

  test.each([
    ["settle", "risky"],
    ["markSent", "safe"],
  ] as const)("is another gateway's when %s says so, and no client is told anything", async (name, repeat) => {
    const { step, calls } = await stepOf({ channel: { repeat }, answers: { [name]: false } });
    expect([step, calls.map((call) => String((call as unknown[])[0])).includes("emit")]).toEqual([
      { kind: "taken" },
      false,
    ]);
  });

  test("points at the platform's number of what it answers, at nothing without one, and at our id in our own channel", async () => {
    const row = { ...ROW, message: { ...ROW.message, replyTo: "in1" } };
    const asked: string[] = [];
    const with_ = (ids: readonly string[]) => ({ platformIds: async (id: string) => (asked.push(id), ids) });
    const known = await stepOf({ row, deps: with_(["33", "34"]) });
    const unknown = await stepOf({ row, deps: with_([]) });
    const own = await stepOf({ row, deps: with_(["33"]), channel: { ownIds: true } });
    expect([known, unknown, own].map(({ calls }) => calls[1])).toEqual([
      ["send", { ...ROW.message, replyTo: "33" }],
      ["send", ROW.message],
      ["send", row.message],
    ]);
    expect(asked).toEqual(["in1", "in1"]);
  });
});

describe("a part whose send failed", () => {
  test("for a limit waits as long as it was asked to, and so does its chat", async () => {
    const because = "too fast";
    const { step, calls } = await stepOf({
      send: refusing(new SendError("limited", because, { retryAfterMs: 7_000 })),
    });
    const part = { ...TRIED, nextTryAt: NOW + 7_000 };
    expect(step).toEqual({ kind: "wait", part, ms: 7_000, pausedUntil: NOW + 7_000 });
    expect(calls.at(-1)).toEqual(["markWaiting", "t1:0", { ...part, because }]);
  });

  test("for any other reason waits by itself: its chat is not paused", async () => {
    const { step } = await stepOf({ send: refusing(new Error("503")) });
    expect(Object.keys(step).toSorted()).toEqual(["kind", "ms", "part"]);
    if (step.kind !== "wait") throw new Error(step.kind);
    expect(step.ms).toBe((step.part.nextTryAt ?? 0) - NOW);
  });

  test("for good is told to an owner before it is settled", async () => {
    const { step, calls } = await stepOf({ send: refusing(new SendError("permanent", "blocked")) });
    const end = { state: "dead", because: "blocked", tell: "owner" };
    expect([step, calls.slice(2)]).toEqual([
      ended("dead"),
      [["tellOwner", "dead", "blocked"], ["settle", "t1:0", end, NOW], STATUS],
    ]);
  });

  test("is another gateway's when that one has claimed it meanwhile", async () => {
    const { step } = await stepOf({ send: refusing(new Error("503")), answers: { markWaiting: false } });
    expect(step).toEqual({ kind: "taken" });
  });

  test("in a way that leaves its last message in doubt is looked at again at once", async () => {
    const { step } = await stepOf({
      part: { lost: 1, attempts: 1, firstTriedAt: NOW },
      send: refusing(new SendError("lost", "no answer")),
    });
    expect(step).toMatchObject({ kind: "wait", ms: 0, part: { lost: 2, attempts: 2 } });
  });

  test("while the outbox stops is left as announced, unless the channel knows how it ended", async () => {
    const unknown = await stepOf({ send: refusing(new Error("aborted")), stopAt: "send" });
    expect([unknown.step, unknown.calls.length]).toEqual([{ kind: "stopped" }, 2]);
    const known = await stepOf({ send: refusing(new SendError("permanent", "blocked")), stopAt: "send" });
    expect(known.calls.slice(2).map((call) => (call as unknown[])[0])).toEqual(["tellOwner", "settle", "emit"]);
  });
});
