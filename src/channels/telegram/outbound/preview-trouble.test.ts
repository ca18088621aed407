/** Previews beside an API and a disk that a test plays by hand: a disk that fails, a stop, the pace, and nothing kept of turns that are over. */
import { describe, expect, test } from "bun:test";
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { createEvents } from "../../../observe/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import type { BotApi } from "../api/bot-api.ts";
import { createChatCooldowns } from "../api/chat-cooldowns.ts";
import { Fault } from "../api/faults.ts";
import { type AccountState, startPreviews } from "../../kit/index.ts";
import { telegramPreviews } from "./previews.ts";

const HERE: ChatAddress = { channel: "telegram", account: "default", chat: "11" };
const sessionKey = "agent:default:telegram:dm:11" as SessionKey;
const NOTE = JSON.stringify({ to: HERE, where: "11", message: "7", begunAt: 1_700_000_000_000, taken: false });
const turn = (n: number) => `turn_${n}` as TurnId;

interface Called {
  readonly method: string;
  readonly at: number;
}

function world(stored: Readonly<Record<string, string>> = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const kept = new Map<string, string>(Object.entries(stored));
  const disk = { failing: false };
  const orFail = <T>(value: T): Promise<T> =>
    disk.failing ? Promise.reject(new Error("disk full")) : Promise.resolve(value);
  const facts: AccountState = {
    get: (key) => orFail(kept.get(key) ?? null),
    put: async (key, value) => void (await orFail(kept.set(key, value))),
    forget: async (key) => void (await orFail(kept.delete(key))),
    list: async (prefix) => [...kept].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => ({ key, value })),
  };
  const calls: Called[] = [];
  const answers = new Map<string, (signal: AbortSignal) => Promise<unknown>>();
  const api = {
    call(method: string, _fields: object, signal: AbortSignal) {
      calls.push({ method, at: clock.elapsed() });
      return answers.get(method)?.(signal) ?? Promise.resolve({ message_id: calls.length });
    },
  } as unknown as BotApi;
  const shown = telegramPreviews({ api, cooldowns: createChatCooldowns({ clock }), moved: { now: (chat) => chat } });
  const previews = startPreviews(
    { clock, log, events, facts, replies: { owes: () => false, isOwed: async () => false, isHeld: () => true } },
    shown,
    "partial",
  );
  const begin = (n: number): void => {
    previews.expect(`in_${n}` as InboxId, { to: HERE, replyTo: null });
    events.emit("turn.started", {
      sessionKey,
      turnId: turn(n),
      inboxIds: [`in_${n}` as InboxId],
      attempt: 1,
      waitedMs: 0,
    });
  };
  const say = (n: number, text: string): void => events.emit("turn.delta", { sessionKey, turnId: turn(n), text });
  const end = (n: number): void =>
    events.emit("turn.ended", { sessionKey, turnId: turn(n), inboxIds: [`in_${n}` as InboxId] } as never);
  const close = () => waitForEnd("the stop", Promise.resolve(previews[Symbol.asyncDispose]()));
  const count = (method: string): number => calls.filter((one) => one.method === method).length;
  return { clock, log, kept, disk, calls, answers, previews, begin, say, end, close, count };
}

describe("telegram previews: a disk that fails", () => {
  test("while a preview begins costs the preview, and neither the reply nor the process", async () => {
    const at = world();
    at.disk.failing = true;
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(2_000);
    at.disk.failing = false;
    at.end(1);
    expect(await waitForEnd("the preview for the reply", at.previews.take(turn(1), HERE))).toMatchObject({
      message: null,
      inDoubt: false,
    });
    await at.close();
    expect(at.log.lines.filter(({ level }) => level === "warn").length).toBeGreaterThan(0);
  });

  test("while a preview that no reply has claimed is removed is told, and ends nothing else", async () => {
    const at = world();
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(1_000);
    expect(at.count("sendMessage")).toBe(1);
    at.end(1);
    at.disk.failing = true;
    await at.clock.advance(120_000);
    at.disk.failing = false;
    at.begin(2);
    at.say(2, "Hello");
    await at.clock.advance(1_000);
    expect(at.count("sendMessage")).toBe(2);
    await at.close();
  });
});

describe("telegram previews: the end", () => {
  test("of a turn waits for the message that is just being shown: the reply goes into it, and not beside it", async () => {
    const at = world();
    const answer = Promise.withResolvers<unknown>();
    at.answers.set("sendMessage", () => answer.promise);
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(1_000);
    expect(at.count("sendMessage")).toBe(1);
    at.end(1);
    let known = false;
    const finished = at.previews.take(turn(1), HERE).finally(() => (known = true));
    await at.clock.advance(1_000);
    expect(known).toBe(false);
    answer.resolve({ message_id: 7 });
    expect(await waitForEnd("the preview for the reply", finished)).toMatchObject({ message: "7", inDoubt: false });
    await at.close();
  });

  test("of a turn without a reply takes its preview away after a while, once", async () => {
    const at = world();
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(1_000);
    at.end(1);
    await at.clock.advance(119_000);
    expect(at.count("deleteMessage")).toBe(0);
    await at.clock.advance(200_000);
    expect([at.count("deleteMessage"), at.kept.size]).toEqual([1, 0]);
    await at.close();
    expect(at.clock.pending()).toBe(0);
  });

  test.each(["shows a preview", "has ended without a reply", "looks for previews of an earlier process"])(
    "of the account while it %s leaves no timer, and nothing is shown after it",
    async (where) => {
      const at = world(where.startsWith("looks") ? { "preview:turn_9": NOTE } : {});
      if (!where.startsWith("looks")) at.begin(1);
      at.say(1, "Hello");
      await at.clock.advance(1_000);
      if (where === "has ended without a reply") at.end(1);
      await at.clock.advance(0);
      await at.close();
      const calls = at.calls.length;
      at.begin(2);
      at.say(2, "more");
      await at.clock.advance(300_000);
      expect([at.calls.length, at.clock.pending()]).toEqual([calls, 0]);
    },
  );
});

