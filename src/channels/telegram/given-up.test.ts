/** Every call to Telegram is waited for, and ends when whoever wanted it gives up: each piece of work, with each of its calls hanging in turn. */
import { expect, test } from "bun:test";
import type { MediaRef } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { hangEachCall, type PlayCall } from "../../testing/channels/hanging-calls.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import type { BotApi } from "./api/bot-api.ts";
import { createChatCooldowns } from "./api/chat-cooldowns.ts";
import { faultOf } from "./api/faults.ts";
import { followMoves } from "./api/moved-chats.ts";
import { createCommandMenu } from "./command-menu.ts";
import { connect } from "./connect.ts";
import { approvalPlatform } from "./inbound/approvals.ts";
import type { Arrived } from "./inbound/arrived.ts";
import { acknowledge, sayTo } from "./inbound/feedback.ts";
import { takePress } from "./inbound/presses.ts";
import { createQuestionMessages } from "./inbound/question-messages.ts";
import { createLink } from "./link.ts";
import { actionsOf } from "./outbound/actions.ts";
import { telegramPreviews } from "./outbound/previews.ts";
import { telegramParts } from "./outbound/send.ts";
import { serveWebhook } from "./webhook-mode.ts";

const to = { channel: "telegram", account: "default", chat: "5" };
const target = { to, messageId: "7", sessionKey: "s" as never };
const chunk = { text: "hi", entities: [] };
const CLOCK = createFakeClock();
const NEVER = new AbortController().signal;

/** Answers of the Bot API: a message, unless the call is to be refused with this sentence. */
function botApi(play: PlayCall, refused: Readonly<Record<string, string>> = {}): BotApi {
  const answer = (method: string) => () => {
    const description = refused[method];
    if (description !== undefined) throw faultOf({ error_code: 400, description, parameters: {} });
    return method === "sendMediaGroup" ? [{ message_id: 1 }, { message_id: 2 }] : { message_id: 1 };
  };
  const call = (method: string, _payload: object, signal: AbortSignal) => play(method, signal, answer(method));
  return {
    call,
    slowCall: call,
    me: (signal: AbortSignal) => play("getMe", signal, () => ({ id: 1, username: "bot" })),
    upload: (_bytes: Uint8Array, name: string) => name,
  } as unknown as BotApi;
}

const deps = (api: BotApi) => ({
  api,
  clock: CLOCK,
  log: recordingLog(),
  cooldowns: createChatCooldowns({ clock: CLOCK }),
  files: { read: async () => new Uint8Array(1) },
  moved: { now: (chat: string) => chat },
});
const linkTo = () => createLink({ clock: CLOCK, log: recordingLog(), changed: () => undefined }, "polling");
const file = (mimeType: string): MediaRef => ({ mediaId: "m", name: "a.b", mimeType, bytes: 1 }) as unknown as MediaRef;
const part = { to, message: { kind: "reply", text: "hi" } } as unknown as OutboxRow;
const shown = { message: "9", shown: "old" };
const arrived = { address: to, scope: "dm", messageId: 7, sender: { principal: "p" } } as unknown as Arrived;
const pressed = (data: string) => ({ ...arrived, press: { callbackId: "c", data } }) as unknown as Arrived;
const approval = { id: "ask_12345", tool: "t", shown: "{}", origin: to } as unknown as PendingApproval;
const LONG = "x".repeat(5_000);

const sendPiece = (api: BotApi, piece: object, signal: AbortSignal, preview: typeof shown | null = null) =>
  telegramParts(deps(api)).send({ part, piece, at: 0, preview } as never, signal);
const sendFile = (api: BotApi, type: string, signal: AbortSignal) =>
  sendPiece(api, { kind: "file", media: file(type), caption: null }, signal);
const album = { kind: "album", media: [file("image/png"), file("video/mp4")], caption: chunk };
const previews = (api: BotApi) => telegramPreviews(deps(api) as never);
const ask = (api: BotApi, text: string, labels: readonly string[], signal: AbortSignal) =>
  createQuestionMessages(deps(api), NEVER).show({ id: "question-1", to, text, labels } as never, signal);
