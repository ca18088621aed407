/** What Telegram is told that it may forget has been dealt with: each way of an update, with each thing it waits for hanging in turn. */
import { describe, expect, test } from "bun:test";
import type { Update } from "grammy/types";
import { hangEachCall, type PlayCall } from "../../../testing/channels/hanging-calls.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import type { BotApi } from "../api/bot-api.ts";
import { openMovedChats } from "../api/moved-chats.ts";
import { webhookOf } from "../webhook-mode.ts";
import { createAlbums } from "./albums.ts";
import { createIntake } from "./intake.ts";

const FRIEND = { id: 11, is_bot: false, first_name: "Friend" };
const CHAT = { id: 11, type: "private" };
const NEVER = new AbortController().signal;

const update = (fields: object, id = 1): Update =>
  ({ update_id: id, message: { message_id: id, date: 1, from: FRIEND, chat: CHAT, ...fields } }) as unknown as Update;

interface Answers {
  readonly look?: object;
  readonly receipt?: object;
  readonly kept?: object;
}

const QUEUED = { kind: "queued", id: "in_1", sessionKey: "s", position: 0 };

/** Everything that an update goes through, played call by call. */
function intakeWith(play: PlayCall, { look, receipt = QUEUED, kept }: Answers = {}) {
  const waited = (name: string) => async (): Promise<void> => play(name, null, () => undefined);
  const albums = { newest: () => null, add: waited("albums.add"), flush: waited("albums.flush") };
  return createIntake(
    {
      clock: createFakeClock(),
      log: recordingLog(),
      api: {} as BotApi,
      door: {
        look: () => play("look", null, () => look ?? { kind: "come", role: "owner" }),
        react: waited("react"),
        receive: (_message: unknown, signal: AbortSignal) => play("receive", signal, () => receipt),
      } as never,
      files: {
        keep: (_file: unknown, signal: AbortSignal) =>
          play("keep", signal, () => kept ?? { kind: "kept", media: { name: "a" } }),
        transcribe: (_media: unknown, signal: AbortSignal) => play("transcribe", signal, () => ({ kind: "off" })),
      } as never,
      albums: () => albums as never,
      here: () => ({
        channel: "telegram",
        account: "default",
        me: { id: 99, username: "bot" },
        chatOf: (chat) => chat,
      }),
      say: waited("say"),
      accepted: () => undefined,
      press: (_arrived, _role, signal) => play("press", signal, () => undefined),
      moved: waited("moved"),
    },
    { mediaMaxMb: 20 },
  );
}

const take =
  (given: Update, answers?: Answers) =>
  (play: PlayCall, signal: AbortSignal): Promise<unknown> =>
    intakeWith(play, answers).take(given, signal);

const picture = { media_group_id: "a", photo: [{ file_id: "p", width: 1, height: 1 }] };
const press = {
  update_id: 1,
  callback_query: { id: "c", from: FRIEND, data: "q:ask_12345:0", message: { message_id: 5, date: 1, chat: CHAT } },
} as unknown as Update;
const reaction = {
  update_id: 1,
  message_reaction: {
    chat: CHAT,
    message_id: 5,
    user: FRIEND,
    date: 1,
    old_reaction: [],
    new_reaction: [{ type: "emoji", emoji: "👍" }],
  },
} as unknown as Update;
const voice = { voice: { file_id: "v", duration: 1 } };
const refused = { kind: "refused", because: "too_long", say: "Too long." };

describe("an update from Telegram is over when everything about it is: ", () => {
  test.each<[string, ReturnType<typeof take>, readonly string[]]>([
    ["words", take(update({ text: "hi" })), ["look", "albums.flush", "receive"]],
    ["a voice", take(update(voice)), ["look", "albums.flush", "keep", "transcribe", "receive"]],
    [
      "a file that is not taken",
      take(update(voice), { kept: { kind: "refused", note: "Too large." } }),
      ["look", "albums.flush", "keep", "receive", "say"],
    ],
    [
      "words that are refused",
      take(update({ text: "hi" }), { receipt: refused }),
      ["look", "albums.flush", "receive", "say"],
    ],
    [
      "words of a stranger",
      take(update({ text: "hi" }), { look: { kind: "stay", say: "Who are you?" } }),
      ["look", "say"],
    ],
    ["a piece of an album", take(update(picture)), ["look", "albums.flush", "albums.add"]],
    ["a press", take(press), ["look", "press"]],
    ["a reaction", take(reaction), ["react"]],
    ["the move of a group", take(update({ migrate_to_chat_id: -100 })), ["moved"]],
    [
      "an album",
      (play, signal) => intakeWith(play).takeAlbum([update(picture), update(picture, 2)], signal),
      ["look", "keep", "keep", "receive"],
    ],
  ])("%s", async (_what, work, calls) => {
    expect(await hangEachCall(work)).toEqual({ calls, wrong: [] });
  });
});

describe("a fact about Telegram is written before it is used: ", () => {
  const writing = (play: PlayCall) => ({
    get: async () => null,
    put: (key: string) => play(`put ${key}`, null, () => undefined),
    forget: async () => undefined,
    list: async () => [],
  });

  test.each<[string, (play: PlayCall) => Promise<unknown>, readonly string[]]>([
    [
      "the secret of a webhook",
      (play) =>
        webhookOf(
          { ids: { secret: () => "s" } as never, log: recordingLog(), facts: writing(play), take: async () => true },
          { account: "default", webhookUrl: null, webhookSecret: null } as never,
        ),
      ["put webhook-secret"],
    ],
    [
      "the number of a group that has moved",
      async (play) => (await openMovedChats({ facts: writing(play), log: recordingLog() })).learn("5", "-100"),
      ["put moved"],
    ],
    [
      "a piece of an album",
      (play) =>
        createAlbums(
          { clock: createFakeClock(), log: recordingLog(), facts: writing(play) },
          async () => true,
          NEVER,
        ).add("11", "a", update(picture)),
      ["put albums"],
    ],
  ])("%s", async (_what, work, calls) => {
    expect(await hangEachCall(work)).toEqual({ calls, wrong: [] });
  });
});
