/** Previews of Discord beside an API and a disk that a test plays by hand: a disk that fails, a stop, and nothing kept of turns that are over. */
import { describe, expect, test } from "bun:test";
import { type AccountState, startPreviews } from "../../kit/index.ts";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { createEvents } from "../../../observe/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import { discordPreviews } from "./previews.ts";

const sessionKey = "agent:default:discord:dm:1" as SessionKey;
const HERE = { channel: "discord", account: "default", chat: "1" };
const NOTE = JSON.stringify({ to: HERE, where: "1", message: "7", begunAt: 1_700_000_000_000, taken: false });
const NOTHING = { message: null, inDoubt: false, shown: null };
const turn = (n: number) => `turn_${n}` as TurnId;
const inbox = (n: number) => `in_${n}` as InboxId;

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
    list: async () => [...kept].map(([key, value]) => ({ key, value })),
  };
  const calls: string[] = [];
  const answers = new Map<string, () => Promise<unknown>>();
  const call =
    (name: string) =>
    (..._given: readonly unknown[]): Promise<unknown> => {
      calls.push(name);
      return answers.get(name)?.() ?? Promise.resolve({ id: `m${calls.length}` });
    };
  const names = ["showTyping", "createMessage", "editMessage", "deleteMessage"];
  const channels = Object.fromEntries(names.map((name) => [name, call(name)]));
  const shown = discordPreviews({ channels } as unknown as Parameters<typeof discordPreviews>[0]);
  const previews = startPreviews(
    { clock, log, events, facts, replies: { owes: () => false, isOwed: async () => false, isHeld: () => true } },
    shown,
    "partial",
  );
  const started = (n: number): void =>
    events.emit("turn.started", { sessionKey, turnId: turn(n), inboxIds: [inbox(n)], attempt: 1, waitedMs: 0 });
  const begin = (n: number): void => {
    previews.expect(inbox(n), { to: HERE, replyTo: null });
    started(n);
  };
  const say = (n: number, text: string): void => events.emit("turn.delta", { sessionKey, turnId: turn(n), text });
  const end = (n: number): void =>
    events.emit("turn.ended", { sessionKey, turnId: turn(n), inboxIds: [inbox(n)] } as never);
  const close = () => waitForEnd("the stop", Promise.resolve(previews[Symbol.asyncDispose]()));
  const count = (name: string): number => calls.filter((one) => one === name).length;
  return { clock, log, kept, disk, calls, answers, previews, begin, started, say, end, close, count };
}

describe("discord previews: a disk that fails", () => {
  test("while a preview begins costs the preview, and neither the reply nor the process", async () => {
    const at = world();
    at.disk.failing = true;
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(3_000);
    at.disk.failing = false;
    at.end(1);
    expect(await waitForEnd("the preview for the reply", at.previews.take(turn(1), HERE))).toEqual(NOTHING);
    expect(at.log.lines.map(({ words }) => words)).toContain("preview given up");
    await at.close();
  });

  test("while a preview is removed leaves it to the next process", async () => {
    const at = world();
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(2_000);
    at.end(1);
    await at.clock.advance(0);
    at.disk.failing = true;
    await at.clock.advance(60_000);
    at.disk.failing = false;
    await at.close();
    expect(at.kept.size).toBe(1);
  });
});

describe("discord previews: the end", () => {
  test("of a turn without a reply takes its preview away after a minute, once", async () => {
    const at = world();
    at.begin(1);
    at.say(1, "Hello");
    await at.clock.advance(2_000);
    at.end(1);
    await at.clock.advance(59_000);
    expect(at.count("deleteMessage")).toBe(0);
    await at.clock.advance(200_000);
    expect([at.count("deleteMessage"), at.kept.size]).toEqual([1, 0]);
    await at.close();
  });

  test.each(["shows a preview", "waits to remove one", "looks for previews of an earlier process"])(
    "of the channel while it %s leaves no timer, and nothing is shown after it",
    async (where) => {
      const at = world(where.startsWith("looks") ? { "preview:turn_9": NOTE } : {});
      if (!where.startsWith("looks")) at.begin(1);
      at.say(1, "Hello");
      await at.clock.advance(2_000);
      if (where === "waits to remove one") at.end(1);
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

describe("discord previews: those of an earlier process", () => {
  const LEFT = { "preview:turn_9": NOTE };

  test("are taken away soon after the start, and a reply that comes meanwhile waits for that", async () => {
    const at = world(LEFT);
    const removed = Promise.withResolvers<unknown>();
    at.answers.set("deleteMessage", () => removed.promise);
    await at.clock.advance(20_000);
    expect(at.count("deleteMessage")).toBe(1);
    let taken = false;
    const take = at.previews.take(turn(9), HERE).then((found) => ((taken = true), found));
    await at.clock.advance(0);
    expect(taken).toBe(false);
    removed.resolve(null);
    expect(await waitForEnd("the preview for the reply", take)).toEqual(NOTHING);
    await at.close();
  });

  test("of a turn that goes on right after the start stay while it runs", async () => {
    const at = world(LEFT);
    at.begin(9);
    await at.clock.advance(100_000);
    expect(at.count("deleteMessage")).toBe(0);
    at.end(9);
    await at.clock.advance(60_000);
    expect(at.count("deleteMessage")).toBe(1);
    await at.close();
  });
});

test("discord previews: a turn that begins before its message is known to be stored is shown all the same", async () => {
  const at = world();
  at.started(1);
  at.previews.expect(inbox(1), { to: HERE, replyTo: null });
  at.say(1, "Hello");
  await at.clock.advance(2_000);
  expect(at.count("createMessage")).toBe(1);
  await at.close();
});

test("discord previews: what is shown goes when something else is said first, and only typing is shown then", async () => {
  const at = world();
  at.begin(1);
  at.say(1, "Hello");
  await at.clock.advance(2_000);
  await waitForEnd("the removal", at.previews.drop(turn(1)));
  at.say(1, " again");
  await at.clock.advance(10_000);
  expect([at.count("createMessage"), at.count("deleteMessage"), at.kept.size]).toEqual([1, 1, 0]);
  expect(at.calls.at(-1)).toBe("showTyping");
  await at.close();
});

test("discord previews: nothing is kept of turns whose reply was sent, or that were never shown here", async () => {
  const at = world();
  const kept = await keptPerRound(async (round) => {
    at.begin(round);
    at.say(round, "Hello");
    await at.clock.advance(2_000);
    await at.previews.take(turn(round), HERE);
    await at.previews.forget(turn(round));
    at.end(round);
    at.started(-round - 1); // of another channel
    at.end(-round - 1);
    await at.clock.advance(60_000);
    for (const list of [at.calls, at.log.lines]) (list as unknown[]).length = 0;
  });
  expect([kept, at.kept.size]).toEqual([{}, 0]);
  await at.close();
});

test("discord previews: a stop waits for the message that is just being sent, so that its id is noted", async () => {
  const at = world();
  const sent = Promise.withResolvers<unknown>();
  at.answers.set("createMessage", () => sent.promise);
  at.begin(1);
  at.say(1, "Hello");
  await at.clock.advance(2_000);
  expect(at.count("createMessage")).toBe(1);
  let stopped = false;
  const closing = at.close().then(() => (stopped = true));
  await at.clock.advance(0);
  expect(stopped).toBe(false);
  sent.resolve({ id: "m77" });
  await closing;
  expect([...at.kept.values()].join()).toContain("m77");
});
