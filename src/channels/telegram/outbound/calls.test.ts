/** Which calls the parts of Telegram make, and what they make of each answer, beside an API that a test plays by hand. */
import { describe, expect, test } from "bun:test";
import type { MessageTarget } from "../../../contracts/channel.ts";
import type { MediaRef } from "../../../contracts/chat.ts";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { ChatCooldowns } from "../api/chat-cooldowns.ts";
import { faultOf } from "../api/faults.ts";
import { actionsOf } from "./actions.ts";
import { sendFile } from "./file.ts";
import { telegramPreviews } from "./previews.ts";
import { chunkKey, telegramParts } from "./send.ts";

const NEVER = new AbortController().signal;
const to = { channel: "telegram", account: "default", chat: "5" };
const refusal = (description: string, code = 400) => faultOf({ error_code: code, description, parameters: {} });

/** Answers of the calls, in order; a fault is thrown. Calls after the last one succeed. */
function played(...answers: readonly (Error | null)[]) {
  const calls: string[] = [];
  const bodies: Record<string, unknown>[] = [];
  const signals = new Set<AbortSignal>();
  const call = async (method: string, payload: Record<string, unknown>, signal: AbortSignal) => {
    const answer = answers[calls.length];
    calls.push(method);
    bodies.push(payload);
    signals.add(signal);
    if (answer) throw answer;
    return { message_id: 40 + calls.length };
  };
  const api = { call, slowCall: call, upload: (_bytes: Uint8Array, name: string) => name } as unknown as BotApi;
  const noted: string[] = [];
  const cooldowns = {
    leftMs: (chat: string) => (chat === "paused" ? 700 : 0),
    note: (chat: string, error: unknown) => (noted.push(chat), error),
  } as unknown as ChatCooldowns;
  return { api, cooldowns, calls, bodies, noted, signals };
}

describe("telegram: an action on a message", () => {
  const target = (messageId = "7"): MessageTarget => ({ to, messageId }) as unknown as MessageTarget;
  const NOT_OURS = "There is no message of yours with that id in this chat, or it is too old to be changed.";
  const edit = async (text: string, ...answers: readonly (Error | null)[]) => {
    const at = played(...answers);
    const result = await actionsOf(at.api).edit(target(), text, NEVER);
    return { said: result.kind === "refused" ? result.because : result.kind, calls: at.calls };
  };

  test.each([
    ["is done", "x", [], "done", ["editMessageText"]],
    ["changes nothing", "x", [refusal("message is not modified")], "done", ["editMessageText"]],
    ["is not found", "x", [refusal("message to edit not found")], NOT_OURS, ["editMessageText"]],
    ["is too old", "x", [refusal("message can't be edited")], NOT_OURS, ["editMessageText"]],
    ["has a number of nothing", "x", [refusal("MESSAGE_ID_INVALID")], NOT_OURS, ["editMessageText"]],
    [
      "is a caption",
      "x",
      [refusal("there is no text in the message to edit")],
      "done",
      ["editMessageText", "editMessageCaption"],
    ],
    [
      "is of a chat without rights",
      "x",
      [refusal("not enough rights")],
      "The bot is not allowed to do that in this chat.",
      ["editMessageText"],
    ],
    ["is refused otherwise", "x", [refusal("odd")], "Telegram refused it: 400 odd.", ["editMessageText"]],
    ["is to nothing", " ", [], "A message cannot be changed to nothing. Delete it instead.", []],
    ["is too long", "x".repeat(4_097), [], "The new text is longer than one message on Telegram can be.", []],
    [
      "is too long for a caption",
      "x".repeat(1_025),
      [refusal("there is no text in the message to edit")],
      "The new text is longer than one message on Telegram can be.",
      ["editMessageText"],
    ],
  ])("that %s", async (...[, text, answers, said, calls]) => {
    expect(await edit(text, ...answers)).toEqual({ said, calls });
  });

  test.each([
    ["that changes nothing about our message, and then the deletion", [refusal("message is not modified")], "done", 2],
    ["that is done, and then the deletion", [], "done", 2],
    ["that is refused, and nothing else", [refusal("message can't be edited")], NOT_OURS, 1],
    ["that is done, and a deletion of what is gone", [null, refusal("message to delete not found")], NOT_OURS, 2],
  ])("deletes by a question %s", async (_what, answers, said, count) => {
    const at = played(...answers);
    const result = await actionsOf(at.api).delete(target(), NEVER);
    expect([result.kind === "refused" ? result.because : result.kind, at.calls]).toEqual([
      said,
      ["editMessageReplyMarkup", "deleteMessage"].slice(0, count),
    ]);
  });

  test("deletes nothing when nobody knows whose message it is", async () => {
    const at = played(faultOf({ error: { code: "ECONNRESET" } }));
    await expect(actionsOf(at.api).delete(target(), NEVER)).rejects.toThrow();
    expect(at.calls).toEqual(["editMessageReplyMarkup"]);
  });

  test("is thrown when nobody knows whether it was done", async () => {
    await expect(edit("x", faultOf({ error: Object.assign(new Error("x"), { code: "ECONNRESET" }) }))).rejects.toThrow(
      "ECONNRESET",
    );
  });

  test.each(["0", "07", "x", "-1", "1".repeat(16), ""])(
    "on the number %p is refused without a call",
    async (messageId) => {
      const at = played();
      const actions = actionsOf(at.api);
      const of = target(messageId);
      const results = [
        await actions.edit(of, "x", NEVER),
        await actions.delete(of, NEVER),
        await actions.react(of, { emoji: ["👍"], remove: false }, NEVER),
        await actions.pin(of, false, NEVER),
      ];
      expect([new Set(results.map((one) => (one.kind === "refused" ? one.because : ""))), at.calls]).toEqual([
        new Set([NOT_OURS]),
        [],
      ]);
    },
  );

  test("reacts with one emoji, takes it away, and pins without a sound", async () => {
    const at = played();
    const actions = actionsOf(at.api);
    expect(await actions.react(target(), { emoji: ["👍", "👎"], remove: false }, NEVER)).toEqual({
      kind: "done",
      reactions: ["👍"],
    });
    expect(await actions.react(target(), { emoji: ["👍"], remove: true }, NEVER)).toEqual({
      kind: "done",
      reactions: [],
    });
    await actions.pin(target(), false, NEVER);
    await actions.pin(target(), true, NEVER);
    const place = { chat_id: "5", message_id: 7 };
    expect(at.calls).toEqual(["setMessageReaction", "setMessageReaction", "pinChatMessage", "unpinChatMessage"]);
    expect(at.bodies).toEqual([
      { ...place, reaction: [{ type: "emoji", emoji: "👍" }] },
      { ...place, reaction: [] },
      { ...place, disable_notification: true },
      place,
    ]);
    const unknown = await actionsOf(played(refusal("REACTION_INVALID")).api).react(
      target(),
      { emoji: ["x"], remove: false },
      NEVER,
    );
    expect(unknown).toMatchObject({ because: "Telegram does not know this emoji as a reaction." });
  });
});

