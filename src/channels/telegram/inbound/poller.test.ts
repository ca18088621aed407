/** The poller against an API that a test plays by hand: order within a chat, pauses, who holds the bot, and a stop that loses nothing. */
import { describe, expect, test } from "bun:test";
import type { Update } from "grammy/types";
import { orAborted } from "../../../kit/deferred.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { advanceUntil, waitForEnd } from "../../../testing/wait-for.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault, type FaultInfo } from "../api/faults.ts";
import type { AccountState } from "../../kit/index.ts";
import type { Link } from "../link.ts";
import { pollUpdates, type PollerDeps } from "./poller.ts";

const SILENT = new Promise<never>(() => undefined);

interface Asked {
  readonly method: string;
  readonly fields: { readonly offset?: number; readonly timeout?: number };
}

const message = (id: number, chat = 1): Update =>
  ({ update_id: id, message: { message_id: id, date: 1, chat: { id: chat, type: "private" }, text: "hi" } }) as Update;

function world(take: PollerDeps["take"] = async () => true) {
  const clock = createFakeClock();
  const log = recordingLog();
  const asked: Asked[] = [];
  const kept = new Map<string, string>();
  const failing = new Set<string>();
  const unwritable = new Set<string>();
  const facts: AccountState = {
    async get(key) {
      if (failing.has(key)) throw new Error("disk full");
      return kept.get(key) ?? null;
    },
    async put(key, value) {
      if (failing.has(key) || unwritable.has(key)) throw new Error("disk full");
      kept.set(key, value);
    },
    async forget(key) {
      await new Promise((resolve) => setImmediate(resolve)); // as a disk does
      kept.delete(key);
    },
    list: async () => [],
  };
  const isSilent = { now: false };
  /** Who held the bot at each call. */
  const held: string[] = [];
  let answer = Promise.withResolvers<readonly Update[]>();
  const link: string[] = [];
  const api = {
    async call(method: string, fields: Asked["fields"], signal: AbortSignal) {
      asked.push({ method, fields });
      held.push(kept.get("poller") ?? "nobody");
      return isSilent.now ? orAborted(SILENT, signal) : [];
    },
    async slowCall(method: string, fields: Asked["fields"], signal: AbortSignal) {
      asked.push({ method, fields });
      return orAborted(answer.promise, signal);
    },
  } as unknown as BotApi;
  const stop = new AbortController();
  const said: Link = {
    up: () => void link.push("up"),
    down: ({ info }) => void link.push(info.kind),
    note: (because) => void link.push(because),
    canSend: () => true,
    health: () => ({ ok: true, detail: "" }),
  };
  const start = (): Promise<void> =>
    pollUpdates({ clock, log, api, facts, ids: createSeqIds(), link: said, take }, stop.signal);
  const next = async (settle: (poll: typeof answer) => void): Promise<void> => {
    const now = answer;
    answer = Promise.withResolvers();
    settle(now);
    await clock.advance(0);
  };
  return {
    clock,
    log,
    asked,
    kept,
    failing,
    unwritable,
    isSilent,
    held,
    link,
    start,
    /** Resolves when the poller has had what Telegram answered. */
    bring: (...updates: readonly Update[]) => next((poll) => poll.resolve(updates)),
    fail: (info: FaultInfo) => next((poll) => poll.reject(new Fault(info))),
    stop: () => stop.abort(new Error("stopping")),
    polls: () => asked.filter(({ method }) => method === "getUpdates").length,
  };
}

describe("poller: updates of one chat", () => {
  test("are taken in one after the other, also when the first has ended before the third comes", async () => {
    const begun: number[] = [];
    const ends = new Map<number, () => void>();
    const at = world(async ({ update_id: id }) => {
      begun.push(id);
      await new Promise<void>((resolve) => ends.set(id, resolve));
      return true;
    });
    const polling = at.start();
    await at.clock.advance(0);
    await at.bring(message(1), message(2), message(9, 2));
    ends.get(1)?.();
    await at.clock.advance(0);
    await at.bring(message(3));
    expect(begun).toEqual([1, 9, 2]);
    ends.get(2)?.();
    await at.clock.advance(0);
    expect(begun).toEqual([1, 9, 2, 3]);
    for (const end of ends.values()) end();
    at.stop();
    await waitForEnd("the stop", polling);
  });

  test("that cannot be stored are tried again after a growing pause, and others do not wait for them", async () => {
    const tried: string[] = [];
    const at = world(async ({ update_id: id }) => {
      tried.push(`${id} at ${at.clock.elapsed()}`);
      if (id === 1 && tried.length < 4) throw new Error("disk full");
      return true;
    });
    const polling = at.start();
    await at.clock.advance(0);
    await at.bring(message(1), message(2, 2));
    await advanceUntil({ clock: at.clock, stepMs: 100 }, "the last try", () => tried.length === 4);
    expect(tried.map((one) => one.split(" ")[0])).toEqual(["1", "2", "1", "1"]);
    const [first = 0, second = 0] = tried.slice(2).map((one) => Number(one.split(" ")[2]));
    expect([first >= 700 && first <= 1_100, second - first > first]).toEqual([true, true]);
    at.stop();
    await waitForEnd("the stop", polling);
  });
});

