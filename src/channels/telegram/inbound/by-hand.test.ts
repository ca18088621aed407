/** Intake, questions and small memories of a Telegram account, beside an API and a gateway that a test plays by hand. */
import { describe, expect, test } from "bun:test";
import type { Update } from "grammy/types";
import type { Receipt } from "../../../contracts/channel.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault, type FaultInfo } from "../api/faults.ts";
import type { Albums } from "./albums.ts";
import type { Arrived } from "./arrived.ts";
import { approvalPlatform } from "./approvals.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { createIntake, type IntakeDeps } from "./intake.ts";
import { PIECE_CHARS } from "./pastes.ts";
import { createQuestionMessages } from "./question-messages.ts";
import { takePress } from "./presses.ts";
import { createWebhook } from "./webhook.ts";
import { createUpdateWindow } from "./window.ts";

const SILENT = new Promise<never>(() => undefined);
const NEVER = new AbortController().signal;
const FRIEND = { id: 11, is_bot: false, first_name: "Friend" };
const QUEUED = { kind: "queued", id: "in_1", sessionKey: "s", position: 0 } as unknown as Receipt;

const message = (fields: object, id = 1): Update =>
  ({
    update_id: id,
    message: { message_id: id, date: 1, from: FRIEND, chat: { id: 11, type: "private" }, ...fields },
  }) as unknown as Update;

function intakeWorld(over: Partial<IntakeDeps> = {}, receipt: Receipt = QUEUED) {
  const told: string[] = [];
  const stored: string[] = [];
  const signals: AbortSignal[] = [];
  const reacted: unknown[] = [];
  const albums: Albums = {
    add: async () => undefined,
    newest: () => null,
    flush: async () => undefined,
    resume: async () => undefined,
    settled: async () => undefined,
  };
  const door = {
    look: async () => ({ kind: "come", role: "owner" }),
    react: async (reaction: unknown) => void reacted.push(reaction),
    receive: async ({ text }: { text: string }, signal: AbortSignal) => (
      signals.push(signal),
      stored.push(text),
      receipt
    ),
  } as unknown as IntakeDeps["door"];
  const files = {
    keep: async (_file: unknown, signal: AbortSignal) => (signals.push(signal), { kind: "kept", media: { name: "a" } }),
    transcribe: async (_media: unknown, signal: AbortSignal) => (
      signals.push(signal),
      { kind: "words", text: "spoken" }
    ),
  } as unknown as IntakeDeps["files"];
  const log = recordingLog();
  const intake = createIntake(
    {
      clock: createFakeClock(),
      log,
      api: {} as BotApi,
      door,
      files,
      albums: () => albums,
      here: () => ({
        channel: "telegram",
        account: "default",
        me: { id: 99, username: "bot" },
        chatOf: (chat) => chat,
      }),
      say: async (_to, text) => void told.push(text),
      accepted: () => undefined,
      press: async () => undefined,
      moved: async () => undefined,
      ...over,
    },
    { mediaMaxMb: 20 },
  );
  return { intake, told, stored, signals, reacted, log };
}

