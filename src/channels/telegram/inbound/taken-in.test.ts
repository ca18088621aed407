/** An update of Telegram on its way in: what the gateway is asked and given, field by field, and the borders of what belongs together. */
import { expect, test } from "bun:test";
import type { Update } from "grammy/types";
import type { InboundMessage } from "../../../contracts/chat.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import type { AccountState } from "../../kit/index.ts";
import type { BotApi } from "../api/bot-api.ts";
import { createAlbums } from "./albums.ts";
import type { Arrived } from "./arrived.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { createIntake, type IntakeDeps } from "./intake.ts";
import { follows, isCut, joinPieces } from "./pastes.ts";
import { takePress } from "./presses.ts";
import { createQuestionMessages } from "./question-messages.ts";

const NEVER = new AbortController().signal;
const EVE = { id: 11, is_bot: false, first_name: "Eve" };
const HERE = { channel: "telegram", account: "main", chat: "11" };
const SENDER = { principal: "telegram:user:11", name: "Eve" };
const QUEUED = { kind: "queued", id: "in_1", sessionKey: "s", position: 0 };
const DATE_S = 1_700_000_000;

const said = (id: number, fields: object, kind = "message"): Update =>
  ({
    update_id: 100 + id,
    [kind]: { message_id: id, date: DATE_S, from: EVE, chat: { id: 11, type: "private" }, ...fields },
  }) as unknown as Update;

function world(receipt: object = QUEUED, kept: object = { kind: "kept", media: { name: "a" } }) {
  const clock = createFakeClock();
  const looked: unknown[] = [];
  const received: InboundMessage[] = [];
  const accepted: unknown[] = [];
  const told: string[] = [];
  const files: unknown[] = [];
  const intake = createIntake(
    {
      clock,
      log: recordingLog(),
      api: {} as BotApi,
      door: {
        look: async (arrival: unknown) => (looked.push(arrival), { kind: "come", role: "member" }),
        receive: async (message: InboundMessage) => (received.push(message), receipt),
      } as unknown as IntakeDeps["door"],
      files: {
        keep: async ({ open: _open, ...file }: { open: unknown }) => (files.push(file), kept),
        transcribe: async () => ({ kind: "words", text: "spoken" }),
      } as unknown as IntakeDeps["files"],
      albums: () =>
        ({ add: async () => undefined, newest: () => null, flush: async () => undefined }) as unknown as ReturnType<
          IntakeDeps["albums"]
        >,
      here: () => ({ channel: "telegram", account: "main", me: { id: 99, username: "bot" }, chatOf: (chat) => chat }),
      say: async (_to, text) => void told.push(text),
      accepted: ({ eventId }, id, role) => void accepted.push([eventId, id, role]),
      press: async () => undefined,
      moved: async () => undefined,
    },
    { mediaMaxMb: 20 },
  );
  return { clock, looked, received, accepted, told, files, intake };
}

test("a telegram message is looked at and stored with each of its fields, at the time Telegram names", async () => {
  const at = world();
  expect(await at.intake.take(said(5, { text: "hi" }), NEVER)).toBe(true);
  const from = { address: HERE, scope: "dm", sender: SENDER, mentioned: true };
  expect(at.looked).toEqual([{ ...from, kind: "message", said: { eventId: "11/5", text: "hi", at: DATE_S * 1_000 } }]);
  expect(at.received as unknown[]).toEqual([
    {
      ...from,
      eventId: "11/5",
      text: "hi",
      quoted: [],
      attachments: [],
      messageIds: ["5"],
      fingerprint: expect.any(String),
      receivedAt: at.clock.now(),
      answering: { to: null, text: "hi" },
    },
  ]);
  expect(at.accepted).toEqual([["11/5", "in_1", "member"]]);
});

test("a changed telegram message says what it changes, has an id of its own, and answers nothing", async () => {
  const at = world();
  await at.intake.take(said(5, { text: "ho" }, "edited_message"), NEVER);
  expect(at.looked).toMatchObject([
    { kind: "edit", said: { eventId: "11/5#105" }, edited: { eventId: "11/5", fingerprint: expect.any(String) } },
  ]);
  const [message] = at.received;
  expect([message?.text, message?.eventId, message && "answering" in message]).toEqual([
    "[Changed an earlier message to:]\nho",
    "11/5#105",
    false,
  ]);
  const fingerprints = await Promise.all(
    ["message", "edited_message"].map(async (kind) => {
      const one = world();
      await one.intake.take(said(5, { text: "same" }, kind), NEVER);
      return one.received[0]?.fingerprint;
    }),
  );
  expect(fingerprints[0]).toBe(fingerprints[1] ?? "");
});