/** Shown at once; the account closes while the question is being ended. */
async function closeQuestion(api: BotApi, text: string, labels: readonly string[], life: AbortSignal) {
  let isShown = false;
  const showing = {
    ...api,
    call: (...of: Parameters<BotApi["call"]>) => (isShown ? api.call(...of) : { message_id: 1 }),
  };
  const board = createQuestionMessages({ ...deps(api), api: showing as unknown as BotApi }, life);
  const question = await board.show({ id: "question-1", to, text, labels } as never, NEVER);
  isShown = true;
  await question.close({ answered: false, words: "Nobody answered." });
}
const press = (api: BotApi, data: string, signal: AbortSignal) => {
  const approvals = { decide: async () => "decided" as const };
  const over = { kind: "refused", because: "over", say: "It is over." } as const;
  const questions = { answer: () => over, answerAnywhere: async () => over };
  return takePress({ api, approvals, questions }, pressed(data), "owner", signal);
};
const movedTo = { first: (chat: string) => chat, now: (chat: string) => chat };
const moving = (play: PlayCall): BotApi => {
  let told = false;
  const call = (method: string, payload: { chat_id?: unknown }, signal: AbortSignal) =>
    play(`${method} in ${payload.chat_id}`, signal, () => {
      if (told) return { message_id: 1 };
      told = true;
      throw faultOf({ error_code: 400, description: "moved", parameters: { migrate_to_chat_id: -100 } });
    });
  const learn = () => play("learn", null, () => undefined);
  return followMoves({ call, slowCall: call } as unknown as BotApi, { ...movedTo, learn });
};
const webhook = { path: "/telegram/default", handle: async () => ({ status: 200 }) };
const serve = (api: BotApi, signal: AbortSignal) =>
  serveWebhook(
    { ...deps(api), link: linkTo(), ids: {} as never, facts: {} as never },
    { settings: { webhookUrl: "https://a.example", webhookSecret: { reveal: () => "s" } } as never, webhook },
    signal,
  );

type Work = (play: PlayCall, signal: AbortSignal) => Promise<unknown>;
const NO_TEXT = { editMessageText: "there is no text in the message to edit" };