describe("telegram intake", () => {
  test("hands the caller's signal to files, transcription and the door", async () => {
    const at = intakeWorld();
    const { signal } = new AbortController();
    expect(await at.intake.take(message({ voice: { file_id: "v", duration: 1 } }), signal)).toBe(true);
    expect(at.signals.map((one) => one === signal)).toEqual([true, true, true]);
    expect(at.stored).toEqual(["spoken"]);
  });

  test.each([
    ["stopping", "Later.", false, []],
    ["gateway_full", "Later.", false, []],
    ["too_long", "Too long.", true, ["Too long."]],
    ["too_long", "", true, []],
    ["ignored", "Nothing.", true, []],
  ])("of a message that is refused as %s with %p says taken: %p", async (because, say, taken, told) => {
    const at = intakeWorld({}, { kind: "refused", because, say } as Receipt);
    expect([await at.intake.take(message({ text: "hi" }), NEVER), at.told]).toEqual([taken, told]);
  });

  test("passes reactions on as reactions, and over what it does not understand", async () => {
    const at = intakeWorld();
    const reaction = {
      chat: { id: 11, type: "private" },
      message_id: 5,
      user: FRIEND,
      date: 1,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    };
    expect(await at.intake.take({ update_id: 1, message_reaction: reaction } as unknown as Update, NEVER)).toBe(true);
    expect([at.reacted.length, at.stored]).toEqual([1, []]);
    const placeless = { message: { message_id: 1, from: FRIEND, text: "said nowhere" } };
    for (const odd of [{}, placeless, { callback_query: { id: "1", from: FRIEND } }])
      expect(await at.intake.take({ update_id: 2, ...odd } as unknown as Update, NEVER)).toBe(true);
    expect(at.stored).toEqual([]);
  });

  /** An access check that wants a mention, as in most groups. */
  const wantsMention = (stored: string[]) =>
    ({
      look: async ({ mentioned }: { mentioned: boolean }) =>
        mentioned ? { kind: "come", role: "member" } : { kind: "stay", say: null },
      receive: async ({ text }: { text: string }) => (stored.push(text), QUEUED),
    }) as unknown as IntakeDeps["door"];
  const GROUP = { chat: { id: -5, type: "supergroup" } };

  test("takes an album of a group whose mention is not in its first piece: a webhook brings pieces in any order", async () => {
    const stored: string[] = [];
    const at = intakeWorld({ door: wantsMention(stored) });
    const mention = { caption: "@bot look", caption_entities: [{ type: "mention", offset: 0, length: 4 }] };
    const picture = { ...GROUP, media_group_id: "a", photo: [{ file_id: "p", width: 1, height: 1 }] };
    expect(await at.intake.takeAlbum([message(picture), message({ ...picture, ...mention }, 2)], NEVER)).toBe(true);
    expect(stored).toEqual(["look"]);
    expect(await at.intake.takeAlbum([message(picture), message(picture, 2)], NEVER)).toBe(true);
    expect(stored).toEqual(["look"]);
  });

  test("keeps the pieces of a long text in one topic apart from what the same person says in another topic", async () => {
    const albums: string[] = [];
    const add = async (_chat: string, album: string): Promise<void> => void albums.push(album);
    const none = { newest: () => null, flush: async () => undefined };
    const at = intakeWorld({ albums: () => ({ ...none, add }) as unknown as Albums });
    const inTopic = (thread: number) => ({ ...GROUP, is_topic_message: true, message_thread_id: thread });
    for (const [index, thread] of [7, 8, 7].entries())
      await at.intake.take(message({ ...inTopic(thread), text: "x".repeat(PIECE_CHARS) }, index + 1), NEVER);
    const [seven, eight, again] = albums;
    expect([albums.length, again === seven, eight === seven]).toEqual([3, true, false]);
  });

  test("stops where a group's move, or the door, cannot be written down: Telegram brings it again", async () => {
    const broken = () => Promise.reject(new Error("disk full"));
    const move = intakeWorld({ moved: broken });
    await expect(move.intake.take(message({ migrate_to_chat_id: -100 }), NEVER)).rejects.toThrow("disk full");
    const at = intakeWorld({
      door: { look: async () => ({ kind: "come", role: "owner" }), receive: broken } as unknown as IntakeDeps["door"],
    });
    await expect(at.intake.take(message({ text: "hi" }), NEVER)).rejects.toThrow("disk full");
  });
});

