/** Which calls the parts of Discord make, and what they make of each answer, beside an API that a test plays by hand. */
import { describe, expect, test } from "bun:test";
import type { API } from "@discordjs/core";
import { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import type { MessageTarget } from "../../../contracts/channel.ts";
import type { MediaRef } from "../../../contracts/chat.ts";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createDispatcher } from "../dispatch.ts";
import { createPlaces } from "../inbound/threads.ts";
import { type SaidMessage, translate } from "../inbound/translate.ts";
import { discordActions } from "./actions.ts";
import { discordPreviews } from "./previews.ts";
import { channelOf, discordParts } from "./send.ts";

const NEVER = new AbortController().signal;
const ME = "900000000000000001";
const CHAT = "900000000000000005";
const ID = "900000000000000007";
const to = { channel: "discord", account: "default", chat: CHAT };
const request = { files: undefined, body: undefined };
const refused = (code: number, status = 403) =>
  new DiscordAPIError({ code, message: "no" }, code, status, "POST", "https://d.example", request);
const limited = (retryAfter: number) => new RateLimitError({ retryAfter } as never);

/** Answers of the calls, in order; an error is thrown. Calls after the last one succeed. */
function played(...answers: readonly (Error | object | null)[]) {
  const calls: unknown[][] = [];
  const signals = new Set<unknown>();
  const channels = new Proxy(
    {},
    {
      get:
        (_target, method: string) =>
        async (...args: readonly unknown[]) => {
          const answer = answers[calls.length];
          signals.add((args.at(-1) as { signal?: unknown }).signal);
          calls.push([method, ...args.slice(0, -1)]);
          if (answer instanceof Error) throw answer;
          const [, body] = args as readonly [unknown, { content?: string } | undefined];
          return answer ?? { id: `m${calls.length}`, author: { id: ME }, content: body?.content };
        },
    },
  );
  return { api: { channels } as unknown as API, calls, signals };
}

describe("discord: an action on a message", () => {
  const target = (messageId = ID, thread?: string): MessageTarget =>
    ({ to: { ...to, ...(thread === undefined ? {} : { thread }) }, messageId }) as unknown as MessageTarget;
  const acting = (...answers: readonly (Error | object | null)[]) => {
    const at = played(...answers);
    return { ...at, actions: discordActions({ api: at.api, me: () => ME }) };
  };

  test("is one call for each, in the thread where there is one, and each can be given up", async () => {
    const { actions, calls, signals } = acting();
    await actions.edit(target(), "hi", NEVER);
    await actions.delete(target(ID, "900000000000000009"), NEVER);
    await actions.react(target(), { emoji: ["👍", "👎"], remove: false }, NEVER);
    await actions.react(target(), { emoji: ["👍"], remove: true }, NEVER);
    await actions.pin(target(), false, NEVER);
    await actions.pin(target(), true, NEVER);
    expect(calls).toEqual([
      ["editMessage", CHAT, ID, { content: "hi" }],
      ["getMessage", "900000000000000009", ID],
      ["deleteMessage", "900000000000000009", ID],
      ["addMessageReaction", CHAT, ID, "👍"],
      ["addMessageReaction", CHAT, ID, "👎"],
      ["deleteOwnMessageReaction", CHAT, ID, "👍"],
      ["pinMessage", CHAT, ID],
      ["unpinMessage", CHAT, ID],
    ]);
    expect([...signals]).toEqual([NEVER]);
  });

  test.each([
    ["to nothing", " ", [], "There is nothing in it. Delete it instead."],
    ["to too much", "x".repeat(2_001), [], "That is too long: a message has at most 2000 characters."],
    ["in a chat with a pause", "x", [limited(1_001)], "Discord wants a pause here. Try again in 2 s."],
    ["that is gone", "x", [refused(10_008)], "There is no message with that id in this chat."],
  ])("that changes it %s is refused in words", async (_what, text, answers, because) => {
    const { actions } = acting(...answers);
    expect(await actions.edit(target(), text, NEVER)).toEqual({ kind: "refused", because });
  });

  test("on a number that is none of Discord's, or on somebody else's words, does nothing", async () => {
    const { actions, calls } = acting({ author: { id: "1" } });
    expect(await actions.pin(target("7"), false, NEVER)).toMatchObject({
      because: "There is no message with that id in this chat.",
    });
    expect(calls).toEqual([]);
    expect(await actions.delete(target(), NEVER)).toMatchObject({
      because: "Only your own messages can be changed or deleted.",
    });
    expect(calls.map(([method]) => method)).toEqual(["getMessage"]);
  });
});