const WORK: readonly (readonly [string, Work, readonly string[]])[] = [
  ["an edit", (play, until) => actionsOf(botApi(play)).edit(target, "x", until), ["editMessageText"]],
  [
    "an edit of a caption",
    (play, until) => actionsOf(botApi(play, NO_TEXT)).edit(target, "x", until),
    ["editMessageText", "editMessageCaption"],
  ],
  [
    "a deletion",
    (play, until) => actionsOf(botApi(play)).delete(target, until),
    ["editMessageReplyMarkup", "deleteMessage"],
  ],
  [
    "a reaction",
    (play, until) => actionsOf(botApi(play)).react(target, { emoji: ["👍"], remove: false }, until),
    ["setMessageReaction"],
  ],
  ["a pin", (play, until) => actionsOf(botApi(play)).pin(target, false, until), ["pinChatMessage"]],
  ["the end of a pin", (play, until) => actionsOf(botApi(play)).pin(target, true, until), ["unpinChatMessage"]],
  [
    "a preview",
    (play, until) => previews(botApi(play)).send("t" as TurnId, { to, replyTo: null }, chunk, until),
    ["sendMessage"],
  ],
  [
    "a preview that grows",
    (play, until) => previews(botApi(play)).edit({ where: "5", message: "7" }, chunk, until),
    ["editMessageText"],
  ],
  [
    "the end of a preview",
    (play, until) => previews(botApi(play)).remove({ where: "5", message: "7" }, until),
    ["deleteMessage"],
  ],
  ["typing", (play, until) => previews(botApi(play)).type(to, until), ["sendChatAction"]],
  ["a text", (play, until) => sendPiece(botApi(play), { kind: "text", chunk }, until), ["sendMessage"]],
  [
    "a text in its preview",
    (play, until) => sendPiece(botApi(play), { kind: "text", chunk }, until, shown),
    ["editMessageText"],
  ],
  [
    "a text whose preview is gone",
    (play, until) =>
      sendPiece(botApi(play, { editMessageText: "message to edit not found" }), { kind: "text", chunk }, until, shown),
    ["editMessageText", "sendMessage"],
  ],
  ["a picture", (play, until) => sendFile(botApi(play), "image/png", until), ["sendPhoto"]],
  ["a video", (play, until) => sendFile(botApi(play), "video/mp4", until), ["sendVideo"]],
  ["music", (play, until) => sendFile(botApi(play), "audio/mpeg", until), ["sendAudio"]],
  ["a voice", (play, until) => sendFile(botApi(play), "audio/ogg", until), ["sendVoice"]],
  ["a document", (play, until) => sendFile(botApi(play), "text/plain", until), ["sendDocument"]],
  [
    "a picture that goes as a document",
    (play, until) => sendFile(botApi(play, { sendPhoto: "PHOTO_INVALID_DIMENSIONS" }), "image/png", until),
    ["sendPhoto", "sendDocument"],
  ],
  [
    "a file that is too large",
    (play, until) =>
      sendPiece(
        botApi(play),
        { kind: "file", media: { ...file("text/plain"), bytes: 50_000_001 }, caption: null },
        until,
      ),
    ["sendMessage"],
  ],
  ["an album", (play, until) => sendPiece(botApi(play), album, until), ["sendMediaGroup"]],
  [
    "an album of which one file is left",
    (play, until) => sendPiece(botApi(play), { ...album, media: album.media.slice(0, 1) }, until),
    ["sendPhoto"],
  ],
  [
    "a question of two messages",
    (play, until) => ask(botApi(play), LONG, ["yes"], until),
    ["sendMessage", "sendMessage"],
  ],
  [
    "the end of a question",
    (play, until) => closeQuestion(botApi(play), "Really?", ["yes"], until),
    ["editMessageText"],
  ],
  [
    "the end of a long question",
    (play, until) => closeQuestion(botApi(play), "x".repeat(4_090), ["yes"], until),
    ["editMessageReplyMarkup"],
  ],
  ["the end of a question in words", (play, until) => closeQuestion(botApi(play), "Name?", [], until), ["sendMessage"]],
  [
    "an approval",
    (play, until) => approvalPlatform(botApi(play), "telegram", "default").post(approval, until),
    ["sendMessage"],
  ],
  [
    "the end of an approval",
    (play, until) => approvalPlatform(botApi(play), "telegram", "default").removeButtons(to, "7", until),
    ["editMessageReplyMarkup"],
  ],
  [
    "a sentence about an approval",
    (play, until) => approvalPlatform(botApi(play), "telegram", "default").reply(to, "7", "It is over.", until),
    ["sendMessage"],
  ],
  [
    "a press under an approval",
    (play, until) => press(botApi(play), "q:ask_12345:0", until),
    ["answerCallbackQuery", "editMessageReplyMarkup"],
  ],
  [
    "a press under a question",
    (play, until) => press(botApi(play), "d:question-1:0", until),
    ["answerCallbackQuery", "editMessageReplyMarkup"],
  ],
  ["a sentence", (play, until) => sayTo(deps(botApi(play)), to, "Not now.", until), ["sendMessage"]],
  [
    "the reaction that says that a message is stored",
    (play, until) => acknowledge(deps(botApi(play)), "👀", arrived, until),
    ["setMessageReaction"],
  ],
  [
    "the menu",
    (play, until) => createCommandMenu({ api: botApi(play), commands: () => [] }, until).publish(),
    ["setMyCommands"],
  ],
  [
    "the menu of an owner",
    (play, until) => createCommandMenu({ api: botApi(play), commands: () => [] }, until).offer(arrived, "owner"),
    ["setMyCommands"],
  ],
  ["the first call", (play, until) => connect({ ...deps(botApi(play)), link: linkTo() }, until), ["getMe"]],
  ["the address of the webhook", (play, until) => serve(botApi(play), until), ["setWebhook"]],
  [
    "a send to a group that has moved",
    (play, until) => moving(play).call("sendMessage", { chat_id: "5", text: "x" }, until),
    ["sendMessage in 5", "learn", "sendMessage in -100"],
  ],
  [
    "an upload to a group that has moved",
    (play, until) => moving(play).slowCall("sendPhoto", { chat_id: "5", photo: "x" }, until, 1_000),
    ["sendPhoto in 5", "learn", "sendPhoto in -100"],
  ],
];

test.each(WORK)("%s on Telegram ends when it is given up, at each of its calls", async (_what, work, calls) => {
  expect(await hangEachCall(work)).toEqual({ calls, wrong: [] });
});