test("pieces of a telegram album are one message, with the numbers of all, the words of all and every file", async () => {
  const at = world();
  const photo = (id: number) => [{ file_id: `f${id}`, file_size: id }];
  const reply = { reply_to_message: { message_id: 3, from: { ...EVE, id: 99 }, text: "which?" } };
  await at.intake.takeAlbum(
    [
      said(5, { photo: photo(5), media_group_id: "g", ...reply }),
      said(6, { photo: photo(6), media_group_id: "g", caption: "these" }),
    ],
    NEVER,
  );
  expect(at.received as unknown[]).toMatchObject([
    {
      eventId: "11/5",
      messageIds: ["5", "6"],
      text: "these",
      answering: { to: "3", text: "these" },
      quoted: [{ how: "reply", text: "which?", message: "3" }],
    },
  ]);
  expect(at.files).toMatchObject([{ bytes: 5 }, { bytes: 6 }]);
});

test("a telegram album that is forwarded without words is still somebody else's", async () => {
  const at = world();
  const forward_origin = { type: "hidden_user", sender_user_name: "Otto" };
  const photo = [{ file_id: "f" }];
  await at.intake.takeAlbum(
    [5, 6].map((id) => said(id, { photo, media_group_id: "g", forward_origin })),
    NEVER,
  );
  expect(at.received[0]?.quoted).toEqual([{ how: "forward", author: { id: null, name: "Otto" }, text: "" }]);
  expect(at.received[0] && "answering" in at.received[0]).toBe(false);
});

test.each([
  ["queued", QUEUED, ["too large"], 1],
  ["known already", { kind: "duplicate", id: "in_1" }, [], 1],
  ["an answer", { kind: "answered", say: "" }, [], 0],
])(
  "a telegram message with a missing file that is %s is told of it once, or not",
  async (_how, receipt, told, accepted) => {
    const at = world(receipt, { kind: "refused", note: "too large" });
    expect(await at.intake.take(said(5, { document: { file_id: "f" } }), NEVER)).toBe(true);
    expect([at.told, at.accepted.length]).toEqual([told, accepted]);
  },
);

test("early edits of a hundred telegram messages are kept, each for a minute, and each is used once", async () => {
  const clock = createFakeClock();
  const early = createEarlyEdits(clock);
  const about = { quoted: [], files: [], album: null, sender: SENDER };
  const edit = (n: number) => ({ ...about, kind: "edit", edits: `e${n}`, text: `new ${n}` }) as unknown as Arrived;
  const message = (n: number, more: object = {}) =>
    ({ ...about, kind: "message", eventId: `e${n}`, text: "old", mentioned: false, ...more }) as unknown as Arrived;
  for (let n = 0; n <= 100; n++) early.note(edit(n));
  expect([0, 1, 1, 100].map((n) => early.apply(message(n)).text)).toEqual(["old", "new 1", "old", "new 100"]);
  const others = { sender: { ...SENDER, principal: "telegram:user:12" } };
  expect([message(4, others), message(5, { album: "g" })].map((one) => early.apply(one).text)).toEqual(["old", "old"]);
  await clock.advance(60_000);
  expect(early.apply(message(2, { answering: { to: "3", text: "old" } }))).toMatchObject({
    text: "new 2",
    answering: { to: "3", text: "new 2" },
  });
  await clock.advance(1);
  expect(early.apply(message(3)).text).toBe("old");
});

test.each([
  [3_499, 0, false],
  [3_500, 0, true],
  [3_500, 1, true],
  [3_500, 2, false],
  [3_500, -1, false],
])("a telegram text behind one of %d characters, %d seconds later, is its next piece: %p", (length, later, next) => {
  const before = { text: "x".repeat(length), date: 100 };
  expect([isCut(before) && later === 0, follows(before, { text: "y", date: 100 + later })]).toEqual([
    length >= 3_500 && later === 0,
    next,
  ]);
});

test("pieces of a telegram text are joined without a gap where a word was cut, and on lines of their own elsewhere", () => {
  const full = "x".repeat(4_096);
  expect([joinPieces([full, "y"]), joinPieces([full.slice(1), "y"]), joinPieces(["", "y", ""])]).toEqual([
    `${full}y`,
    `${full.slice(1)}\ny`,
    "y",
  ]);
});

test.each([
  ["taken", { kind: "taken", say: "Thanks." }, false],
  ["not theirs", { kind: "refused", because: "not_yours", say: "Not yours." }, false],
  ["over", { kind: "refused", because: "over", say: "Over." }, true],
])("a press of a telegram question that is %s keeps its buttons, or loses them", async (_how, verdict, over) => {
  const calls: unknown[] = [];
  const api = {
    call: async (method: string, fields: object) => void calls.push([method, fields]),
  } as unknown as BotApi;
  const press = { callbackId: "c1", data: "d:question_1:12" };
  const arrived = { press, address: HERE, messageId: 5, sender: SENDER } as unknown as Arrived;
  const asked: unknown[] = [];
  const questions = { answerAnywhere: async (...given: unknown[]) => (asked.push(given), verdict) } as never;
  await takePress({ api, questions, approvals: { decide: async () => "decided" } }, arrived, "member", NEVER);
  expect(calls).toEqual([
    ["answerCallbackQuery", { callback_query_id: "c1", text: verdict.say }],
    ...(over ? [["editMessageReplyMarkup", { chat_id: "11", message_id: 5 }]] : []),
  ]);
  const by = { principal: SENDER.principal, role: "member", at: HERE };
  expect(asked).toEqual([["question_1", { kind: "press", at: 12 }, by]]);
});

