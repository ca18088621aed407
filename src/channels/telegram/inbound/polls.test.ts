/** What the poller asks Telegram, word by word, how long it pauses after each kind of trouble, and what waits for what. */
import { expect, test } from "bun:test";
import type { Update } from "grammy/types";
import { orAborted } from "../../../kit/deferred.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault, type FaultInfo } from "../api/faults.ts";
import { pollUpdates, type PollerDeps } from "./poller.ts";

const SILENT = new Promise<never>(() => undefined);
const MAX_POLLS = 200;
const message = (id: number, chat = 1): Update =>
  ({ update_id: id, message: { message_id: id, date: 1, chat: { id: chat, type: "private" } } }) as Update;
const press = (id: number, chat: number | null, from = 7): Update =>
  ({
    update_id: id,
    callback_query: { id: "c", from: { id: from }, ...(chat === null ? {} : { message: { chat: { id: chat } } }) },
  }) as unknown as Update;

/** `answers`: what Telegram says to one poll after the other; then nothing more. */
function world(answers: (readonly Update[] | FaultInfo)[], take: PollerDeps["take"] = async () => true, stored = "") {
  const clock = createFakeClock();
  const log = recordingLog();
  const calls: unknown[] = [];
  const polledAt: number[] = [];
  const link: string[] = [];
  const kept = new Map(stored === "" ? [] : [["offset", stored]]);
  const stop = new AbortController();
  const state = { idle: SILENT as Promise<readonly Update[]> };
  const api = {
    call: async (method: string, fields: object) => (calls.push([method, fields]), []),
    async slowCall(method: string, fields: object, signal: AbortSignal, ms: number) {
      calls.push([method, fields, ms]);
      polledAt.push(clock.elapsed());
      if (polledAt.length > MAX_POLLS) return SILENT; // a loop without a pause would never end
      const answer = answers.shift();
      if (answer === undefined) return orAborted(state.idle, signal);
      if (!Array.isArray(answer)) throw new Fault(answer as FaultInfo);
      return answer;
    },
  } as unknown as BotApi;
  const facts = {
    get: async (key: string) => kept.get(key) ?? null,
    put: async (key: string, value: string) => void kept.set(key, value),
    forget: async (key: string) => void kept.delete(key),
    list: async () => [],
  };
  const said = {
    up: () => void link.push("up"),
    down: ({ info }: Fault) => void link.push(info.kind),
    note: (because: string) => void link.push(because),
  } as unknown as PollerDeps["link"];
  const polling = pollUpdates({ clock, log, api, facts, ids: createSeqIds(), link: said, take }, stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new Error("stopping"));
    await polling;
  };
  return { clock, log, calls, polledAt, link, kept, state, end };
}

const REQUEST = {
  limit: 100,
  timeout: 30,
  allowed_updates: ["message", "edited_message", "callback_query", "message_reaction"],
};

test("poller: the first poll takes the bot from a webhook and asks from where Telegram is, the next from behind what is stored", async () => {
  const at = world([[message(41)]], undefined, "30");
  await at.clock.advance(0);
  expect(at.calls).toEqual([
    ["deleteWebhook", { drop_pending_updates: false }],
    ["getUpdates", REQUEST, 45_000],
    ["getUpdates", { ...REQUEST, offset: 42 }, 45_000],
  ]);
  expect(at.kept.get("offset")).toBe("42");
  await at.end();
  expect(at.calls.slice(3)).toEqual([["getUpdates", { offset: 42, limit: 1, timeout: 0 }]]);
  expect([at.link, at.clock.pending()]).toEqual([["up"], 0]); // a stop is no trouble
});

test("poller: a bot that was never asked, or has brought nothing yet, is left without a last word", async () => {
  const refused = world([{ kind: "unauthorized" }], undefined, "30");
  await refused.clock.advance(0);
  await refused.end();
  expect(refused.calls.filter((call) => (call as unknown[])[0] === "getUpdates")).toHaveLength(1);
  const quiet = world([[]]);
  await quiet.clock.advance(0);
  await quiet.end();
  expect(quiet.calls.at(-1)).toEqual(["getUpdates", REQUEST, 45_000]);
  expect(quiet.kept.has("offset")).toBe(false);
});

test.each<[FaultInfo, readonly (readonly [number, number])[]]>([
  [
    { kind: "limited", retryAfterMs: 7_000 },
    [
      [7, 7],
      [7, 7],
      [7, 7],
    ],
  ],
  [
    { kind: "unauthorized" },
    [
      [60, 60],
      [60, 60],
      [60, 60],
    ],
  ],
  [
    { kind: "conflict", detail: "" },
    [
      [3.5, 5],
      [7, 10],
      [14, 20],
      [28, 40],
      [42, 60],
      [42, 60],
    ],
  ],
  [
    { kind: "lost", detail: "" },
    [
      [0.7, 1],
      [1.4, 2],
      [2.8, 4],
      [5.6, 8],
      [11.2, 16],
      [22.4, 32],
      [42, 60],
      [42, 60],
    ],
  ],
])("poller: pauses after trouble of kind %p are as long as they should be", async (fault, seconds) => {
  const at = world(Array.from({ length: seconds.length + 1 }, () => fault));
  await at.clock.advance(600_000);
  const pauses = at.polledAt
    .slice(1, seconds.length + 1)
    .map((time, before) => (time - (at.polledAt[before] ?? 0)) / 1_000);
  for (const [n, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(seconds[n]?.[0] ?? 0);
    expect(pause).toBeLessThanOrEqual(seconds[n]?.[1] ?? 0);
  }
  expect(pauses).toHaveLength(seconds.length);
  await at.end();
});

test("poller: updates are taken in by their number, in whatever order Telegram lists them", async () => {
  const taken: number[] = [];
  const at = world([[message(3), message(1), message(2)]], async ({ update_id: id }) => (taken.push(id), true));
  await at.clock.advance(0);
  expect(taken).toEqual([1, 2, 3]);
  await at.end();
});

test("poller: a press waits for what was said before it in its chat, or by its person where it has none", async () => {
  const taken: number[] = [];
  const hold = Promise.withResolvers<boolean>();
  const at = world(
    [[message(1, 5), press(2, 5), message(3, 6), press(4, 6), press(5, null, 5), press(6, null, 9)]],
    ({ update_id: id }) => (taken.push(id), id === 1 ? hold.promise : Promise.resolve(true)),
  );
  await at.clock.advance(0);
  expect(taken.toSorted()).toEqual([1, 3, 4, 6]);
  hold.resolve(true);
  await at.clock.advance(0);
  expect(taken.slice(-2)).toEqual([2, 5]);
  await at.end();
});

test("poller: while an update is being stored it is asked twice a second, and sooner only when another one is stored", async () => {
  const hold = Promise.withResolvers<boolean>();
  const soon = Promise.withResolvers<boolean>();
  const at = world([[message(1), message(2, 2)]], ({ update_id: id }) => (id === 1 ? hold : soon).promise);
  at.state.idle = Promise.resolve([]);
  await at.clock.advance(499);
  expect(at.polledAt).toEqual([0]);
  await at.clock.advance(1);
  expect(at.polledAt).toEqual([0, 500]);
  soon.resolve(true);
  await at.clock.advance(499);
  expect(at.polledAt).toEqual([0, 500, 500]);
  await at.clock.advance(1);
  expect(at.polledAt).toEqual([0, 500, 500, 1_000]);
  at.state.idle = SILENT;
  hold.resolve(true);
  await at.end();
});
