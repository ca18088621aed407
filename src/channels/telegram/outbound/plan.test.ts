/** How parts of replies are shown on Telegram, as tables: what a file is sent as, what makes an album, where a message goes. */
import { describe, expect, test } from "bun:test";
import type { MediaRef, OutboundMessage } from "../../../contracts/chat.ts";
import type { BotApi } from "../api/bot-api.ts";
import { faultOf } from "../api/faults.ts";
import { sendAlbum } from "./album.ts";
import { replyTarget, sendText, targetOf } from "./message-calls.ts";
import { shownAs, stepsOf } from "./plan.ts";

const MB = 1_000_000;
const media = (mimeType: string, bytes = 1, name = "f"): MediaRef =>
  ({ mediaId: name, name, mimeType, bytes }) as unknown as MediaRef;
const to = { channel: "telegram", account: "default", chat: "5" };
const NEVER = new AbortController().signal;

test.each([
  ["photo", media("image/jpeg", 10 * MB)],
  ["photo", media("image/png")],
  ["photo", media("image/webp")],
  ["document", media("image/jpeg", 10 * MB + 1)],
  ["document", media("image/gif")],
  ["video", media("video/mp4")],
  ["document", media("video/webm")],
  ["voice", media("audio/ogg")],
  ["audio", media("audio/mpeg")],
  ["audio", media("audio/mp4")],
  ["audio", media("audio/x-m4a")],
  ["document", media("audio/wav")],
  ["document", { ...media("image/png"), as: "document" as const }],
] as const)("telegram shows as %s a file of a fitting type and size", (as, file) => {
  expect(shownAs(file)).toBe(as);
});

describe("telegram: the steps of a part", () => {
  const steps = (message: object, apart = false): readonly string[] =>
    stepsOf({ kind: "answer", text: "", ...message } as unknown as OutboundMessage, apart).map((step) => {
      if (step.kind === "text") return `text ${step.chunk.text}`;
      const files = step.kind === "file" ? step.media.name : step.media.map(({ name }) => name).join("+");
      return `${step.kind} ${files}${step.caption ? `: ${step.caption.text}` : ""}`;
    });
  const [a, b, doc] = [media("image/png", 1, "a"), media("video/mp4", 1, "b"), media("text/plain", 1, "doc")];

  test.each([
    ["a text alone", { text: "hi" }, ["text hi"]],
    ["nothing at all", { text: "" }, ["text (no text)"]],
    ["a file with a caption", { text: "hi", attachments: [a] }, ["file a: hi"]],
    ["a file without words", { text: "", attachments: [a] }, ["file a"]],
    ["an album with a caption", { text: "hi", attachments: [a, b] }, ["album a+b: hi"]],
    ["two groups after the text", { text: "hi", attachments: [a, doc] }, ["text hi", "file a", "file doc"]],
    ["documents one by one", { attachments: [doc, doc] }, ["file doc", "file doc"]],
    [
      "pictures on both sides of a document",
      { attachments: [a, b, doc, b, a] },
      ["album a+b", "file doc", "album b+a"],
    ],
    [
      "as much as an upload takes",
      { attachments: [media("video/mp4", 25 * MB, "x"), media("video/mp4", 25 * MB, "y")] },
      ["album x+y"],
    ],
    [
      "more than an upload takes",
      { attachments: [media("video/mp4", 25 * MB, "x"), media("video/mp4", 25 * MB + 1, "y"), a] },
      ["file x", "album y+a"],
    ],
    ["a notice as it is written", { kind: "notice", text: "**a**" }, ["text **a**"]],
    ["a notice with marks of its own", { kind: "notice", text: "**a**", format: "markdown" }, ["text a"]],
  ])("of %s", (_what, message, expected) => {
    expect(steps(message)).toEqual(expected);
  });

  test("with a text that is shown already keep it apart from the file", () => {
    expect(steps({ text: "hi", attachments: [a] }, true)).toEqual(["text hi", "file a"]);
  });
});

