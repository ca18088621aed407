/** What people see while an answer is written: one message that changes now and then, and becomes the answer. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { systemClock } from "../../../kit/clock.ts";
import { deferred } from "../../../kit/deferred.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { FRIEND, GROUP_ID, said } from "../../../testing/telegram/people.ts";
import { type TelegramWorld, telegramWorld, textsIn } from "../../../testing/telegram/telegram-world.ts";
import { noteTool, noTools } from "../../kit/index.ts";
import { previewOf } from "./preview-text.ts";
import { waitFor } from "../../../testing/wait-for.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const NEVER = new AbortController().signal;
const sessionKey = "agent:default:telegram:dm:11" as SessionKey;
const turnId = "turn_live" as TurnId;
const STEP_MS = 100;

/** Somebody asks, and the turn begins. */
async function begun(world: TelegramWorld, inGroup = false): Promise<void> {
  const { bench, room } = world;
  const group = inGroup ? { inGroup: { bot: room.username } } : {};
  world.happens(said({ by: FRIEND, text: "hello", messageId: 5, ...group }));
  await eventually("it is stored", () => bench.stored.length === 1);
  await eventually("it is accepted", () => world.api.waiting("99:secret-token").length === 0);
  start(world);
}
const start = ({ bench }: TelegramWorld): void =>
  bench.deps.events.emit("turn.started", {
    sessionKey,
    turnId,
    inboxIds: ["in_1" as InboxId],
    attempt: 1,
    waitedMs: 0,
  });
const delta = ({ bench }: TelegramWorld, text: string): void =>
  bench.deps.events.emit("turn.delta", { sessionKey, turnId, text });

/** The poll that waits is one; a call that hangs on purpose is not waited for. */
const POLLING = 1;
const MAX_LOOKS = 50;
const MAX_STEPS = 200;

/** Calls of the channel that are under way, without the one that waits for updates. */
let calling = 0;
const realFetch = globalThis.fetch;
beforeAll(() => {
  const counted = async (...[where, how]: Parameters<typeof fetch>): Promise<Response> => {
    if (String(where).endsWith("/getUpdates")) return realFetch(where, how);
    calling++;
    return realFetch(where, how).finally(() => calling--);
  };
  globalThis.fetch = Object.assign(counted, realFetch);
});
afterAll(() => {
  globalThis.fetch = realFetch;
});

/** What time has set off writes something down before it calls; that takes a few rounds of the loop, and nobody else. */
async function begunCalls(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
}

/** Fake time, in small steps; after each, what it has set off comes to its end. */
async function pass(
  { bench, api }: TelegramWorld,
  ms: number,
  each: (step: number) => void = () => undefined,
): Promise<void> {
  for (let step = 0; step * STEP_MS < ms; step++) {
    each(step);
    await bench.clock.advance(STEP_MS);
    await begunCalls();
    for (let look = 0; (calling > 0 || api.connections() > POLLING) && look < MAX_LOOKS; look++) {
      await systemClock.sleep(2, NEVER);
      await begunCalls();
    }
  }
}

/** Time goes on until it is so, however slow the machine is. */
async function goOnUntil(world: TelegramWorld, isSo: () => boolean): Promise<void> {
  for (let step = 0; !isSo() && step < MAX_STEPS; step++) await pass(world, STEP_MS);
  expect(isSo()).toBe(true);
}

/** A preview with the first half of an answer. */
async function halfShown(world: TelegramWorld): Promise<void> {
  const shown = () => textsIn(world.room, FRIEND.id);
  delta(world, "half");
  await goOnUntil(world, () => shown().length > 0);
  await pass(world, 1_000); // and whatever else it does on that occasion
  expect(shown()).toEqual(["half"]);
}