test.each([
  ["decided", "q:approval_1:2", "Denied.", true],
  ["over", "q:approval_1:0", "This question is no longer open.", true],
  ["not_allowed", "q:approval_1:0", "Only an owner can decide this.", false],
  ["decided", "q:approval_1:3", "This question is no longer open.", false],
  ["decided", "something else", "This question is no longer open.", false],
] as const)("a press of a telegram approval that is %s with %p says %p", async (outcome, data, say, over) => {
  const calls: string[] = [];
  const texts: unknown[] = [];
  const api = {
    call: async (method: string, fields: { text?: string }) => void (calls.push(method), texts.push(fields.text)),
  } as unknown as BotApi;
  const arrived = {
    press: { callbackId: "c1", data },
    address: HERE,
    messageId: 5,
    sender: SENDER,
  } as unknown as Arrived;
  const approvals = { decide: async () => outcome };
  await takePress({ api, approvals, questions: {} as never }, arrived, "owner", NEVER);
  expect([texts[0], calls.length]).toEqual([say, over ? 2 : 1]);
});

test("a telegram toast has two hundred characters at most", async () => {
  const texts: string[] = [];
  const api = {
    call: async (_method: string, fields: { text: string }) => void texts.push(fields.text),
  } as unknown as BotApi;
  const verdict = { kind: "taken", say: "x".repeat(300) };
  const arrived = {
    press: { callbackId: "c", data: "d:question_1:0" },
    address: HERE,
    sender: SENDER,
  } as unknown as Arrived;
  const questions = { answerAnywhere: async () => verdict } as never;
  await takePress({ api, questions, approvals: {} as never }, arrived, "owner", NEVER);
  expect(texts.map((text) => text.length)).toEqual([200]);
});

test.each([
  [4_096, "editMessageText"],
  [4_097, "editMessageReplyMarkup"],
])("a telegram question that has %d characters with its end is closed by %s", async (length, method) => {
  const calls: string[] = [];
  const api = { call: async (name: string) => (calls.push(name), { message_id: 5 }) } as unknown as BotApi;
  const questions = createQuestionMessages({ api, log: recordingLog() }, NEVER);
  const words = "Answered.";
  const text = "x".repeat(length - words.length - 2);
  const shown = await questions.show({ id: "question_1", to: HERE, text, labels: ["yes"] } as never, NEVER);
  await shown.close({ answered: true, words });
  expect([calls, questions.maxButtons, questions.maxLabelChars]).toEqual([["sendMessage", method], 20, 60]);
});

/** `puts`: how many writes work before the disk is full. */
function albumsOn(stored: object | null, puts = Infinity) {
  const clock = createFakeClock();
  const log = recordingLog();
  const delivered: number[][] = [];
  let left = puts;
  const facts = {
    get: async () => (stored === null ? null : JSON.stringify(stored)),
    async put() {
      if (left-- <= 0) throw new Error("disk full");
    },
  } as unknown as AccountState;
  const deliver = async (pieces: readonly Update[]) => (delivered.push(pieces.map((one) => one.update_id)), true);
  return { clock, log, delivered, albums: createAlbums({ clock, log, facts }, deliver, NEVER) };
}

test("albums: all that an earlier process wrote down are delivered at the start", async () => {
  const open = { '["1","a"]': [{ update_id: 1 }], '["1","b"]': [{ update_id: 2 }], '["2","a"]': [{ update_id: 3 }] };
  const at = albumsOn({ open, done: [] });
  await at.albums.resume();
  await at.albums.settled();
  expect(at.delivered.toSorted()).toEqual([[1], [2], [3]]);
});

test("albums: one that was delivered is over, although the disk does not take the note of it", async () => {
  const at = albumsOn(null, 1);
  await at.albums.add("1", "a", { update_id: 1 } as Update);
  await at.albums.flush("1");
  expect([at.delivered, at.log.lines.map(({ words }) => words)]).toEqual([[[1]], ["album not noted"]]);
});

test("albums: a piece that is brought again as the last one ends no wait", async () => {
  const at = albumsOn(null);
  await at.albums.add("1", "a", { update_id: 1 } as Update);
  await at.albums.add("1", "a", { update_id: 1 } as Update, true);
  await at.clock.advance(1_199);
  expect(at.delivered).toEqual([]);
  await at.clock.advance(1);
  expect(at.delivered).toEqual([[1]]);
});