describe("telegram approvals", () => {
  test.each([
    [{ kind: "unreached", detail: "" }, 1_000],
    [{ kind: "down", detail: "" }, 1_000],
    [{ kind: "limited", retryAfterMs: 7_000 }, 7_000],
    [{ kind: "lost", detail: "" }, null],
    [{ kind: "refused", code: 403, detail: "blocked" }, null],
  ] as const)("that failed with %p are posted again after %p ms", (info: FaultInfo, pauseMs) => {
    const platform = approvalPlatform({} as BotApi, "telegram", "default");
    expect(platform.retryAfterMs(new Fault(info))).toBe(pauseMs);
  });

  test("are decided by a press although Telegram takes neither the answer nor the end of the buttons", async () => {
    const calls: (readonly [string, AbortSignal])[] = [];
    const api = {
      async call(method: string, _fields: object, signal: AbortSignal) {
        calls.push([method, signal]);
        throw new Fault({ kind: "refused", code: 400, detail: "too old" });
      },
    } as unknown as BotApi;
    const decided: unknown[] = [];
    const approvals = { decide: async (press: unknown) => (decided.push(press), "decided" as const) };
    const arrived = {
      address: { channel: "telegram", account: "default", chat: "11" },
      messageId: 1,
      sender: { principal: "telegram:user:11", name: "" },
      press: { callbackId: "c", data: "q:ask_12345:0" },
    } as unknown as Arrived;
    const { signal } = new AbortController();
    await takePress(
      { api, approvals, questions: { answer: () => SILENT as never, answerAnywhere: () => SILENT as never } },
      arrived,
      "owner",
      signal,
    );
    expect(calls).toEqual([
      ["answerCallbackQuery", signal],
      ["editMessageReplyMarkup", signal],
    ]);
    expect(decided).toMatchObject([{ approval: "ask_12345", decision: "once", messageId: "1", role: "owner" }]);
  });
});

test("a telegram question of a turn is shown with the signal of who asks and closed while the account lives; a long one loses its buttons", async () => {
  const calls: (readonly [string, AbortSignal])[] = [];
  const api = {
    call: async (method: string, _fields: object, signal: AbortSignal) => (
      calls.push([method, signal]),
      { message_id: 1 }
    ),
  } as unknown as BotApi;
  const [life, asks] = [new AbortController().signal, new AbortController().signal];
  const board = createQuestionMessages({ log: recordingLog(), api }, life);
  const to = { channel: "telegram", account: "default", chat: "11" };
  const ask = (text: string) => board.show({ id: "question-1", to, text, labels: ["yes"] } as never, asks);
  await (await ask("Really?")).close({ answered: true, words: "Answered." });
  await (await ask("x".repeat(4_090))).close({ answered: true, words: "Answered." });
  expect(calls.map(([method]) => method)).toEqual([
    ...["sendMessage", "editMessageText"],
    ...["sendMessage", "editMessageReplyMarkup"],
  ]);
  expect(calls.map(([, signal]) => (signal === life ? "life" : "asks"))).toEqual(["asks", "life", "asks", "life"]);
});

test("a telegram question that takes several messages has its buttons below the last, and is given up by who asks and by the account", async () => {
  const sent: { readonly signal: AbortSignal; readonly hasButtons: boolean }[] = [];
  const api = {
    call: async (_method: string, fields: object, signal: AbortSignal) => {
      sent.push({ signal, hasButtons: "reply_markup" in fields });
      return { message_id: sent.length };
    },
  } as unknown as BotApi;
  const to = { channel: "telegram", account: "default", chat: "11" };
  const asked = { id: "question-1", to, text: "x".repeat(5_000), labels: ["yes"] } as never;
  for (const gives of ["who asks", "the account"]) {
    const [asks, life] = [new AbortController(), new AbortController()];
    const board = createQuestionMessages({ log: recordingLog(), api }, life.signal);
    const { messageId } = await board.show(asked, asks.signal);
    (gives === "who asks" ? asks : life).abort(new Error(`${gives} gives up`));
    const [first, second, ...more] = sent.splice(0);
    expect([messageId, first?.hasButtons, second?.hasButtons, more]).toEqual(["2", false, true, []]);
    expect([first?.signal.aborted, second?.signal.aborted]).toEqual([true, true]);
  }
});

