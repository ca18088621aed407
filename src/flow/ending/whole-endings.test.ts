/** Endings of turns as a whole, each with everything in it: what the chat reads, what it cost, by which model, and which error it was. */
import { expect, test } from "bun:test";
import type { ReplyPart } from "../../contracts/delivery.ts";
import { ERRORS } from "../../contracts/errors.ts";
import type { InboxId } from "../../contracts/ids.ts";
import type { Batch } from "../../contracts/queue.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { inbound } from "../../testing/messages.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { timeText, waitSentence, withTime } from "./provider-wait.ts";
import { hasNothingToSay, isHeartbeat, quietEnd, quietIfFailed, withoutAck } from "./quiet-turns.ts";
import { reviewReply } from "./reply-review.ts";
import {
  addUsage,
  type AgentEnding,
  commandEnd,
  endOf,
  expiredEnd,
  failure,
  NOTHING_USED,
  providerSentence,
  stoppedBeforeStart,
  streamCutOff,
  withdrawnEnd,
  withLost,
  withReplyTo,
} from "./turn-ending.ts";

const USED = { inputTokens: 3, outputTokens: 4, costUsd: 0.5 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const entries = (...messages: readonly object[]) =>
  messages.map((more, at) => ({ id: `in${at + 1}` as InboxId, message: inbound("hi", more) }));
const reply = (text: string, part = 0) => ({ part, message: { kind: "reply", text } as const });
const notice = (text: string, part = 0) => ({ part, message: { kind: "notice", text } as const });
const failed = (more: object = {}): AgentEnding =>
  ({
    type: "failed",
    code: "agent_exited",
    detail: "gone",
    again: true,
    text: "so far",
    usage: USED,
    model: "m",
    ...more,
  }) as AgentEnding;

test("an answer of another model than the one that was asked says so behind it", () => {
  const ending = {
    type: "done",
    text: "hi",
    usage: USED,
    model: "b/2",
    failed: { model: "a/1", because: "overloaded" },
  };
  expect(endOf(ending as AgentEnding, "stopped")).toEqual({
    outcome: "done",
    reply: [reply("hi"), notice("b/2 answered, because a/1 failed: overloaded", 1)],
    usage: USED,
    model: "b/2",
  });
});

test("a turn that failed keeps its words, its cost and its model, and says what the agent says about it", () => {
  const error = { code: "agent_exited", detail: "gone" };
  const whole = { outcome: "failed", usage: USED, model: "m", error } as const;
  expect(endOf(failed(), "stopped")).toEqual({
    ...whole,
    reply: [reply("so far"), notice(ERRORS.agent_exited.say, 1)],
  } as never);
  expect(endOf(failed({ say: "Try another.", text: " " }), "stopped")).toEqual({
    ...whole,
    reply: [notice("Try another.")],
  } as never);
});

test.each([
  ["stopped", "Stopped."],
  ["interrupted", "Stopped, to answer your next message."],
] as const)("a turn that was %s keeps its words and its cost", (cause, say) => {
  const ending: AgentEnding = { type: "aborted", text: "so far", usage: USED, model: "m" };
  expect(endOf(ending, cause)).toEqual({
    outcome: "aborted",
    reply: [reply("so far"), notice(say, 1)],
    usage: USED,
    model: "m",
  });
  expect(endOf(ending, "deadline")).toEqual({
    outcome: "failed",
    reply: [reply("so far"), notice(ERRORS.agent_timeout.say, 1)],
    usage: USED,
    model: "m",
    error: { code: "agent_timeout", detail: "turn deadline reached" },
  });
});

test("a turn without words keeps its cost, whether a tool has spoken for it or not", () => {
  const silent: AgentEnding = { type: "done", text: " \n", usage: USED, model: "m" };
  expect(endOf(silent, "stopped", true)).toEqual({ outcome: "done", reply: [], usage: USED, model: "m" });
  expect(endOf(silent, "stopped")).toMatchObject({ outcome: "failed", usage: USED, model: "m" });
});

test("a failure has no cost and no model unless it is told, and its detail is cut", () => {
  expect(failure("internal", "x".repeat(3_000))).toEqual({
    outcome: "failed",
    reply: [notice(ERRORS.internal.say)],
    usage: NOTHING_USED,
    model: "",
    error: { code: "internal", detail: "x".repeat(2_000) },
  });
  expect(stoppedBeforeStart()).toEqual({
    outcome: "aborted",
    reply: [notice("Stopped before the assistant began.")],
    usage: NOTHING_USED,
    model: "",
  });
  expect(withdrawnEnd()).toEqual({ outcome: "aborted", reply: [notice("Withdrawn before it was answered.")] });
  expect(commandEnd("done", USED, "m")).toEqual({ outcome: "done", reply: [reply("done")], usage: USED, model: "m" });
  expect([streamCutOff(true), streamCutOff(false)].map((one) => one.type === "failed" && one.again)).toEqual([
    true,
    false,
  ]);
});

test("cost of several attempts is added up in each of its parts, and the last one is known by itself", () => {
  const cached = { ...USED, cachedTokens: 5 };
  expect(addUsage(USED, USED)).toEqual({ inputTokens: 6, outputTokens: 8, costUsd: 1 });
  expect(
    [addUsage(cached, USED), addUsage(USED, cached), addUsage(cached, cached)].map((one) => one.cachedTokens),
  ).toEqual([5, 5, 10]);
  expect(withLost(commandEnd("x", USED, "m"), cached)).toEqual({
    ...commandEnd("x", USED, "m"),
    usage: addUsage(USED, cached),
    own: USED,
  });
});

test.each([
  [0, "1 minute"],
  [MINUTE_MS, "1 minute"],
  [2 * MINUTE_MS - 1, "1 minute"],
  [2 * MINUTE_MS, "2 minutes"],
  [2 * HOUR_MS - 1, "119 minutes"],
  [2 * HOUR_MS, "2 hours"],
  [2 * DAY_MS - 1, "47 hours"],
  [2 * DAY_MS, "2 days"],
])("a message that waited %d ms too long is said to have waited %s", (ms, words) => {
  const end = expiredEnd({ entries: entries({}), hidden: 0 }, ms);
  expect(end.reply[0]?.message.text).toBe(
    `This message waited ${words} and was not answered. Send it again if it still matters.`,
  );
  expect(end.error).toEqual({ code: "message_expired", detail: `waited ${ms} ms` });
});

test("messages that waited too long are counted with those that are only counted", () => {
  const text = (shown: number, hidden: number) =>
    expiredEnd({ entries: entries(...Array.from({ length: shown }, () => ({}))), hidden }, HOUR_MS).reply[0]?.message
      .text;
  expect([text(1, 2), text(2, 0)]).toEqual(
    [3, 2].map(
      (n) => `These ${n} messages waited 60 minutes and were not answered. Send them again if they still matter.`,
    ),
  );
});

test("an answer in a group points at the newest message of a person, in its first part, unless it points elsewhere already", () => {
  const end: { readonly reply: readonly ReplyPart[] } = { reply: [reply("one"), reply("two", 1), reply("post", -1)] };
  const group = { scope: "group" } as const;
  const answered = (...messages: readonly object[]) =>
    withReplyTo({ entries: entries(...messages) }, end).reply.map(({ message }) => message.replyTo);
  expect(answered(group, group)).toEqual(["in2" as never, undefined, undefined]);
  expect(answered(group, { ...group, origin: "cron" })).toEqual(["in1" as never, undefined, undefined]);
  expect(answered({}, {})).toEqual([undefined, undefined, undefined]);
  const pointing = { reply: [{ part: 0, message: { kind: "reply", text: "x", replyTo: "in9" } as const }] };
  expect(withReplyTo({ entries: entries(group) }, pointing).reply[0]?.message.replyTo).toBe("in9");
});

test.each([299, 300, 301])(
  "a sentence of a provider of %d characters is quoted whole, or cut at three hundred",
  (length) => {
    const say = providerSentence({ code: "provider_down", detail: "z".repeat(length), model: "acme/m" }) ?? "";
    expect([say.match(/z/g)?.length, say.includes("…")]).toEqual([Math.min(length, 300), length > 300]);
  },
);

test("a turn of several messages is a heartbeat, or has nothing to say, only when all of them are", () => {
  const beat = { origin: "heartbeat" } as const;
  const nothing = { events: [], hidden: 0 };
  const both = [entries(beat, beat), entries(beat, {}), entries({}, beat)].map((some) => [
    isHeartbeat({ entries: some }),
    hasNothingToSay({ entries: some }, nothing),
  ]);
  expect(both).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
});

test("a heartbeat that failed says nothing, one that did not keeps its words, and any other turn keeps its failure", () => {
  const [bad, good] = [failure("internal", ""), commandEnd("x")];
  const beat = { entries: entries({ origin: "heartbeat" }) };
  expect([
    quietIfFailed(beat, bad).reply,
    quietIfFailed(beat, good),
    quietIfFailed({ entries: entries({}) }, bad),
  ]).toEqual([[], good, bad] as never);
  expect(quietIfFailed(beat, bad)).toEqual({ ...bad, reply: [] });
});

test("a heartbeat counts as nothing up to three hundred characters, keeps its cost, and a failed one is left as it is", () => {
  const done = (text: string): AgentEnding => ({ type: "done", text, usage: USED, model: "m" });
  expect(withoutAck(done(`HEARTBEAT_OK ${"x".repeat(300)}`))).toBe("nothing");
  expect(withoutAck(done(`HEARTBEAT_OK ${"x".repeat(301)}`))).toEqual(done("x".repeat(301)));
  expect(withoutAck(failed({ text: "HEARTBEAT_OK" }))).toEqual(failed({ text: "HEARTBEAT_OK" }));
  expect(quietEnd(done(""))).toEqual({ outcome: "done", reply: [], usage: USED, model: "m" });
  expect(quietEnd()).toEqual({ outcome: "done", reply: [], usage: NOTHING_USED, model: "" });
});

test("a wait for a provider is told in whole seconds and in the time of who asks, with its day when that is another one", async () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 1, 12, 0));
  const time = timeText({ clock, prompt: { context: { zoneOf: () => "UTC" } } }, {} as Batch);
  const until = clock.now() + 90_000;
  expect(waitSentence({ model: "acme/m", waitMs: 1_001, until }, time)).toBe(
    "acme asks to wait 2 s; trying again at 12:01 (UTC).",
  );
  expect(waitSentence({ model: "", waitMs: 1_000, until: until + DAY_MS }, time)).toBe(
    "The model provider asks to wait 1 s; trying again at 2026-01-02 12:01 (UTC).",
  );
  expect([withTime("Busy. Try again.", "t"), withTime("Busy. Try again in a moment.", "t")]).toEqual([
    "Busy. It asks to wait until t: try again then.",
    "Busy. It asks to wait until t: try again then.",
  ]);
});

test("a reply is checked in all of its parts, a notice in none, and one that is held back becomes a notice", async () => {
  const deps = (answer: (text: string) => unknown) => ({
    clock: createFakeClock(),
    log: recordingLog(),
    hooks: {
      deciding: async () => [{ plugin: "masker", handler: ({ text }: { text: string }) => answer(text) }],
    } as never,
  });
  const batch = { sessionKey: "s", entries: entries({}) } as never;
  const parts = [reply("one"), reply("two", 1), notice("three", 2)];
  expect(
    await reviewReply(
      deps((text) => ({ text: `${text}!` })),
      batch,
      parts,
    ),
  ).toEqual([reply("one!"), reply("two!", 1), notice("three", 2)]);
  expect(
    await reviewReply(
      deps(() => ({ text: "" })),
      batch,
      [reply("one")],
    ),
  ).toEqual([reply("")]);
  const say = "The reply was held back because the plugin masker could not check it.";
  expect(
    await reviewReply(
      deps(() => "no"),
      batch,
      [reply("one", 1)],
    ),
  ).toEqual([notice(say, 1)]);
});
