/** Intake, questions and small memories of a Telegram account, beside an API and a gateway that a test plays by hand. */
import { describe, expect, test } from "bun:test";
import type { Update } from "grammy/types";
import type { Receipt } from "../../../contracts/channel.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault, type FaultInfo } from "../api/faults.ts";
import type { AccountState } from "../../kit/index.ts";
import type { Albums } from "./albums.ts";
import type { Arrived } from "./arrived.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { createIntake, type IntakeDeps } from "./intake.ts";
import { createQuestionMessages } from "./question-messages.ts";
import { createQuestions, type QuestionDeps } from "./questions.ts";
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
    for (const odd of [{}, { message: { message_id: 1, from: FRIEND } }, { callback_query: { id: "1", from: FRIEND } }])
      expect(await at.intake.take({ update_id: 2, ...odd } as unknown as Update, NEVER)).toBe(true);
    expect(at.stored).toEqual([]);
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
  const to = { channel: "telegram", account: "default", chat: "11" };
  const question = (id: string) => ({ id, tool: "bash", shown: "{}" }) as unknown as PendingApproval;

  function asking(life: AbortSignal = NEVER) {
    const kept = new Map<string, string>();
    const disk = { failing: false };
    const facts = {
      get: async (key: string) => kept.get(key) ?? null,
      async put(key: string, value: string) {
        if (disk.failing) throw new Error("disk full");
        kept.set(key, value);
      },
      forget: async (key: string) => void kept.delete(key),
    } as unknown as AccountState;
    const calls: { readonly method: string; readonly signal: AbortSignal }[] = [];
    const failing = new Map<string, FaultInfo>();
    const api = {
      async call(method: string, _fields: object, signal: AbortSignal) {
        calls.push({ method, signal });
        const info = failing.get(method);
        if (info) throw new Fault(info);
        return { message_id: calls.length };
      },
    } as unknown as BotApi;
    const approvals = { decide: async () => "done" } as unknown as QuestionDeps["approvals"];
    const answers = { answer: () => ({ kind: "taken", say: "" }) } as unknown as QuestionDeps["questions"];
    const questions = createQuestions({ api, facts, approvals, ids: createSeqIds(), questions: answers }, life);
    const names = () => calls.map(({ method }) => method);
    return { kept, disk, calls, failing, questions, names };
  }

  test.each(["unreached", "down"] as const)(
    "that could not be shown because Telegram was %s are shown at the next look, and leave no button behind",
    async (kind) => {
      const at = asking();
      at.failing.set("sendMessage", { kind, detail: "" });
      await expect(at.questions.approval(question("a1"), to)).rejects.toThrow();
      expect(at.kept.size).toBe(0);
      at.failing.clear();
      await at.questions.approval(question("a1"), to);
      await at.questions.approval(question("a1"), to);
      expect([at.names(), at.kept.size]).toEqual([["sendMessage", "sendMessage"], 1]);
    },
  );

  test("are shown after it is written down what their buttons mean, and not at all when that fails", async () => {
    const at = asking();
    at.disk.failing = true;
    await expect(at.questions.approval(question("a1"), to)).rejects.toThrow("disk full");
    expect(at.names()).toEqual([]);
  });

  test("of which nobody knows whether they are shown are not shown twice, and their buttons count", async () => {
    const at = asking();
    at.failing.set("sendMessage", { kind: "lost", detail: "" });
    await expect(at.questions.approval(question("a1"), to)).rejects.toThrow();
    at.failing.clear();
    await at.questions.approval(question("a1"), to).catch(() => undefined);
    expect([at.names(), at.kept.size]).toEqual([["sendMessage"], 1]);
  });

  test("that are refused are not tried again each second", async () => {
    const at = asking();
    at.failing.set("sendMessage", { kind: "refused", code: 403, detail: "blocked" });
    for (let looks = 0; looks < 3; looks++) await at.questions.approval(question("a1"), to).catch(() => undefined);
    expect([at.names(), at.kept.size]).toEqual([["sendMessage"], 0]);
  });

  test("are remembered up to a number; the oldest is forgotten first", async () => {
    const at = asking();
    for (let n = 0; n <= 1_000; n++) await at.questions.approval(question(`a${n}`), to);
    await at.questions.approval(question("a1"), to);
    expect(at.calls).toHaveLength(1_001);
    await at.questions.approval(question("a0"), to);
    expect(at.calls).toHaveLength(1_002);
  });

  test("are decided by a press although Telegram takes neither the answer nor the end of the buttons", async () => {
    const at = asking();
    await at.questions.approval(question("a1"), to);
    const name = [...at.kept.keys()][0]?.slice("ask:".length) ?? "";
    for (const method of ["answerCallbackQuery", "editMessageReplyMarkup"])
      at.failing.set(method, { kind: "refused", code: 400, detail: "too old" });
    const { signal } = new AbortController();
    const arrived = {
      address: to,
      messageId: 1,
      sender: { principal: "telegram:user:11", name: "" },
      press: { callbackId: "c", data: `q:${name}:0` },
    } as unknown as Arrived;
    await at.questions.press(arrived, "owner", signal);
    expect(at.names().slice(1)).toEqual(["answerCallbackQuery", "editMessageReplyMarkup"]);
    expect([at.kept.size, at.calls.slice(1).every((one) => one.signal === signal)]).toEqual([0, true]);
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
  const board = createQuestionMessages(
    { log: recordingLog(), api, questions: { answer: () => SILENT } } as never,
    life,
  );
  const to = { channel: "telegram", account: "default", chat: "11" };
  const ask = (text: string) => board.show({ id: "question-1", to, text, labels: ["yes"] } as never, asks);
  await (await ask("Really?")).close({ answered: true, words: "Answered." });
  await (await ask("x".repeat(4_090))).close({ answered: true, words: "Answered." });
  expect(calls.map(([method]) => method)).toEqual([
    ...["sendMessage", "editMessageText"],
    ...["sendMessage", "editMessageReplyMarkup"],
  ]);
  expect(calls.map(([, signal]) => (signal === asks ? "asks" : signal === life ? "life" : "other"))).toEqual([
    "asks",
    "life",
    "asks",
    "life",
  ]);
});

test("what is said to a telegram bot in private is meant for it, and a long name is cut", async () => {
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
    { path: "/telegram/default", hosts: [], secret: "s" },
  );
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
