/** The tools that speak and work on messages, called through the gate; the outbox and the page's channel are the real ones. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createWebChat } from "../../../channels/webchat/index.ts";
import type { Channel, MessageTarget, Reaction } from "../../../contracts/channel.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { createChatMessages, createPoster } from "../../../delivery/index.ts";
import { openOutgoingFiles } from "../../../media/index.ts";
import { createEvents } from "../../../observe/index.ts";
import { BENCH_CONTEXT, type BuiltinBench, builtinBench } from "../../../testing/tools/builtin-bench.ts";
import { row, turn } from "../../../testing/contracts/store/store-world.ts";
import { message } from "./message.ts";
import { sendMedia } from "./send-media.ts";
import { sendMessage } from "./send-message.ts";
import { NO_MASK } from "../../../kit/secret.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");
const OTHER = "agent:default:webchat:dm:b" as SessionKey;
let bench: BuiltinBench;
let wakes = 0;
const shown: string[] = [];
const done = { kind: "done" } as const;
const acted: unknown[] = [];
/** Reactions and pins as they were shown: message, emoji, whether it is pinned. */
const marked: unknown[] = [];

/** A platform that can do everything, such as a chat app. */
const app: Channel = {
  id: "app",
  repeat: "risky",
  canRefuse: true,
  ready: () => true,
  health: () => ({ ok: true, detail: "" }),
  send: async () => ({}),
  async react({ to, messageId }: MessageTarget, reaction: Reaction) {
    acted.push(["react", to.chat, messageId, reaction]);
    return done;
  },
  async pin({ to, messageId }, unpin) {
    acted.push([unpin ? "unpin" : "pin", to.chat, messageId]);
    return messageId === "6" ? { kind: "refused", because: "That message is too old to pin." } : done;
  },
};
const inApp = { origin: { channel: "app", account: "bot", chat: "77" } };

beforeAll(async () => {
  bench = await builtinBench((deps) => {
    const events = createEvents(deps);
    events.on(
      "message",
      ({ item }) => void shown.push(item.deleted ? `${item.id} deleted` : `${item.id} ${item.text}`),
    );
    events.on("message", ({ item }) => void marked.push([item.id, item.ownReactions ?? [], item.pinned ?? false]));
    const poster = createPoster({ ...deps, store: deps.store.outbox, outbox: { wake: () => void wakes++ } });
    const webchat = createWebChat({ ...deps, events }, "webchat");
    const channels = new Map<string, Channel>([
      ["webchat", webchat],
      ["app", app],
    ]);
    const space = join(deps.home, "workspace");
    const files = {
      take: async (...wanted: Parameters<Awaited<ReturnType<typeof openOutgoingFiles>>["take"]>) => {
        const options = {
          workspaces: [{ agentId: "default" as AgentId, role: "owner" as const, folder: space, personal: false }],
          roots: [],
          reach: { owner: "workspace", member: "workspace", guest: "conversation" } as const,
          stateDirectory: deps.home,
        };
        const limits = { maxBytes: 1_000, uid: process.getuid?.() ?? 0 };
        return (await openOutgoingFiles({ ...deps, ...deps.store, mask: NO_MASK }, { ...options, ...limits })).take(
          ...wanted,
        );
      },
    };
    const channel = (id: string) => channels.get(id);
    const { store } = deps;
    const messages = createChatMessages({ ...deps, events, messages: store.messages, posts: store.outbox, channel });
    const sessionOf = async (key: string) => (key === OTHER ? OTHER : null);
    return [
      sendMessage({ poster, messages }),
      sendMedia({ poster, files }),
      message({ ...deps, channel, messages, history: store.messages.history, sessionOf }),
    ];
  });
  await mkdir(join(bench.home, "workspace"));
  await writeFile(join(bench.home, "workspace", "chart.png"), PNG);
  await bench.store.inbox.accept(row("in-b", "b", { text: "a secret of chat b" }));
  for (const number of ["5", "6"])
    await bench.store.inbox.accept(row(`app-${number}`, "a", { address: inApp.origin, messageIds: [number] }));
});
afterAll(() => bench[Symbol.asyncDispose]());