describe("discord: a preview", () => {
  const T = "t1" as TurnId;
  test("is sent under the nonce of its reply, edited, removed and announced", async () => {
    const { api, calls, signals } = played();
    const platform = discordPreviews(api);
    expect(await platform.send(T, { to, replyTo: ID }, "hi", NEVER)).toBe("m1");
    await platform.send(T, { to: { ...to, thread: "8" }, replyTo: null }, "hi", NEVER);
    await platform.edit({ where: "6", message: "9" }, "more", NEVER);
    await platform.remove({ where: "6", message: "9" }, NEVER);
    await platform.type(to, NEVER);
    expect(await platform.repeat?.find(T, "6", NEVER)).toBe("m6");
    const [first, second, , , , found] = calls.map(([, , body]) => body as Record<string, unknown>);
    expect(calls.map(([method, channel]) => [method, channel])).toEqual([
      ["createMessage", CHAT],
      ["createMessage", "8"],
      ["editMessage", "6"],
      ["deleteMessage", "6"],
      ["showTyping", CHAT],
      ["createMessage", "6"],
    ]);
    expect(first).toMatchObject({
      content: "hi",
      enforce_nonce: true,
      message_reference: { message_id: ID, fail_if_not_exists: false },
    });
    expect(second).not.toHaveProperty("message_reference");
    expect(found).toEqual({ content: "…", flags: 4_096, nonce: first?.["nonce"], enforce_nonce: true });
    expect([...signals]).toEqual([NEVER]);
  });

  test("that somebody deleted is not found, and other trouble is told", async () => {
    expect(await discordPreviews(played(refused(10_008)).api).repeat?.find(T, "6", NEVER)).toBeNull();
    await expect(discordPreviews(played(refused(1)).api).repeat?.find(T, "6", NEVER)).rejects.toThrow("no");
  });

  test("is shown at the pace of Discord", () => {
    const { firstMs, typingMs, gapMs, removal, repeat, cooldownMs, contentOf } = discordPreviews(played().api);
    expect([firstMs, typingMs, gapMs({ to, replyTo: null }), cooldownMs(to), repeat?.dedupeMs]).toEqual([
      1_000, 8_000, 1_200, 0, 120_000,
    ]);
    expect(removal).toEqual({ startMs: 20_000, againMs: 60_000, maxTries: 30 });
    expect(contentOf({ text: "", tools: { calls: new Map(), speaker: null }, waiting: "" }, "partial")).toBeNull();
  });

  test.each([
    [refused(10_008), { kind: "refused" }],
    [refused(0, 401), { kind: "refused" }],
    [limited(700), { kind: "later", pauseMs: 700 }],
    [new HTTPError(503, "", "POST", "", request), { kind: "later", pauseMs: 0 }],
    [new HTTPError(500, "", "POST", "", request), { kind: "lost", detail: "status 500" }],
  ])("after trouble (%#) is refused, lost or shown later", (error, failure) => {
    const told: unknown = discordPreviews(played().api).failureOf(error, to);
    expect(told).toEqual(failure);
  });
});