test("poller: an update is stored within some seconds of the return of a store that was away for minutes", async () => {
  let isAway = true;
  let storedAt = 0;
  const at = world(async () => {
    if (isAway) throw new Error("no connection to the database");
    storedAt = at.clock.elapsed();
    return true;
  });
  const polling = at.start();
  await at.clock.advance(0);
  await at.bring(message(1));
  await at.clock.advance(180_000);
  isAway = false;
  const back = at.clock.elapsed();
  await advanceUntil({ clock: at.clock, stepMs: 100 }, "the update to be stored", () => storedAt > 0);
  expect(storedAt - back).toBeLessThanOrEqual(5_000);
  at.stop();
  await waitForEnd("the stop", polling);
});

describe("poller: a stop", () => {
  test("waits for what is being stored, and confirms it to Telegram afterwards", async () => {
    const end = Promise.withResolvers<boolean>();
    const at = world(() => end.promise);
    const polling = at.start();
    await at.clock.advance(0);
    await at.bring(message(7));
    at.stop();
    let stopped = false;
    void polling.then(() => (stopped = true));
    await at.clock.advance(0);
    expect(stopped).toBe(false);
    end.resolve(true);
    await waitForEnd("the stop", polling);
    expect(at.asked.at(-1)).toMatchObject({ method: "getUpdates", fields: { offset: 8 } });
    expect([at.kept.has("poller"), at.clock.pending()]).toEqual([false, 0]);
  });

  test("is told to whoever takes an update in, and does not confirm what was not stored", async () => {
    const at = world(
      (_update, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    );
    const polling = at.start();
    await at.clock.advance(0);
    await at.bring(message(7));
    at.stop();
    await waitForEnd("the stop", polling);
    expect(at.asked.at(-1)).toMatchObject({ fields: { offset: 7 } });
    expect(at.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test.each(["a poll", "the pause before an update is tried again", "the pause after trouble"])(
    "in the middle of %s ends at once, without an error, and leaves no timer",
    async (where) => {
      const at = world(async () => false);
      const polling = at.start();
      await at.clock.advance(0);
      if (where === "the pause before an update is tried again") await at.bring(message(7));
      if (where === "the pause after trouble") await at.fail({ kind: "down", detail: "502" });
      at.stop();
      await waitForEnd("the stop", polling);
      expect(at.clock.pending()).toBe(0);
    },
  );
});

describe("poller: trouble", () => {
  test.each(["offset", "poller"])(
    "with the store at the start (%s) does not end it: it polls when the store works",
    async (key) => {
      const at = world();
      at.failing.add(key);
      const polling = at.start();
      await at.clock.advance(10_000);
      expect([at.polls(), at.link]).toEqual([0, expect.arrayContaining([expect.stringContaining("stored")])]);
      at.failing.clear();
      await at.clock.advance(60_000);
      expect([at.polls(), at.kept.has("poller")]).toEqual([1, true]);
      at.stop();
      await waitForEnd("the stop", polling);
    },
  );

  const CONFLICT = { kind: "conflict", detail: "other getUpdates" } as const;

  test.each([
    ["a token that Telegram does not know", { kind: "unauthorized" }, 60_000],
    ["a limit", { kind: "limited", retryAfterMs: 17_000 }, 17_000],
  ] as const)("of %s is answered with the pause that fits it", async (_what, info, pauseMs) => {
    const at = world();
    const polling = at.start();
    await at.clock.advance(0);
    await at.fail(info);
    const polls = at.polls();
    await at.clock.advance(pauseMs - 1);
    expect(at.polls()).toBe(polls);
    await at.clock.advance(1);
    expect(at.polls()).toBe(polls + 1);
    at.stop();
    await waitForEnd("the stop", polling);
  });

  test("of a conflict takes the place of a poller that has gone, and polls on", async () => {
    const at = world();
    const polling = at.start();
    await at.clock.advance(0);
    const holder = at.kept.get("poller");
    at.kept.delete("poller");
    await at.fail(CONFLICT);
    expect(at.kept.get("poller")).toBe(holder ?? "");
    const polls = at.polls();
    await at.clock.advance(5_000);
    expect(at.polls()).toBe(polls + 1);
    at.stop();
    await waitForEnd("the stop", polling);
  });

  test.each(["failing", "unwritable"] as const)(
    "of a conflict while the disk is %s does not end the poller",
    async (how) => {
      const at = world();
      const polling = at.start();
      await at.clock.advance(0);
      at.kept.delete("poller");
      at[how].add("poller");
      await at.fail(CONFLICT);
      const polls = at.polls();
      await at.clock.advance(5_000);
      expect(at.polls()).toBe(polls + 1);
      at.stop();
      await waitForEnd("the stop", polling);
    },
  );

  test("with the note of the offset does not stop it, and the offset is noted with the next update", async () => {
    const at = world();
    const polling = at.start();
    await at.clock.advance(0);
    at.failing.add("offset");
    await at.bring(message(7));
    expect(at.kept.has("offset")).toBe(false);
    at.failing.clear();
    await at.bring(message(8));
    expect(at.kept.get("offset")).toBe("9");
    at.stop();
    await waitForEnd("the stop", polling);
  });
});

test("poller: the last word to Telegram comes after the bot is let go, and is not waited for without end", async () => {
  const at = world();
  const polling = at.start();
  await at.clock.advance(0);
  await at.bring(message(7));
  at.isSilent.now = true;
  at.stop();
  await advanceUntil({ clock: at.clock, stepMs: 100 }, "the last word", () => at.held.length === 2);
  expect([at.asked.at(-1)?.fields.offset, at.held.at(-1)]).toEqual([8, "nobody"]);
  await at.clock.advance(2_000);
  await waitForEnd("the stop", polling);
  expect(at.clock.pending()).toBe(0);
});

test("poller: what was brought is taken in before the next poll, and the poll asks for what is not confirmed", async () => {
  const taken: number[] = [];
  const at = world(async ({ update_id: id }) => (taken.push(id), true));
  const polling = at.start();
  await at.clock.advance(0);
  await at.bring(message(7), message(8, 2));
  expect(taken).toEqual([7, 8]);
  expect(at.asked.at(-1)).toMatchObject({ method: "getUpdates", fields: { offset: 9, timeout: 30 } });
  // what people wrote while nobody polled is kept
  const dropped: unknown[] = at.asked.filter(({ method }) => method === "deleteWebhook").map(({ fields }) => fields);
  expect(dropped).toEqual([{ drop_pending_updates: false }]);
  at.stop();
  await waitForEnd("the stop", polling);
});

test("poller: while an update is being stored, polls are answered at once, so that it is confirmed as soon as it is", async () => {
  const stored = Promise.withResolvers<boolean>();
  const at = world(() => stored.promise);
  const polling = at.start();
  await at.clock.advance(0);
  await at.bring(message(7));
  await advanceUntil({ clock: at.clock, stepMs: 100 }, "the next poll", () => at.polls() === 2);
  expect(at.asked.at(-1)?.fields.timeout).toBe(0);
  stored.resolve(true);
  await at.bring();
  expect(at.asked.at(-1)?.fields).toMatchObject({ offset: 8, timeout: 30 });
  at.stop();
  await waitForEnd("the stop", polling);
});

test("poller: it keeps nothing of chats whose updates are stored", async () => {
  const at = world();
  const polling = at.start();
  await at.clock.advance(0);
  const kept = await keptPerRound(async (round) => {
    await at.bring(message(1_000 + round, round));
    at.asked.length = 0;
    at.link.length = 0;
  });
  expect(kept).toEqual({});
  at.stop();
  await waitForEnd("the stop", polling);
});

test("poller: after trouble one poll is answered at once, and the next ones wait as usual", async () => {
  const at = world();
  const polling = at.start();
  await at.clock.advance(0);
  const timeouts = () => at.asked.filter(({ method }) => method === "getUpdates").map(({ fields }) => fields.timeout);
  for (const failures of [1, 2]) {
    await at.fail({ kind: "down", detail: "502" });
    const before = at.polls();
    await advanceUntil({ clock: at.clock, stepMs: 500 }, "the next poll", () => at.polls() > before);
    expect([failures, timeouts().at(-1)]).toEqual([failures, 0]);
  }
  await at.bring();
  expect(timeouts().at(-1)).toBe(30);
  await at.bring();
  expect(timeouts().at(-1)).toBe(30);
  at.stop();
  await waitForEnd("the stop", polling);
});