const sent = async (): Promise<readonly unknown[]> => {
  const pending = await bench.store.outbox.pending(200);
  return (await Promise.all(pending.map(({ id }) => bench.store.outbox.part(id)))).map((part) => part?.message);
};

describe("send_message", () => {
  test("sends half of a character as the sign for one that is broken, and so does an edit", async () => {
    const { message_id: id } = await bench.json("send_message", { text: "half \ud83d of it" });
    expect((await bench.store.outbox.part(String(id)))?.message.text).toBe("half \ufffd of it");
    await bench.json("message", { action: "edit", messageId: id, text: "\ude00 again" });
    expect((await bench.store.outbox.part(String(id)))?.message.text).toBe("\ufffd again");
  });

  test.each([
    ["Markdown", "markdown"],
    ["HTML", "html"],
    ["plain", "plain"],
    [undefined, undefined],
  ])("written as %s is sent as %s", async (parseMode, format) => {
    const params = { text: `as ${format}`, ...(parseMode === undefined ? {} : { parseMode }) };
    const { message_id: id } = await bench.json("send_message", params);
    expect((await bench.store.outbox.part(String(id)))?.message.format).toBe(format as never);
  });

  test("stores a message for the caller's own chat and has it delivered", async () => {
    const before = wakes;
    const answer = await bench.json("send_message", { text: "One moment…", replyTo: "in1", parseMode: "Markdown" });
    expect(answer).toEqual({ message_id: expect.stringMatching(/^t1:x/), sent: true });
    const part = await bench.store.outbox.part(String(answer.message_id));
    expect(part).toMatchObject({
      sessionKey: BENCH_CONTEXT.sessionKey,
      to: BENCH_CONTEXT.origin,
      message: { text: "One moment…", kind: "reply", replyTo: "in1", format: "markdown" },
    });
    expect(wakes).toBe(before + 1);
  });

  test("sends a call once however often it is made, and two calls twice, even with the same words", async () => {
    const count = (await sent()).length;
    const first = await bench.call("send_message", { text: "same" }, { callId: "c-1" });
    expect(await bench.call("send_message", { text: "same" }, { callId: "c-1" })).toEqual(first);
    await bench.call("send_message", { text: "same" }, { callId: "c-2" });
    const reused = await bench.call("send_message", { text: "other words" }, { callId: "c-1" });
    expect(reused).toMatchObject({ kind: "refused", code: "call_conflict" });
    expect((await sent()).length).toBe(count + 2);
  });

  test("outside of a conversation says so, and in somebody else's turn too", async () => {
    const nowhere = { message: expect.stringContaining("no chat to send to") };
    expect(await bench.call("send_message", { text: "x" }, { turnId: "none" as TurnId })).toMatchObject(nowhere);
    expect(await bench.call("send_message", { text: "x" }, { sessionKey: OTHER })).toMatchObject(nowhere);
  });

  test.each(["nothing", "in-b", "app-5"])("does not answer %s, which is no message of this chat", async (replyTo) => {
    const count = (await sent()).length;
    expect(await bench.call("send_message", { text: "x", replyTo })).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("no message with that id in this chat"),
    });
    expect((await sent()).length).toBe(count);
  });

  test("stops after fifty in one turn", async () => {
    await bench.store.inbox.accept(row("in-many", "many"));
    await bench.store.turns.begin(turn("t-many", "many", ["in-many"]));
    const who = { turnId: "t-many" as TurnId, sessionKey: "agent:default:webchat:dm:many" as SessionKey };
    for (let n = 0; n < 50; n++) expect((await bench.call("send_message", { text: `${n}` }, who)).kind).toBe("ok");
    expect(await bench.call("send_message", { text: "51" }, who)).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("one turn may send 50 messages"),
    });
  });

  test.each([
    [{}],
    [{ text: "" }],
    [{ text: "x".repeat(16_001) }],
    [{ text: "x", parseMode: "markdown" }],
    [{ text: "x", replyTo: "" }],
    [{ text: "x", chatId: "other" }],
    [{ text: "x", sessionKey: OTHER }],
    [{ text: true }],
  ])("refuses %j", async (params) => {
    expect(await bench.call("send_message", params)).toMatchObject({ kind: "refused", code: "invalid_params" });
  });
  test("refuses blanks", async () => {
    expect(await bench.call("send_message", { text: " \n" })).toMatchObject({ kind: "failed" });
  });
});

