/** Rules of delivery that need no outbox, each as a table: what is kept of a receipt, when a part is tried, skipped, left to wait or given up. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { PendingPart } from "../contracts/delivery.ts";
import {
  afterError,
  afterSend,
  afterSkip,
  askedPauseOf,
  atMessage,
  beforeTry,
  doubtful,
  givenUp,
  whileAway,
  withoutChannel,
} from "./rules.ts";

const channel = (over: Partial<Channel>): Channel => ({ id: "app", ...over }) as unknown as Channel;
const RISKY = channel({ repeat: "risky" });
const HOLDING = channel({ repeat: "risky", whenLost: "hold" });
const SAFE = channel({ repeat: "safe" });
const DEDUPED = channel({ repeat: "deduplicated", dedupeMs: 1_000 });
const DEDUPED_FOR_EVER = channel({ repeat: "deduplicated" });
const PART: PendingPart = {
  seq: 1,
  id: "turn_1:0",
  to: { channel: "app", account: "default", chat: "1" },
  createdAt: 0,
  state: "pending",
  attempts: 0,
  lost: 0,
  delivered: 0,
  doubt: false,
  firstTriedAt: 0,
  nextTryAt: null,
};
const HOUR_MS = 3_600_000;
const LOST = "the answer to a send was lost";

test.each([
  ["that arrived", "sent", PART, {}],
  ["whose first answer was lost", "ambiguous", { ...PART, lost: 1 }, {}],
  ["with a message in doubt", "ambiguous", { ...PART, doubt: true }, {}],
  ["whose preview is in doubt", "ambiguous", PART, { doubt: "its preview" }],
] as const)(
  "a part %s keeps the ids of all its messages, so that each can be deleted",
  (_which, state, part, doubt) => {
    const receipt = { providerId: "21", providerIds: ["21", "22", "23"], ...doubt };
    const end = { state, providerId: "21", providerIds: ["21", "22", "23"] };
    expect(afterSend(part, RISKY, receipt, 1)).toMatchObject(end);
  },
);

describe("a part that was sent", () => {
  test("has no ids where the platform gives none", () => {
    expect(afterSend(PART, RISKY, {}, 1)).toEqual({ state: "sent", because: null });
  });

  test.each<[when: string, part: PendingPart, at: { readonly on: Channel; readonly now: number }, state: string]>([
    ["a repeat may be shown twice", { ...PART, lost: 1 }, { on: RISKY, now: 0 }, "ambiguous"],
    ["the platform recognises a repeat", { ...PART, lost: 1 }, { on: DEDUPED, now: 999 }, "sent"],
    ["the platform has forgotten the first send", { ...PART, lost: 1 }, { on: DEDUPED, now: 1_000 }, "ambiguous"],
    ["the platform never forgets", { ...PART, lost: 1 }, { on: DEDUPED_FOR_EVER, now: HOUR_MS }, "sent"],
    ["it was never tried before", { ...PART, lost: 1, firstTriedAt: null }, { on: DEDUPED, now: HOUR_MS }, "sent"],
    ["nothing was lost", PART, { on: RISKY, now: HOUR_MS }, "sent"],
  ])("is in doubt by what is known when %s", (_when, part, { on, now }, state) => {
    const end: unknown = afterSend(part, on, {}, now);
    expect(end).toEqual({ state, because: state === "sent" ? null : LOST });
  });

  test("says why it is in doubt in three hundred characters at most", () => {
    expect(afterSend(PART, RISKY, { doubt: "x".repeat(301) }, 1).because).toBe("x".repeat(300));
  });
});

describe("before a try, a part", () => {
  const end = (state: "dead" | "ambiguous") => ({
    kind: "end",
    end: { state, because: "it waited too long to be sent", tell: "chat" },
  });
  const wait = (ms: number) => ({ kind: "wait", ms });
  test.each<
    [what: string, over: Partial<PendingPart>, at: { readonly on: Channel; readonly now: number }, decision: unknown]
  >([
    ["is tried at once", {}, { on: RISKY, now: 0 }, { kind: "try" }],
    ["is tried until its last millisecond", {}, { on: RISKY, now: HOUR_MS - 1 }, { kind: "try" }],
    ["is given up when its hour is over", {}, { on: RISKY, now: HOUR_MS }, end("dead")],
    [
      "is in doubt when its hour is over after a lost send",
      { lost: 1 },
      { on: DEDUPED, now: HOUR_MS },
      end("ambiguous"),
    ],
    ["is shown however old it is where a repeat is safe", {}, { on: SAFE, now: 9 * HOUR_MS }, { kind: "try" }],
    ["waits for its next try", { nextTryAt: 500 }, { on: RISKY, now: 100 }, wait(400)],
    ["is tried in the moment of its next try", { nextTryAt: 500 }, { on: RISKY, now: 500 }, { kind: "try" }],
    ["waits no longer than it lives", { nextTryAt: 2 * HOUR_MS }, { on: RISKY, now: HOUR_MS - 10 }, wait(10)],
    ["is repeated once after a lost send", { lost: 1 }, { on: RISKY, now: 1 }, { kind: "try" }],
    ["is not repeated after two lost sends", { lost: 2 }, { on: RISKY, now: 1 }, { kind: "skip" }],
    ["is not repeated at all where such messages are held", { lost: 1 }, { on: HOLDING, now: 1 }, { kind: "skip" }],
    ["is tried where such messages are held and none was lost", {}, { on: HOLDING, now: 1 }, { kind: "try" }],
    ["is repeated while the platform recognises it", { lost: 5 }, { on: DEDUPED, now: 999 }, { kind: "try" }],
    ["is not repeated once the platform has forgotten it", { lost: 2 }, { on: DEDUPED, now: 1_000 }, { kind: "skip" }],
    ["is repeated as often as needed where that is safe", { lost: 5 }, { on: SAFE, now: 1 }, { kind: "try" }],
    ["is skipped before its pause is over", { lost: 2, nextTryAt: 500 }, { on: RISKY, now: 1 }, { kind: "skip" }],
  ])("%s", (_what, over, { on, now }, decision) => {
    const before: unknown = beforeTry({ ...PART, ...over }, on, now);
    expect(before).toEqual(decision);
  });
});

describe("a part that cannot be tried", () => {
  test.each([
    ["waits for its channel", whileAway(PART, RISKY, HOUR_MS - 1), { kind: "wait", ms: 1_000 }],
    [
      "tells its chat when the channel is away for an hour",
      whileAway(PART, RISKY, HOUR_MS),
      { kind: "end", end: { state: "dead", because: "it waited too long to be sent", tell: "chat" } },
    ],
    ["waits for ever where a repeat is safe", whileAway(PART, SAFE, 9 * HOUR_MS), { kind: "wait", ms: 1_000 }],
    ["waits for a channel that may still start", withoutChannel(PART, HOUR_MS - 1), { kind: "wait", ms: 1_000 }],
    [
      "tells the owner when there is no such channel for an hour",
      withoutChannel(PART, HOUR_MS),
      { kind: "end", end: { state: "dead", because: "no channel app", tell: "owner" } },
    ],
  ])("%s", (_what, decision: unknown, expected: unknown) => {
    expect(decision).toEqual(expected);
  });
});

describe("after an error, a part", () => {
  const fail = (error: unknown, over: Partial<PendingPart> = {}, chance = 0): unknown =>
    afterError({ ...PART, ...over }, error, { now: 1_000, chance });
  const again = (over: Partial<PendingPart>, because = "no") => ({
    kind: "again",
    part: { ...PART, ...over },
    because,
  });

  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [6, 32_000],
    [7, 60_000],
    [1_000, 60_000],
  ])("of attempt %d waits for %d ms", (attempts, ms) => {
    expect(fail(new SendError("retry", "no"), { attempts })).toEqual(again({ attempts, nextTryAt: 1_000 + ms }));
  });

  test("waits up to a fifth less, by chance", () => {
    expect(fail(new SendError("retry", "no"), { attempts: 1 }, 0.5)).toEqual(again({ attempts: 1, nextTryAt: 1_900 }));
    expect(fail(new SendError("retry", "no"), { attempts: 1 }, 1)).toEqual(again({ attempts: 1, nextTryAt: 1_800 }));
  });

  test("waits exactly as long as its platform asks for, an hour at most", () => {
    const limited = (retryAfterMs: number) => new SendError("limited", "no", { retryAfterMs });
    expect(fail(limited(700), {}, 1)).toEqual(again({ nextTryAt: 1_700 }));
    expect(fail(limited(0), { attempts: 9 })).toEqual(again({ attempts: 9, nextTryAt: 1_000 }));
    expect(fail(limited(2 * HOUR_MS))).toEqual(again({ nextTryAt: 1_000 + HOUR_MS }));
  });

  test("counts one more lost send only when the answer was lost, and is no longer being sent", () => {
    const sending = { state: "sending", attempts: 1, lost: 1 } as const;
    const after = { attempts: 1, state: "pending", nextTryAt: 2_000 } as const;
    expect(fail(new SendError("lost", "no"), sending)).toEqual(again({ ...after, lost: 2 }));
    expect(fail(new SendError("retry", "no"), sending)).toEqual(again({ ...after, lost: 1 }));
  });

  test("is given up when its platform will never take it, and the owner is told", () => {
    const refused = new SendError("permanent", "y".repeat(301));
    const end = { because: "y".repeat(300), tell: "owner" } as const;
    expect(fail(refused)).toEqual({ kind: "end", end: { ...end, state: "dead" } });
    expect(fail(refused, { lost: 1 })).toEqual({ kind: "end", end: { ...end, state: "ambiguous" } });
  });

  test("that its channel does not explain counts as lost, with a reason for the operator", () => {
    const after = { attempts: 1, lost: 1, nextTryAt: 2_000 };
    expect(fail(new Error("broken"), { attempts: 1 })).toEqual(again(after, "broken"));
    expect(fail(undefined, { attempts: 1 })).toMatchObject({ because: "the channel did not say why" });
  });
});

test.each([
  ["a pause that a platform asks for", 5, new SendError("limited", "", { retryAfterMs: 5 })],
  ["a part of a millisecond", 1, new SendError("limited", "", { retryAfterMs: 0.2 })],
  ["a limit without a time", null, new SendError("limited", "")],
  ["a time before now", null, new SendError("limited", "", { retryAfterMs: -1 })],
  ["a pause beyond reason", HOUR_MS, new SendError("limited", "", { retryAfterMs: 1e12 })],
  ["an error that is no limit", null, new SendError("retry", "", { retryAfterMs: 5 })],
  ["an error of another kind", null, Object.assign(new Error("x"), { kind: "limited", retryAfterMs: 5 })],
] as const)("a chat is left alone after %s: %p", (_what, ms, error) => {
  expect(askedPauseOf(error)).toBe(ms);
});

test.each([
  ["that was never sent", "dead", {}],
  ["whose answer was lost", "ambiguous", { lost: 1 }],
  ["with an earlier message in doubt", "ambiguous", { doubt: true }],
  ["that was being sent", "ambiguous", { state: "sending" }],
] as const)("a part %s and is given up counts as %p", (_which, state, over) => {
  expect(givenUp({ ...PART, ...over }, "why", "owner")).toEqual({ state, because: "why", tell: "owner" });
});

describe("the current message of a part", () => {
  test.each<[what: string, over: Partial<PendingPart>, on: Channel, after: Partial<PendingPart>]>([
    ["stays while no more is delivered", { delivered: 2, lost: 1 }, RISKY, {}],
    ["begins without lost sends", { lost: 1 }, SAFE, { delivered: 2, lost: 0 }],
    ["leaves a doubt behind where a repeat is risky", { lost: 1 }, RISKY, { delivered: 2, lost: 0, doubt: true }],
    ["leaves none behind when nothing was lost", {}, RISKY, { delivered: 2 }],
    ["keeps an earlier doubt", { doubt: true }, RISKY, { delivered: 2 }],
    [
      "has a lost send when a process died in it",
      { delivered: 2, state: "sending" },
      RISKY,
      { state: "pending", lost: 1 },
    ],
  ])("%s", (_what, over, on, after) => {
    const part: PendingPart = { ...PART, ...over };
    expect(atMessage(part, on, 2, 1)).toEqual({ ...part, ...after });
  });

  test("is the next one after a skip, which leaves a doubt", () => {
    expect(afterSkip({ ...PART, delivered: 1, lost: 2 })).toEqual({ ...PART, delivered: 2, lost: 0, doubt: true });
    expect(doubtful()).toEqual({ state: "ambiguous", because: LOST, tell: "chat" });
  });
});

test("a part whose channel counts fewer messages than before stays where it was, with its doubt", () => {
  const part = { ...PART, delivered: 2, lost: 1 };
  expect([1, 2].map((delivered) => atMessage(part, RISKY, delivered, 1))).toEqual([part, part]);
  expect(atMessage(part, RISKY, 3, 1)).toEqual({ ...part, delivered: 3, lost: 0, doubt: true });
});