describe("discord: a part", () => {
  const FILE = { mediaId: "m", name: "a.b", mimeType: "text/plain", bytes: 1 } as unknown as MediaRef;
  const row = (message: object, part = 0) =>
    ({ id: "t1:0", part, to, message: { kind: "reply", text: "hi", ...message } }) as unknown as OutboxRow;
  const sending = (...answers: readonly (Error | object | null)[]) => {
    const at = played(...answers);
    const log = recordingLog();
    const files = { read: async (id: string) => (id === "m" ? new Uint8Array(4) : null) };
    return { ...at, log, parts: discordParts({ api: at.api, log, files, maxFileBytes: 10 }) };
  };
  const send = async (options: object, ...answers: readonly (Error | object | null)[]) => {
    const at = sending(...answers);
    const piece = { content: "hi", files: [] };
    const ids = await at.parts.send({ part: row({}), piece, at: 0, preview: null, ...options } as never, NEVER);
    return {
      ids,
      calls: at.calls,
      methods: at.calls.map(([method]) => method),
      words: at.log.lines.map(({ words }) => words),
    };
  };
  const body = ({ calls }: { calls: readonly unknown[][] }, at = 0) => calls[at]?.[2] as Record<string, unknown>;

  test("goes into its preview, and into a message of its own when that is gone", async () => {
    const preview = { message: ID };
    expect(await send({ preview }, { id: ID })).toMatchObject({ ids: [ID], methods: ["editMessage"] });
    expect(await send({ preview }, refused(10_008))).toMatchObject({ methods: ["editMessage", "createMessage"] });
    await expect(send({ preview }, refused(1))).rejects.toThrow("no");
  });

  test("points with its first message at what it replies to, if that is a message of Discord's", async () => {
    const reference = { message_id: ID, fail_if_not_exists: false };
    expect(body(await send({ part: row({ replyTo: ID }) }))).toMatchObject({ message_reference: reference });
    expect(body(await send({ part: row({ replyTo: ID }), at: 1 }))).not.toHaveProperty("message_reference");
    expect(body(await send({ part: row({ replyTo: "7" }) }))).not.toHaveProperty("message_reference");
  });

  test("whose nonce is that of a deleted message is sent under another, and one that shows a preview is written into", async () => {
    const again = await send({}, refused(10_008));
    expect([again.methods, body(again)["nonce"] === body(again, 1)["nonce"]]).toEqual([
      ["createMessage", "createMessage"],
      false,
    ]);
    expect(await send({}, { id: ID, content: "old" }, { id: ID })).toMatchObject({
      ids: [ID],
      methods: ["createMessage", "editMessage"],
    });
    expect((await send({ at: 1 }, { id: ID, content: "old" })).methods).toEqual(["createMessage"]);
    expect((await send({ part: row({}, 1) }, { id: ID, content: "old" })).methods).toEqual(["createMessage"]);
    const gone = await send({}, { id: ID, content: "old" }, refused(10_008));
    expect(gone.methods).toEqual(["createMessage", "editMessage", "createMessage"]);
  });

  test("whose files are too large for this chat is sent without them, and says so", async () => {
    const piece = { content: "hi", files: [{ name: "n".repeat(101), data: new Uint8Array(1), contentType: "x" }] };
    const sent = await send({ piece }, refused(40_005, 413));
    expect(body(sent, 1)).toMatchObject({ content: `hi\n(${"n".repeat(100)} is too large for this chat)` });
    expect([body(sent, 1)["files"], sent.words]).toEqual([undefined, ["files too large for Discord"]]);
    await expect(send({ piece }, refused(1))).rejects.toThrow("no");
    await expect(send({}, refused(40_005, 413))).rejects.toThrow("no");
    await expect(send({ piece }, new HTTPError(500, "lost", "POST", "", request))).rejects.toThrow("lost");
  });

  test.each<[what: string, message: object, pieces: readonly (readonly [string, number])[]]>([
    ["words", {}, [["hi", 0]]],
    ["words and a file", { attachments: [FILE] }, [["hi", 1]]],
    ["a file alone", { text: "", attachments: [FILE] }, [["", 1]]],
    ["files that fit together", { attachments: [FILE, FILE] }, [["hi", 2]]],
    [
      "files that do not",
      { attachments: [FILE, FILE, FILE] },
      [
        ["hi", 2],
        ["", 1],
      ],
    ],
    ["a file that is gone", { attachments: [{ ...FILE, mediaId: "x" }] }, [["hi\n\n(a.b is not there any more)", 0]]],
    ["a file of the largest size", { attachments: [{ ...FILE, bytes: 10 }] }, [["hi", 1]]],
    [
      "a file that is larger",
      { attachments: [{ ...FILE, bytes: 11 }] },
      [["hi\n\n(a.b is too large for this chat)", 0]],
    ],
    [
      "long words and a file",
      { text: `${"x".repeat(2_000)}\n\ny`, attachments: [FILE] },
      [
        ["x".repeat(2_000), 0],
        ["y", 1],
      ],
    ],
  ])("of %s is shown in as few messages as it takes", async (_what, message, expected) => {
    const pieces = await sending().parts.piecesOf(row(message), false);
    expect(pieces.map(({ content, files }) => [content, files.length] as const)).toEqual([...expected]);
  });

  test("for an address that is none of Discord's is refused", () => {
    const { parts } = sending();
    expect(() => parts.check(to)).not.toThrow();
    expect(() => parts.check({ ...to, chat: "7" })).toThrow("not one of Discord's");
    expect(channelOf({ ...to, thread: "8" })).toBe("8");
  });
});