describe("telegram: where a message goes", () => {
  test.each([
    [undefined, {}],
    ["7", { message_thread_id: 7 }],
    ["2", { message_thread_id: 2 }],
    ["1", {}],
    ["0", {}],
    ["x", {}],
    ["1.5", {}],
  ])("is topic %p as Telegram takes it", (thread, more) => {
    expect(targetOf({ ...to, ...(thread === undefined ? {} : { thread }) })).toEqual({ chat_id: "5", ...more });
  });

  test.each([
    [null, false],
    [3, true],
    [0, false],
    [-1, false],
    [Number.NaN, false],
    [1.5, false],
  ])("points at message %p: %p", (replyTo, points) => {
    const pointing = { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } };
    const target: unknown = replyTarget(to, replyTo);
    expect(target).toEqual({ chat_id: "5", ...(points ? pointing : {}) });
  });

  test("has buttons and makes no sound only when that is asked for, and never a preview of a link", async () => {
    const calls: unknown[] = [];
    const api = { call: async (_method: string, payload: unknown) => (calls.push(payload), { message_id: 8 }) };
    const chunk = { text: "hi", entities: [] };
    const plain = { chat_id: "5", text: "hi", entities: [], link_preview_options: { is_disabled: true } };
    const markup = { force_reply: true } as const;
    expect(await sendText(api as unknown as BotApi, { to, chunk }, NEVER)).toBe("8");
    await sendText(api as unknown as BotApi, { to, chunk, markup, silent: true }, NEVER);
    expect(calls).toEqual([plain, { ...plain, reply_markup: markup, disable_notification: true }]);
  });
});

describe("telegram: an album", () => {
  const [a, b, c] = [media("image/png", 1, "a"), media("video/mp4", 1, "b"), media("image/png", 1, "c")];
  const caption = { text: "hi", entities: [{ type: "bold", offset: 0, length: 2 }] } as const;
  const sent = async (there: readonly string[], list: readonly MediaRef[], words: typeof caption | null = caption) => {
    const calls: unknown[] = [];
    const call = async (method: string, payload: Record<string, unknown>) => {
      calls.push([method, payload]);
      return method === "sendMediaGroup" ? [{ message_id: 1 }, { message_id: 2 }] : { message_id: 3 };
    };
    const api = { call, slowCall: call, upload: (_bytes: Uint8Array, name: string) => name };
    const files = { read: async (id: string) => (there.includes(id) ? new Uint8Array(1) : null) };
    const job = { media: list, caption: words, to, replyTo: null };
    const ids = await sendAlbum({ api: api as unknown as BotApi, files }, job, NEVER);
    return { ids, calls };
  };
  const fields = { caption: "hi", caption_entities: [{ type: "bold", offset: 0, length: 2 }] };
  const gone = "(The file c is no longer there.)";

  test("of which all is there has its caption at the first picture", async () => {
    expect(await sent(["a", "b"], [a, b])).toEqual({
      ids: ["1", "2"],
      calls: [
        [
          "sendMediaGroup",
          {
            chat_id: "5",
            media: [
              { type: "photo", media: "a", ...fields },
              { type: "video", media: "b" },
            ],
          },
        ],
      ],
    });
  });

  test("of which one is gone names it below the others", async () => {
    const { calls } = await sent(["a", "b"], [a, c, b]);
    expect(calls).toMatchObject([
      ["sendMediaGroup", { media: [{ ...fields, caption: `hi\n${gone}` }, { type: "video" }] }],
    ]);
    const { calls: bare } = await sent(["a", "b"], [a, c, b], null);
    expect(bare).toMatchObject([["sendMediaGroup", { media: [{ caption: gone, caption_entities: [] }, {}] }]]);
  });

  test.each([
    ["Bad Request: PHOTO_INVALID_DIMENSIONS", ["photo", "document"]],
    ["Bad Request: not enough rights to send photos to the chat", ["photo"]],
    ["Bad Request: message caption is too long for media", ["photo"]],
    ["Bad Request: something else", ["photo"]],
  ])("that is refused with %p is sent as %j", async (description, expected) => {
    const types: string[] = [];
    const slowCall = async (_method: string, { media: [first] }: { media: { type: string }[] }) => {
      types.push(first?.type ?? "");
      throw faultOf({ error_code: 400, description, parameters: {} });
    };
    const api = { slowCall, upload: (_bytes: Uint8Array, name: string) => name } as unknown as BotApi;
    const files = { read: async () => new Uint8Array(1) };
    const job = { media: [a, b], caption: null, to, replyTo: null };
    await expect(sendAlbum({ api, files }, job, NEVER)).rejects.toThrow();
    expect(types).toEqual(expected);
  });

  test("of which one is left is that file, and of which nothing is left is a note", async () => {
    const { ids, calls } = await sent(["a"], [a, c]);
    expect([ids, calls]).toMatchObject([["3"], [["sendPhoto", { photo: "a", caption: `hi\n${gone}` }]]]);
    const { calls: none } = await sent([], [c, a]);
    expect(none).toMatchObject([["sendMessage", { text: `hi\n${gone}` }]]);
    expect(await sent([], [])).toEqual({ ids: [], calls: [] });
  });
});