test("a private message to a telegram bot is meant for it, and a long name is cut", async () => {
  const looked: { mentioned: boolean; sender: { name: string } }[] = [];
  const door = {
    look: async (arrival: (typeof looked)[number]) => (looked.push(arrival), { kind: "stay", say: null }),
  } as unknown as IntakeDeps["door"];
  const at = intakeWorld({ door });
  const from = { ...FRIEND, first_name: "x".repeat(90), last_name: "y".repeat(90) };
  await at.intake.take(message({ text: "hi", from }), NEVER);
  await at.intake.take(message({ text: "hi", chat: { id: -5, type: "group" } }), NEVER);
  expect(looked.map(({ mentioned, sender }) => [mentioned, sender.name.length])).toEqual([
    [true, 100],
    [false, 6],
  ]);
});

describe("telegram memories", () => {
  const edit = (n: number, text = "new"): Arrived =>
    ({
      kind: "edit",
      edits: `e${n}`,
      eventId: `e${n}#1`,
      sender: { principal: "p" },
      text,
      quoted: [],
      files: [],
    }) as unknown as Arrived;
  const original = (n: number): Arrived =>
    ({
      kind: "message",
      eventId: `e${n}`,
      sender: { principal: "p" },
      text: "old",
      album: null,
      answering: null,
    }) as unknown as Arrived;

  test("of early edits hold the newest of each message, and a hundred messages", () => {
    const edits = createEarlyEdits(createFakeClock());
    for (let n = 0; n < 100; n++) edits.note(edit(n));
    edits.note(edit(0, "newest")); // moves to the end of the line
    edits.note(edit(100));
    expect([edits.apply(original(0)).text, edits.apply(original(1)).text, edits.apply(original(100)).text]).toEqual([
      "newest",
      "old",
      "new",
    ]);
    expect(edits.apply(original(0)).text).toBe("old"); // used up
  });

  test("of updates go on where the last process was, also when the first one is settled out of order", () => {
    const window = createUpdateWindow(10);
    expect(window.offset()).toBe(10);
    for (const id of [12, 11]) window.begin(id);
    window.settle(12);
    expect(window.offset()).toBe(11);
    window.settle(11);
    expect([window.offset(), window.open]).toEqual([13, 0]);
    window.settle(11); // again: nothing
    expect(window.offset()).toBe(13);
  });
});

test("a telegram webhook stores with the signal of its request, and refuses what is no update", async () => {
  const signals: AbortSignal[] = [];
  const webhook = createWebhook(
    { log: recordingLog(), take: async (_update, signal) => (signals.push(signal), true) },
    { path: "/telegram/default", hosts: ["bot.example"], secret: "s" },
  );
  expect([webhook.path, webhook.hosts]).toEqual(["/telegram/default", ["bot.example"]]);
  const post = (body: string, secret = "s") =>
    webhook.handle(
      {
        headers: new Headers({ "x-telegram-bot-api-secret-token": secret }),
        body: new TextEncoder().encode(body),
      } as never,
      NEVER,
    );
  const statuses = [];
  for (const body of ['{"update_id":1}', "{}", "7", '"text"', "null", '{"update_id":"1"}', "{"])
    statuses.push((await post(body)).status);
  expect(statuses).toEqual([200, 400, 400, 400, 400, 400, 400]);
  const nested = (depth: number) => `{"update_id":2,"more":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const long = (chars: number) => `{"update_id":2}`.padEnd(chars);
  const limits = [nested(63), nested(64), long(1_000_000), long(1_000_001)];
  expect(await Promise.all(limits.map(async (body) => (await post(body)).status))).toEqual([200, 400, 200, 400]);
  signals.splice(1);
  expect([(await post('{"update_id":1}', "other")).status, signals.map((one) => one === NEVER)]).toEqual([401, [true]]);
});

test("telegram updates: those that were confirmed long ago are not remembered one by one", () => {
  const window = createUpdateWindow(null);
  for (let id = 1; id <= 3_000; id++) {
    window.begin(id);
    window.settle(id);
  }
  expect([window.begin(2_500), window.begin(1)]).toEqual([false, true]); // brought again; counted anew
});