test("discord tells each part of the gateway what is its business, and answers what was asked", async () => {
  const told: unknown[] = [];
  const posted: unknown[] = [];
  const work: Promise<unknown>[] = [];
  const dispatch = createDispatcher(
    {
      api: { rest: { post: async (...args: readonly unknown[]) => void posted.push(args) } } as unknown as API,
      door: {
        react: async (reaction) => void told.push(["react", reaction.how, reaction.messageId]),
        typing: async ({ scope, place, sender, address }) =>
          void told.push(["typing", scope, place ?? null, sender.principal, address.chat]),
      },
      places: createPlaces(),
      intake: { said: ({ id }) => void told.push(["said", id]), changed: ({ id }) => void told.push(["changed", id]) },
      interactions: {
        handle: async ({ id }) => (told.push(["asked", id]), id === "quiet" ? { kind: "nothing" } : { kind: "pong" }),
      },
      tasks: { add: (one: Promise<unknown>) => (work.push(one), one) } as never,
      me: () => ME,
    },
    NEVER,
  );
  const tell = (t: string, d: object): void => dispatch({ t, d } as never);
  const reaction = { user_id: "5", channel_id: CHAT, message_id: "3", emoji: { id: null, name: "👍" } };
  tell("MESSAGE_CREATE", { id: "1" });
  tell("MESSAGE_UPDATE", { id: "2" });
  tell("MESSAGE_REACTION_ADD", reaction);
  tell("MESSAGE_REACTION_REMOVE", reaction);
  tell("MESSAGE_REACTION_ADD", { ...reaction, user_id: ME });
  tell("INTERACTION_CREATE", { id: "4", token: "tok" });
  tell("INTERACTION_CREATE", { id: "quiet", token: "tok" });
  tell("PRESENCE_UPDATE", { id: "9" });
  const typing = { user_id: "5", channel_id: CHAT, timestamp: 1 };
  tell("TYPING_START", typing);
  tell("TYPING_START", { ...typing, guild_id: "7", member: { user: { id: "5", username: "eve", global_name: null } } });
  tell("TYPING_START", { ...typing, user_id: ME });
  tell("TYPING_START", { ...typing, guild_id: "7", member: { user: { id: "5", username: "eve", bot: true } } });
  expect(work).toHaveLength(6); // of two reactions, two questions and two who type: closing waits for all of them
  await Promise.all(work);
  expect(told).toEqual([
    ["said", "1"],
    ["changed", "2"],
    ["react", "add", "3"],
    ["react", "remove", "3"],
    ["asked", "4"],
    ["asked", "quiet"],
    ["typing", "dm", null, "discord:user:5", CHAT],
    ["typing", "group", "7", "discord:user:5", CHAT],
  ]);
  expect(posted).toEqual([["/interactions/4/tok/callback", { auth: false, body: { type: 1 }, signal: NEVER }]]);
});

test("discord knows a thread from the moment on in which it is told of it: a reaction in it is one in its channel", () => {
  const reacted: unknown[] = [];
  const nobody = () => undefined;
  const dispatch = createDispatcher(
    {
      api: {} as API,
      door: { react: async ({ address }) => void reacted.push(address), typing: async () => undefined },
      places: createPlaces(),
      intake: { said: nobody, changed: nobody },
      interactions: { handle: async () => ({ kind: "nothing" }) },
      tasks: { add: (one: Promise<unknown>) => one } as never,
      me: () => ME,
    },
    NEVER,
  );
  const reaction = { user_id: "5", channel_id: "31", message_id: "3", emoji: { id: null, name: "👍" } };
  dispatch({ t: "THREAD_CREATE", d: { id: "31", type: 11, parent_id: CHAT } } as never);
  dispatch({ t: "MESSAGE_REACTION_ADD", d: reaction } as never);
  expect(reacted).toEqual([{ channel: "discord", account: "default", chat: CHAT, thread: "31" }]);
});