describe("telegram: a preview", () => {
  const chunk = { text: "hi", entities: [] };
  const previews = (...answers: readonly (Error | null)[]) => {
    const at = played(...answers);
    const moved = { now: (chat: string) => `now ${chat}` };
    return { ...at, platform: telegramPreviews({ api: at.api, cooldowns: at.cooldowns, moved: moved as never }) };
  };

  test("is sent without a sound, edited, removed and announced where its chat is now", async () => {
    const { platform, calls, bodies } = previews();
    const T = "t" as TurnId;
    expect(await platform.send(T, { to, replyTo: "3" }, chunk, NEVER)).toBe("41");
    await platform.send(T, { to, replyTo: null }, chunk, NEVER);
    await platform.edit({ where: "6", message: "9" }, chunk, NEVER);
    await platform.remove({ where: "6", message: "9" }, NEVER);
    await platform.type({ ...to, thread: "8" }, NEVER);
    expect(calls).toEqual(["sendMessage", "sendMessage", "editMessageText", "deleteMessage", "sendChatAction"]);
    expect(bodies).toMatchObject([
      { disable_notification: true, reply_parameters: { message_id: 3 } },
      { disable_notification: true },
      { chat_id: "6", message_id: 9, text: "hi" },
      { chat_id: "6", message_id: 9 },
      { chat_id: "5", message_thread_id: 8, action: "typing" },
    ]);
    expect(bodies[1]).not.toHaveProperty("reply_parameters");
  });

  test("is shown at the pace of its chat", () => {
    const { platform } = previews();
    expect([platform.gapMs({ to, replyTo: null }), platform.gapMs({ to, replyTo: "1" })]).toEqual([1_000, 3_000]);
    expect([platform.firstMs, platform.typingMs, platform.repeat, platform.where(to)]).toEqual([
      700,
      4_500,
      null,
      "now 5",
    ]);
    expect([platform.cooldownMs(to), platform.cooldownMs({ ...to, chat: "paused" })]).toEqual([0, 700]);
    expect(platform.removal).toEqual({ startMs: 30_000, againMs: 120_000, maxTries: 15 });
  });

  test.each([
    [refusal("message is not modified"), { kind: "unchanged" }],
    [refusal("message to edit not found"), { kind: "gone" }],
    [refusal("group upgraded to a supergroup"), { kind: "gone" }],
    [refusal("odd"), { kind: "refused" }],
    [faultOf({ error: { code: "ECONNRESET" } }), { kind: "lost" }],
    [faultOf({ error_code: 429, description: "", parameters: { retry_after: 2 } }), { kind: "later", pauseMs: 2_000 }],
    [refusal("oops", 500), { kind: "later", pauseMs: 0 }],
    [faultOf({ error: { code: "ECONNREFUSED" } }), { kind: "later", pauseMs: 0 }],
  ])("after trouble (%#) is gone, refused, lost or shown later", (error, failure) => {
    const { platform, noted } = previews();
    const told: unknown = platform.failureOf(error, to);
    expect([told, noted]).toEqual([failure, ["5"]]);
  });
});