test("telegram previews: the end of the account waits for a message that is being sent, so that it is known", async () => {
  const at = world();
  const sent = Promise.withResolvers<unknown>();
  at.answers.set("sendMessage", () => sent.promise);
  at.begin(1);
  at.say(1, "Hello");
  await at.clock.advance(1_000);
  let closed = false;
  const close = at.close().then(() => (closed = true));
  await at.clock.advance(0);
  expect(closed).toBe(false);
  sent.resolve({ message_id: 7 });
  await close;
  expect(JSON.parse(at.kept.get("preview:turn_1") ?? "")).toMatchObject({ where: "11", message: "7" });
});

describe("telegram previews: pace", () => {
  test("typing is shown every four and a half seconds until there is a preview", async () => {
    const at = world();
    at.begin(1);
    await at.clock.advance(10_000);
    const typed = at.calls.filter(({ method }) => method === "sendChatAction").map(({ at: when }) => when);
    expect(typed).toEqual([0, 4_500, 9_000]);
    at.say(1, "Hello");
    await at.clock.advance(10_000);
    expect(at.count("sendChatAction")).toBeLessThanOrEqual(4);
    await at.close();
  });

  test("a preview is edited once a second with what is new, and not at all when nothing is", async () => {
    const at = world();
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(1_000);
    for (const word of [" a", " b"]) at.say(1, word);
    await at.clock.advance(10_000);
    expect([at.count("sendMessage"), at.count("editMessageText")]).toEqual([1, 1]);
    await at.close();
  });
});

describe("telegram previews: those of an earlier process", () => {
  const LEFT = { "preview:turn_9": NOTE };

  test("are taken away half a minute after the start, and their note with them", async () => {
    const at = world(LEFT);
    await at.clock.advance(29_999);
    expect(at.count("deleteMessage")).toBe(0);
    await at.clock.advance(1);
    expect([at.count("deleteMessage"), at.kept.size]).toEqual([1, 0]);
    await at.close();
  });

  test("stay when a reply claims them, which waits for a removal that has begun", async () => {
    const claimed = world(LEFT);
    expect(await claimed.previews.take(turn(9), HERE)).toMatchObject({ message: "7" });
    await claimed.clock.advance(300_000);
    expect(claimed.count("deleteMessage")).toBe(0);
    await claimed.close();

    const at = world(LEFT);
    const removed = Promise.withResolvers<unknown>();
    at.answers.set("deleteMessage", () => removed.promise);
    await at.clock.advance(30_000);
    let finished = false;
    const finish = at.previews.take(turn(9), HERE).then((found) => ((finished = true), found));
    await at.clock.advance(0);
    expect(finished).toBe(false);
    removed.resolve(true);
    expect(await waitForEnd("the claim", finish)).toMatchObject({ message: null });
    await at.close();
  });

  test("are tried again when Telegram is not reached, and given up when it refuses", async () => {
    const at = world(LEFT);
    at.answers.set("deleteMessage", () => Promise.reject(new Fault({ kind: "unreached", detail: "" })));
    await at.clock.advance(30_000);
    expect([at.count("deleteMessage"), at.kept.size]).toEqual([1, 1]);
    at.answers.set("deleteMessage", () => Promise.reject(new Fault({ kind: "refused", code: 400, detail: "gone" })));
    await at.clock.advance(120_000);
    await at.clock.advance(300_000);
    expect([at.count("deleteMessage"), at.kept.size]).toEqual([2, 0]);
    await at.close();
  });

  test("whose removal is under way at the stop are kept for the next process", async () => {
    const at = world(LEFT);
    at.answers.set(
      "deleteMessage",
      (signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    );
    await at.clock.advance(30_000);
    await at.close();
    expect(at.kept.get("preview:turn_9")).toBe(NOTE);
  });

  test("of a turn that goes on stay until some time after its end", async () => {
    const at = world(LEFT);
    at.begin(9);
    await at.clock.advance(100_000);
    expect(at.count("deleteMessage")).toBe(0);
    await at.close();
  });
});

test("telegram previews: nothing is kept of turns whose reply was sent", async () => {
  const at = world();
  const kept = await keptPerRound(async (round) => {
    at.begin(round);
    at.say(round, "Hello");
    await at.clock.advance(1_000);
    at.end(round);
    await at.previews.take(turn(round), HERE);
    await at.previews.forget(turn(round));
    await at.clock.advance(120_000);
    for (const list of [at.calls, at.log.lines]) (list as unknown[]).length = 0;
  });
  expect([kept, at.kept.size]).toEqual([{}, 0]);
  await at.close();
});