describe("send_media", () => {
  test("copies the file and sends it with its caption; what the file is, its content says", async () => {
    const answer = await bench.json("send_media", { path: "./chart.png", caption: "Monthly report" });
    expect(answer).toMatchObject({ sent: true, name: "chart.png", type: "image/png", bytes: PNG.byteLength });
    const part = await bench.store.outbox.part(String(answer.message_id));
    const [media] = part?.message.attachments ?? [];
    expect(part?.message).toMatchObject({ text: "Monthly report", attachments: [{ name: "chart.png" }] });
    expect(await bench.store.media.find(media?.mediaId as never)).toMatchObject({ owner: BENCH_CONTEXT.principal });
  });

  test.each([
    [{ path: "../gateway.db" }, "`..`"],
    [{ path: "/etc/passwd" }, "Only files in"],
    [{ path: "file:///etc/passwd" }, "not an address"],
    [{ path: "missing.png" }, "no such file"],
    [{ path: "chart.png", type: "video" }, "not a video"],
  ])("does not send %j: %s", async (params, because) => {
    const count = (await sent()).length;
    expect(await bench.call("send_media", params)).toMatchObject({
      kind: "failed",
      message: expect.stringMatching(new RegExp(`^The file was not sent\\. .*${RegExp.escape(because)}`)),
    });
    expect((await sent()).length).toBe(count);
  });

  test.each([
    [{}],
    [{ path: "" }],
    [{ path: "x", type: "image" }],
    [{ path: "x".repeat(4_097) }],
    [{ path: "x", chat: "1" }],
  ])("refuses %j", async (params) => {
    expect(await bench.call("send_media", params)).toMatchObject({ kind: "refused", code: "invalid_params" });
  });
});