const rowOf = (text: string, more: Partial<OutboxRow> = {}): OutboxRow => ({
  id: `${turnId}:0`,
  turnId,
  sessionKey,
  part: 0,
  createdAt: 1,
  outcome: "done",
  to: { channel: "telegram", account: "default", chat: String(FRIEND.id) },
  message: { kind: "reply", text },
  ...more,
});
const changesIn = ({ api }: TelegramWorld) =>
  api.calls.filter(({ method }) => method === "sendMessage" || method === "editMessageText");

describe("a preview", () => {
  test("shows what a running tool says, at most once a second, and the answer has nothing of it", async () => {
    await using world = await telegramWorld();
    await begun(world);
    const { events } = world.bench.deps;
    const call = { sessionKey, turnId, callId: "c1", tool: "walk", status: "running" } as const;
    events.emit("turn.tool", call);
    await pass(world, 5_000, (step) => events.emit("turn.tool", { ...call, progress: `step ${step}` }));
    expect(textsIn(world.room, FRIEND.id)[0]).toMatch(/^… walk: step \d+$/);
    const at = changesIn(world).map((one) => one.at);
    expect(at.length).toBeGreaterThanOrEqual(3);
    for (const [n, time] of at.slice(1).entries()) expect(time - (at[n] ?? 0)).toBeGreaterThanOrEqual(1_000);
    await world.channel.send(rowOf("there"), NEVER);
    await pass(world, 3_000, () => events.emit("turn.tool", { ...call, progress: "late" }));
    expect(textsIn(world.room, FRIEND.id)).toEqual(["there"]);
  });

  test("says what the turn waits for, until there are words of the answer", async () => {
    await using world = await telegramWorld();
    await begun(world);
    const waiting = "acme asks to wait 40 s; trying again at 14:03 (UTC).";
    world.bench.deps.events.emit("turn.waiting", { sessionKey, turnId, until: 1, text: waiting });
    await goOnUntil(world, () => textsIn(world.room, FRIEND.id).length > 0);
    expect(textsIn(world.room, FRIEND.id)).toEqual([waiting]);
    delta(world, "half");
    await goOnUntil(world, () => textsIn(world.room, FRIEND.id)[0] === "half");
  });

  test("changes at most once a second, with the newest text, and becomes the answer", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await pass(world, 5_000, (step) => delta(world, `w${step} `));
    const at = changesIn(world).map((call) => call.at);
    expect(at.length).toBeGreaterThanOrEqual(3);
    const [made] = changesIn(world);
    expect(made?.fields["disable_notification"]).toBe(true); // half an answer wakes nobody
    for (const [n, time] of at.slice(1).entries()) expect(time - (at[n] ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(textsIn(world.room, FRIEND.id)).toHaveLength(1);
    expect(textsIn(world.room, FRIEND.id)[0]).toStartWith("w0 w1 w2 w3");
    await world.channel.send(rowOf("the whole **answer**"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
    expect(world.room.messages).toHaveLength(1);
    await pass(world, 3_000, () => delta(world, "late words "));
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
  });

  test("that shows the whole answer already is not changed again: no call is made that Telegram would refuse", async () => {
    await using world = await telegramWorld();
    await begun(world);
    delta(world, "## **All** of\n\n- it");
    await goOnUntil(world, () => textsIn(world.room, FRIEND.id).length > 0);
    await pass(world, 1_000);
    const before = changesIn(world).length;
    await world.channel.send(rowOf("## **All** of\n\n- it"), NEVER);
    expect(changesIn(world).length).toBe(before);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["All of\n\n• it"]);
    expect(world.room.messages).toHaveLength(1);
  });

  test("in a group changes less often", async () => {
    await using world = await telegramWorld();
    await begun(world, true);
    await pass(world, 7_000, (step) => delta(world, `w${step} `));
    const at = changesIn(world).map((call) => call.at);
    expect(textsIn(world.room, GROUP_ID)).toHaveLength(1);
    for (const [n, time] of at.slice(1).entries()) expect(time - (at[n] ?? 0)).toBeGreaterThanOrEqual(3_000);
  });

  test("is not made for a short answer, and never when it is off", async () => {
    await using world = await telegramWorld({ streamMode: "off" });
    await begun(world);
    await pass(world, 3_000, () => delta(world, "words "));
    expect(changesIn(world)).toEqual([]);
    await world.channel.send(rowOf("the answer"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the answer"]);
  });

  test("of a previous process takes the answer", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await pass(world, 2_000, () => delta(world, "half "));
    await world.close();
    const again = await world.reopen();
    await again.send(rowOf("the whole answer"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
  });

  test("that somebody deleted does not take the answer with it", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await halfShown(world);
    for (const message of world.room.messages) message.deleted = true;
    await world.channel.send(rowOf("the whole answer"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
  });

  test("makes way for what is said before the answer, so that the order is right", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await pass(world, 2_000, (step) => step === 0 && delta(world, "let me look"));
    await world.channel.send(rowOf("said by a tool", { id: `${turnId}:x1`, part: -1 }), NEVER);
    await pass(world, 2_000, (step) => step === 0 && delta(world, "found it"));
    expect(textsIn(world.room, FRIEND.id)).toEqual(["said by a tool", "found it"]);
    await world.channel.send(rowOf("found it, here it is"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["said by a tool", "found it, here it is"]);
  });

  test("is not edited while its chat is limited", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await pass(world, 1_500, (step) => delta(world, `w${step} `));
    world.api.misbehave("editMessageText", { kind: "limited", retryAfter: 5 });
    await pass(world, 2_000, () => delta(world, "more "));
    const calls = changesIn(world).length;
    await pass(world, 3_000, () => delta(world, "and more "));
    expect(changesIn(world)).toHaveLength(calls);
  });

  test("whose own answer was lost is not made twice", async () => {
    await using world = await telegramWorld();
    await begun(world);
    world.api.misbehave("sendMessage", { kind: "cut_after" });
    await pass(world, 4_000, (step) => delta(world, `w${step} `));
    expect(world.room.messages).toHaveLength(1);
    const { doubt } = await world.channel.send(rowOf("the answer"), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toContain("the answer");
    expect(doubt).toContain("preview");
  });

  test("that a crash cut off in the middle of its send is not made twice, and the answer says that it is in doubt", async () => {
    await using world = await telegramWorld();
    const hung = deferred<void>();
    await begun(world);
    world.api.misbehave("sendMessage", { kind: "late", until: hung.promise });
    await halfShown(world);
    const again = await world.reopen(); // the first one never hears of its message
    const { doubt } = await again.send(rowOf("the answer"), NEVER);
    hung.resolve();
    expect(textsIn(world.room, FRIEND.id)).toEqual(["half", "the answer"]);
    expect(doubt).toContain("preview");
  });

  test.each([
    ["limited", { kind: "limited", retryAfter: 1 }],
    ["not passed on", { kind: "page", status: 502 }],
  ] as const)("that was %s is shown later, and leaves no doubt", async (_what, how) => {
    await using world = await telegramWorld();
    await begun(world);
    world.api.misbehave("sendMessage", how);
    await pass(world, 4_000, (step) => delta(world, `w${step} `));
    await goOnUntil(world, () => textsIn(world.room, FRIEND.id).length === 1);
    expect((await world.channel.send(rowOf("the answer"), NEVER)).doubt).toBeUndefined();
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the answer"]);
  });

  test("waits until what was said before it has been delivered, or it would stand above it", async () => {
    await using world = await telegramWorld();
    world.bench.owed.add(String(FRIEND.id));
    await begun(world);
    await pass(world, 3_000, (step) => delta(world, `w${step} `));
    expect(changesIn(world)).toEqual([]);
    world.bench.owed.clear();
    await goOnUntil(world, () => textsIn(world.room, FRIEND.id).length === 1);
  });
});

const end = ({ bench }: TelegramWorld): void =>
  bench.deps.events.emit("turn.ended", {
    sessionKey,
    turnId,
    inboxIds: ["in_1" as InboxId],
    outcome: "done",
    ms: 1,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  });

test("typing is shown while nothing else is, and stops with the turn", async () => {
  await using world = await telegramWorld();
  await begun(world);
  await pass(world, 10_000);
  expect(world.room.actions.length).toBeGreaterThanOrEqual(2);
  end(world);
  await pass(world, 300);
  const typed = world.room.actions.length;
  await pass(world, 6_000);
  expect(world.room.actions).toHaveLength(typed);
});

test("a message of a tool that arrives after the end of its turn does not begin the typing again", async () => {
  await using world = await telegramWorld();
  await begun(world);
  await halfShown(world);
  end(world);
  await world.channel.send(rowOf("said by a tool", { id: `${turnId}:x1`, part: -1 }), NEVER);
  const typed = world.room.actions.length;
  await pass(world, 10_000);
  expect(world.room.actions).toHaveLength(typed);
  expect(textsIn(world.room, FRIEND.id)).toEqual(["said by a tool"]);
});

test("a preview that no answer claims is taken away", async () => {
  await using world = await telegramWorld();
  await begun(world);
  await halfShown(world);
  end(world);
  await world.bench.clock.advance(121_000);
  await eventually("it is gone", () => textsIn(world.room, FRIEND.id).length === 0);
});

test("a preview whose answer is refused for good is removed", async () => {
  await using world = await telegramWorld();
  await begun(world);
  await halfShown(world);
  const refusal = { kind: "refused", code: 400, description: "Bad Request: message text is empty" } as const;
  world.api.misbehave("editMessageText", refusal);
  await expect(world.channel.send(rowOf("the answer"), NEVER)).rejects.toMatchObject({ kind: "permanent" });
  end(world);
  await pass(world, 200);
  await world.bench.clock.advance(121_000);
  await eventually("it is gone", () => textsIn(world.room, FRIEND.id).length === 0);
});

/** Until that is written down about the preview. */
async function noted({ bench }: TelegramWorld, what: (fact: string | null) => boolean): Promise<void> {
  await waitFor(
    "the note about the preview",
    () => bench.deps.facts.get("telegram", "default", `preview:${turnId}`),
    what,
  );
}

describe("a preview of a previous process", () => {
  const shownBefore = async (world: TelegramWorld): Promise<void> => {
    await begun(world);
    await halfShown(world);
    await noted(world, (fact) => fact !== null && !fact.includes('"message":null'));
    await world.close();
  };

  test("is taken away when no answer follows", async () => {
    await using world = await telegramWorld();
    await shownBefore(world);
    await world.reopen();
    await pass(world, 200);
    await world.bench.clock.advance(29_000);
    await pass(world, 200);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["half"]);
    await world.bench.clock.advance(2_000);
    await eventually("it is gone", () => textsIn(world.room, FRIEND.id).length === 0);
    await noted(world, (fact) => fact === null);
  });

  test("that took an answer is never taken away, although nobody heard that it did", async () => {
    await using world = await telegramWorld();
    await begun(world);
    await halfShown(world);
    world.api.misbehave("editMessageText", { kind: "cut_after" });
    await expect(world.channel.send(rowOf("the whole answer"), NEVER)).rejects.toThrow();
    await world.close();
    await world.reopen();
    await pass(world, 200);
    await world.bench.clock.advance(31_000);
    await noted(world, (fact) => fact === null);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
  });

  test("stays while an answer waits for delivery", async () => {
    await using world = await telegramWorld();
    await shownBefore(world);
    world.bench.owed.add(String(FRIEND.id));
    const again = await world.reopen();
    await pass(world, 200);
    await world.bench.clock.advance(31_000);
    await pass(world, 200);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["half"]);
    await again.send(rowOf("the whole answer"), NEVER);
    world.bench.owed.clear();
    await world.bench.clock.advance(121_000);
    await pass(world, 200);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["the whole answer"]);
  });

  test("stays while its turn is tried again, and goes when that says nothing", async () => {
    await using world = await telegramWorld();
    await shownBefore(world);
    await world.reopen();
    await pass(world, 200);
    start(world);
    await world.bench.clock.advance(31_000);
    await pass(world, 200);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["half"]);
    end(world);
    await world.bench.clock.advance(121_000);
    await eventually("it is gone", () => textsIn(world.room, FRIEND.id).length === 0);
  });
});

test("a preview that is answered for after the end of its turn is taken away all the same", async () => {
  await using world = await telegramWorld();
  const hung = deferred<void>();
  await begun(world);
  world.api.misbehave("sendMessage", { kind: "late", until: hung.promise });
  await halfShown(world);
  end(world);
  hung.resolve();
  await noted(world, (fact) => fact !== null && !fact.includes('"message":null'));
  await world.bench.clock.advance(121_000);
  await eventually("it is gone", () => textsIn(world.room, FRIEND.id).length === 0);
});

test("a turn that is not of this account is not shown", async () => {
  await using world = await telegramWorld();
  start(world);
  await pass(world, 2_000, () => delta(world, "words for somebody else "));
  expect(world.platform.calls()).toEqual([]);
});

describe("the text of a preview", () => {
  const toolsWith = (progress?: string) => {
    const tools = noTools();
    noteTool(tools, { callId: "c1", tool: "web_search", status: "success" });
    noteTool(tools, { callId: "c2", tool: "save_note", status: "pending" });
    noteTool(tools, {
      callId: "c2",
      tool: "save_note",
      status: "running",
      ...(progress === undefined ? {} : { progress }),
    });
    return tools;
  };
  test.each([
    ["off", "words", null],
    ["partial", "**words", "words"],
    ["partial", "**words**", "words"],
    ["partial", "  ", null],
    ["block", "short paragraph\n\nnext", null],
    ["block", `${"x".repeat(250)}\n\nunfinished`, "x".repeat(250)],
    ["block", `${"x".repeat(250)}\n\n\`\`\`\ncode\n\nmore code`, "x".repeat(250)],
    ["progress", "words", "Working on it\n✓ web_search\n… save_note"],
  ] as const)("in mode %s for %p is %p", (mode, text, shown) => {
    expect(previewOf(mode, { text, tools: toolsWith(), waiting: "" })?.text ?? null).toBe(shown);
  });

  test.each([
    ["off", "", null],
    ["partial", "", "… save_note: half @way"],
    ["block", "", "… save_note: half @way"],
    ["partial", "**Let** me see", "Let me see\n\n… save_note: half @way"],
    ["progress", "words", "Working on it\n✓ web_search\n… save_note: half @way"],
    ["partial", "word ".repeat(900), "word ".repeat(819).trim()],
  ] as const)("in mode %s for %j has what a running tool says as code, %j", (mode, text, shown) => {
    const chunk = previewOf(mode, { text, tools: toolsWith("half @way"), waiting: "" });
    expect(chunk?.text ?? null).toBe(shown);
    const code = chunk?.entities.filter(({ type }) => type === "code") ?? [];
    const said = code.map(({ offset, length }) => chunk?.text.slice(offset, offset + length));
    expect(said).toEqual(shown?.includes("half") ? ["half @way"] : []);
  });

  test("has the name of a tool without its words once it has ended, and nothing of it beside the answer", () => {
    const tools = toolsWith("half way");
    noteTool(tools, { callId: "c2", tool: "save_note", status: "success" });
    expect(previewOf("partial", { text: "", tools, waiting: "" })?.text).toBe("✓ save_note");
    expect(previewOf("partial", { text: "Done", tools, waiting: "" })?.text).toBe("Done");
  });
});