describe("telegram: a part", () => {
  const chunk = { text: "hi", entities: [] };
  const part = { to, message: { kind: "reply", text: "hi", replyTo: "3" } } as unknown as OutboxRow;
  const send = async (
    preview: { message: string; shown: string | null } | null,
    at = 0,
    ...answers: readonly (Error | null)[]
  ) => {
    const world = played(...answers);
    const files = { read: async () => null };
    const parts = telegramParts({ api: world.api, cooldowns: world.cooldowns, files });
    const ids = await parts.send({ part, piece: { kind: "text", chunk }, at, preview } as never, NEVER);
    return { ids, calls: world.calls, bodies: world.bodies };
  };

  test("goes into its preview, into nothing when it stands there, and into a message when the preview is gone", async () => {
    const preview = { message: "9", shown: "old" };
    expect(await send(preview)).toMatchObject({ ids: ["9"], calls: ["editMessageText"] });
    expect(await send({ ...preview, shown: chunkKey(chunk) })).toMatchObject({ ids: ["9"], calls: [] });
    expect(await send(preview, 0, refusal("message is not modified"))).toMatchObject({ ids: ["9"] });
    expect(await send(preview, 0, refusal("message to edit not found"))).toMatchObject({
      calls: ["editMessageText", "sendMessage"],
    });
    const lost = send(preview, 0, faultOf({ error: { code: "ECONNRESET" } }));
    await expect(lost).rejects.toMatchObject({ kind: "retry" }); // the same edit twice is the same as once
  });

  test("points with its first message at what it replies to, and with no other", async () => {
    expect((await send(null)).bodies[0]).toMatchObject({ reply_parameters: { message_id: 3 } });
    expect((await send(null, 1)).bodies[0]).not.toHaveProperty("reply_parameters");
  });

  test("is not tried in a chat that Telegram has paused", () => {
    const { api, cooldowns } = played();
    const parts = telegramParts({ api, cooldowns, files: { read: async () => null } });
    expect(() => parts.check(to)).not.toThrow();
    expect(() => parts.check({ ...to, chat: "paused" })).toThrow("Telegram has paused this chat");
  });
});

describe("telegram: a file of a reply", () => {
  const media = (mimeType: string, bytes = 1): MediaRef =>
    ({ mediaId: "m", name: "a.b", mimeType, bytes }) as unknown as MediaRef;
  const caption = { text: "hi", entities: [] };
  const send = async (
    file: MediaRef,
    words: typeof caption | null,
    there = true,
    ...answers: readonly (Error | null)[]
  ) => {
    const world = played(...answers);
    const files = { read: async () => (there ? new Uint8Array(1) : null) };
    await sendFile({ api: world.api, files }, { media: file, caption: words, to, replyTo: null }, NEVER);
    return [world.calls, world.bodies.at(-1)];
  };

  test.each([
    ["image/png", "sendPhoto", "photo"],
    ["video/mp4", "sendVideo", "video"],
    ["audio/mpeg", "sendAudio", "audio"],
    ["audio/ogg", "sendVoice", "voice"],
    ["text/plain", "sendDocument", "document"],
  ])("of type %s is sent by %s", async (type, method, field) => {
    expect(await send(media(type), caption)).toEqual([
      [method],
      { chat_id: "5", caption: "hi", caption_entities: [], [field]: "a.b" },
    ]);
    expect((await send(media(type), null))[1]).toEqual({ chat_id: "5", [field]: "a.b" });
  });

  test("that is gone or too large is named below its words", async () => {
    expect((await send(media("image/png"), caption, false))[1]).toMatchObject({
      text: "hi\n(The file a.b is no longer there.)",
    });
    expect((await send(media("image/png"), null, false))[1]).toMatchObject({
      text: "(The file a.b is no longer there.)",
    });
    expect((await send(media("text/plain", 50_000_001), null))[1]).toMatchObject({
      text: "(The file a.b is larger than Telegram takes.)",
    });
    expect((await send(media("text/plain", 50_000_000), null))[0]).toEqual(["sendDocument"]);
  });

  test.each([
    ["image/png", "PHOTO_INVALID_DIMENSIONS", ["sendPhoto", "sendDocument"]],
    ["image/png", "wrong type of the web page content", ["sendPhoto", "sendDocument"]],
    ["image/png", "not enough rights to send photos", null],
    ["image/png", "chat not found", null],
    ["text/plain", "file is bad", null],
  ])("of type %s that is refused with %p goes as a document where that helps", async (type, words, calls) => {
    const sent = send(media(type), null, true, refusal(words));
    if (calls === null) await expect(sent).rejects.toThrow(words);
    else expect((await sent)[0]).toEqual(calls);
  });
});