describe("message", () => {
  test("reads the caller's own chat, newest last, page by page", async () => {
    const all = (await bench.json("message", { action: "read", limit: 100 })).messages as {
      id: string;
      text: string;
    }[];
    expect(all[0]).toMatchObject({ id: "in1", from: "person", text: "text of event-in1", at: expect.any(String) });
    expect(all.length).toBeGreaterThan(3);
    const last = all.at(-1)?.id ?? "";
    const page = (await bench.json("message", { action: "read", limit: 1, before: last })).messages;
    expect(page).toMatchObject([{ id: all.at(-2)?.id }]);
    expect(await bench.call("message", { action: "read", before: "nope" })).toMatchObject({ kind: "failed" });
  });

  test("reads another chat for an owner who names its session, and for nobody else", async () => {
    const params = { action: "read", chatId: OTHER };
    expect((await bench.json("message", params)).messages).toMatchObject([{ text: "a secret of chat b" }]);
    for (const role of ["member", "guest"] as const)
      expect(await bench.call("message", params, { role, principal: "x" as Principal })).toMatchObject({
        kind: "failed",
        message: "Only the chat you are in can be read. Leave chatId out.",
      });
    expect(await bench.call("message", { action: "read", chatId: "agent:x:y" })).toMatchObject({ kind: "failed" });
  });

  test("takes the session and the chat it is in for its own, however they are named and for everybody", async () => {
    const { sessionKey, origin } = BENCH_CONTEXT;
    for (const chatId of [sessionKey, origin.chat]) {
      const read = await bench.call(
        "message",
        { action: "read", chatId },
        { role: "guest", principal: "x" as Principal },
      );
      expect([chatId, read.kind]).toEqual([chatId, "ok"]);
    }
    const { message_id: messageId } = await bench.json("send_message", { text: "one" });
    await bench.json("message", { action: "edit", messageId, text: "two", chatId: sessionKey });
    expect(shown.at(-1)).toBe(`${messageId} two`);
  });

  test("changes and withdraws the assistant's own messages of this chat, and shows that at once", async () => {
    const { message_id: messageId } = await bench.json("send_message", { text: "teh answer" });
    await bench.json("message", { action: "edit", messageId, text: "the answer" });
    expect(shown.at(-1)).toBe(`${messageId} the answer`);
    expect((await bench.store.outbox.part(String(messageId)))?.message.text).toBe("the answer");
    await bench.json("message", { action: "delete", messageId });
    expect(shown.at(-1)).toBe(`${messageId} deleted`);
    const { messages } = await bench.json("message", { action: "read", limit: 100 });
    expect((messages as { id: string }[]).some(({ id }) => id === messageId)).toBe(false);
  });

  test("does not touch a person's words, or the messages of another chat", async () => {
    const { message_id: messageId } = await bench.json("send_message", { text: "mine" });
    const stranger = { sessionKey: OTHER };
    for (const params of [
      { action: "edit", messageId, text: "stolen" },
      { action: "delete", messageId },
    ])
      expect(await bench.call("message", params, stranger)).toMatchObject({ kind: "failed" });
    for (const id of ["in1", "in-b", "nothing"])
      expect(await bench.call("message", { action: "delete", messageId: id })).toMatchObject({
        kind: "failed",
        message: expect.stringMatching(
          /^(Only your own messages can be edited or deleted|There is no message with that id)/,
        ),
      });
    expect((await bench.store.outbox.part(String(messageId)))?.message.text).toBe("mine");
  });

  test("answers with what is possible when a channel cannot", async () => {
    expect(await bench.call("message", { action: "delete", messageId: "app-5" }, inApp)).toMatchObject({
      kind: "failed",
      message: "The channel app has no way to delete messages. Here you can: react, pin, read.",
    });
  });

  test("reacts to and pins messages of the web console, and shows that at once", async () => {
    marked.length = 0;
    await bench.json("message", { action: "react", messageId: "in1", emoji: ["👍", "🎉"] });
    await bench.json("message", { action: "react", messageId: "in1", emoji: "👍", remove: true });
    await bench.json("message", { action: "pin", messageId: "in1" });
    await bench.json("message", { action: "pin", messageId: "in1", unpin: true });
    expect(marked).toEqual([
      ["in1", ["👍", "🎉"], false],
      ["in1", ["🎉"], false],
      ["in1", ["🎉"], true],
      ["in1", ["🎉"], false],
    ]);
  });

  test("passes reactions and pins on to a channel that can, always in the caller's own chat", async () => {
    acted.length = 0;
    await bench.json("message", { action: "react", messageId: "app-5", emoji: ["👍", "🎉"] }, inApp);
    await bench.json("message", { action: "react", messageId: "5", emoji: "👍", remove: true }, inApp);
    await bench.json("message", { action: "pin", messageId: "5", chatId: "77" }, inApp);
    await bench.json("message", { action: "pin", messageId: "5", unpin: true }, inApp);
    expect(acted).toEqual([
      ["react", "77", "5", { emoji: ["👍", "🎉"], remove: false }],
      ["react", "77", "5", { emoji: ["👍"], remove: true }],
      ["pin", "77", "5"],
      ["unpin", "77", "5"],
    ]);
    for (const role of ["owner", "guest"] as const)
      expect(
        await bench.call("message", { action: "pin", messageId: "5", chatId: "other" }, { ...inApp, role }),
      ).toMatchObject({ kind: "failed", message: expect.stringContaining("Only messages of the chat you are in") });
    expect(acted).toHaveLength(4);
    expect(await bench.call("message", { action: "pin", messageId: "app-6" }, inApp)).toMatchObject({
      message: "That message is too old to pin.",
    });
  });

  test.each([
    [{ action: "react", messageId: "5" }, "react needs emoji"],
    [{ action: "pin" }, "needs messageId"],
  ])("asks for what is missing in %j", async (params, because) => {
    expect(await bench.call("message", params, inApp)).toMatchObject({ message: expect.stringContaining(because) });
  });

  test.each([
    [{}],
    [{ action: "ban" }],
    [{ action: "read", limit: 101 }],
    [{ action: "react", messageId: "1", emoji: [] }],
    [{ action: "edit", messageId: "1", text: "" }],
  ])("refuses %j", async (params) => {
    expect(await bench.call("message", params)).toMatchObject({ kind: "refused", code: "invalid_params" });
  });
});