describe("discord: what a message says", () => {
  const FRIEND = { id: "900000000000000002", username: "frida", global_name: "Frida" };
  const said = (more: object): SaidMessage =>
    ({
      id: "1",
      channel_id: CHAT,
      content: "x",
      type: 0,
      mentions: [],
      attachments: [],
      author: FRIEND,
      ...more,
    }) as unknown as SaidMessage;
  const read = (more: object, guild: string | null = null) => translate(said(more), { me: ME, address: to, guild });

  test.each([
    ["a bot", { author: { ...FRIEND, bot: true } }],
    ["the system", { author: { ...FRIEND, system: true } }],
    ["a webhook", { webhook_id: "1" }],
    ["a line about something", { type: 6 }],
  ])("by %s is nothing", (_who, more) => {
    expect(read(more)).toBeNull();
  });

  test.each([
    ["hi", "hi"],
    [` <@${ME}> , hi `, "hi"],
    [`<@!${ME}><@${ME}>: hi`, "hi"],
    [`hi <@${ME}>`, "hi @us"],
    [`<@${FRIEND.id}> hi`, "@Frida hi"],
    ["<@900000000000000009> hi", "<@900000000000000009> hi"],
  ])("as %p is heard as %p", (content, text) => {
    const mentions = [FRIEND, { id: ME, username: "us", global_name: null }];
    expect(read({ content, mentions })?.message.text).toBe(text);
  });

  test("is for us in a direct chat, by our name, and as an answer to us", () => {
    const mentioned = (more: object, guild: string | null) => read(more, guild)?.message.mentioned;
    expect([mentioned({}, null), mentioned({}, "5"), mentioned({ mentions: [{ id: ME }] }, "5")]).toEqual([
      true,
      false,
      true,
    ]);
    expect(mentioned({ mentions: [FRIEND], referenced_message: { author: FRIEND, content: "" } }, "5")).toBe(false);
    expect([read({}, "5")?.message.place, read({})?.message.place, read({}, "5")?.message.scope]).toEqual([
      "5",
      undefined,
      "group",
    ]);
  });

  test("as a forward holds what was forwarded, and nothing as a reply", () => {
    const reference = { type: 1, message_id: "77" };
    const snapshots = [{ message: { content: " a ", attachments: [{ id: "f" }] } }, { message: {} }];
    const forward = read({ content: "", message_reference: reference, message_snapshots: snapshots });
    expect(forward?.message.quoted.map(({ how, text }) => [how, text])).toEqual([
      ["forward", "a"],
      ["forward", ""],
    ]);
    expect(forward?.attachments.map(({ id }) => id)).toEqual(["f"]);
    expect(forward?.message).not.toHaveProperty("answering");
    expect(read({ message_reference: reference })?.message.quoted).toEqual([]);
    expect(read({ message_snapshots: snapshots })?.message.quoted).toEqual([]);
  });

  test("as a reply holds three hundred characters of it, and knows our own", () => {
    const reply = (content: string, author: object = FRIEND) =>
      read({ type: 19, message_reference: { type: 0, message_id: "77" }, referenced_message: { author, content } })
        ?.message;
    expect(reply("a".repeat(300))?.quoted[0]?.text).toBe("a".repeat(300));
    expect(reply("a".repeat(301))?.quoted[0]?.text).toBe(`${"a".repeat(300)}…`);
    expect(reply(" a ", { id: ME, username: "us", global_name: null })?.quoted[0]).toMatchObject({
      text: "a",
      author: { name: "you, the assistant" },
    });
    expect(reply("a")?.answering).toEqual({ to: "77", text: "x" });
    expect(read({ message_reference: { type: 0 } })?.message.quoted).toEqual([]);
  });

  test("aloud is known by its flag", () => {
    expect([read({ flags: 1 << 13 })?.voice, read({ flags: 1 << 12 })?.voice, read({})?.voice]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
