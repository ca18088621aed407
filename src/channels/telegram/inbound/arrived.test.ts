/** What is read of each kind of update of Telegram, as tables: its words, those of others, its files, who it is from and how it is known. */
import { describe, expect, test } from "bun:test";
import type { Update } from "grammy/types";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { moveOf, readUpdate } from "./arrived.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { readApprovalButton } from "./approvals.ts";
import { filesOf } from "./files.ts";
import { readQuestionButton } from "./question-messages.ts";
import { reactionOf } from "./reaction.ts";

const me = { id: 99, username: "our_bot" };
const here = { channel: "telegram", account: "default", me, chatOf: (chat: string) => `known ${chat}` };
const FRIEND = { id: 5, first_name: "Frida", last_name: "Kahn", is_bot: false };
const GROUP = { id: -100, type: "supergroup", title: "Garden" };
const update = (more: object): Update => ({ update_id: 1, ...more }) as unknown as Update;
const message = (more: object) => ({
  message_id: 7,
  date: 3,
  from: FRIEND,
  chat: { id: 11, type: "private" },
  ...more,
});
const read = (more: object, kind = "message") => readUpdate(update({ [kind]: message(more) }), here);
const user = (id: number, name: string) => ({ id: `telegram:user:${id}`, name });

describe("telegram: an update", () => {
  test("is known by its message, and a message without a number by the update", () => {
    expect(read({ text: "hi" })).toMatchObject({
      updateId: 1,
      eventId: "11/7",
      messageId: 7,
      edits: null,
      date: 3,
      scope: "dm",
      kind: "message",
      sender: { principal: "telegram:user:5", name: "Frida Kahn" },
      address: { channel: "telegram", account: "default", chat: "known 11" },
      album: null,
      press: null,
      answering: { to: null, text: "hi" },
    });
    expect(read({ text: "hi", message_id: 0 })?.eventId).toBe("1");
    expect(read({ text: "hi", date: undefined })?.date).toBe(0);
    expect(read({ text: "hi" }, "edited_message")).toMatchObject({ eventId: "11/7#1", edits: "11/7", answering: null });
  });

  test.each([
    ["nobody", { text: "hi", from: undefined }],
    ["a bot", { text: "hi", from: { ...FRIEND, is_bot: true } }],
    ["somebody who says nothing", {}],
    ["somebody who only replies", { reply_to_message: { message_id: 1, from: FRIEND, photo: [] } }],
  ])("by %s is not for us", (_who, more) => {
    expect(read(more)).toBeNull();
  });

  test("of an edit without words is none, and with a caption it is one", () => {
    expect(read({ location: { latitude: 1, longitude: 2 } }, "edited_message")).toBeNull();
    const photo = [{ file_id: "p" }];
    expect(read({ photo, caption: "see" }, "edited_message")?.kind).toBe("edit");
    expect(read({ photo }, "edited_message")).toBeNull();
  });

  test("by a bot that speaks as a group is by the group, and a group without a name is a chat", () => {
    const bot = { ...FRIEND, is_bot: true };
    expect(read({ text: "hi", from: bot, sender_chat: GROUP })?.sender).toMatchObject({ name: "Garden" });
    expect(read({ text: "hi", sender_chat: { id: 4, type: "private" } })?.sender).toMatchObject({ name: "a chat" });
    const long = { ...GROUP, title: "t".repeat(101) };
    expect(read({ text: "hi", sender_chat: long })?.sender.name).toBe("t".repeat(100));
    expect(read({ text: "hi", from: { ...FRIEND, first_name: "f".repeat(101) } })?.sender.name).toBe("f".repeat(100));
  });

  test.each([
    ["without a message", { message: undefined }],
    ["without data", { data: undefined }],
    ["of a bot", { from: { ...FRIEND, is_bot: true } }],
  ])("about a press %s is not for us", (_what, more) => {
    const press = { id: "c1", from: FRIEND, data: "q:x", message: message({}), ...more };
    expect(readUpdate(update({ callback_query: press }), here)).toBeNull();
  });

  test("about a press says what was pressed, and that it is meant", () => {
    const press = { id: "c1", from: FRIEND, data: "q:x", message: message({ chat: GROUP }) };
    expect(readUpdate(update({ callback_query: press }), here)).toMatchObject({
      kind: "action",
      edits: null,
      scope: "group",
      mentioned: true,
      text: "",
      quoted: [],
      files: [],
      album: null,
      answering: null,
      press: { callbackId: "c1", data: "q:x" },
      sender: { principal: "telegram:user:5" },
    });
  });

  test("about a group's other number names both, whichever of them tells it", () => {
    const move = (more: object) => moveOf(update({ message: message({ chat: GROUP, ...more }) }));
    expect(move({ migrate_to_chat_id: -200 })).toEqual({ from: "-100", to: "-200" });
    expect(move({ migrate_from_chat_id: -50 })).toEqual({ from: "-50", to: "-100" });
    expect([move({}), moveOf(update({}))]).toEqual([null, null]);
  });
});

describe("telegram: what a message says", () => {
  const mention = (offset: number, length: number) => [{ type: "mention", offset, length }];
  const command = (length: number, offset = 0) => [{ type: "bot_command", offset, length }];
  test.each([
    ["a mention and nothing else", { text: "@our_bot ", entities: mention(0, 8) }, "@our_bot", true],
    ["a mention in the middle", { text: "hi @our_bot you", entities: mention(3, 8) }, "hi @our_bot you", true],
    ["a mention before signs", { text: "@our_bot : , hi", entities: mention(0, 8) }, "hi", true],
    [
      "a mention of a person without a name",
      { text: "You hi", entities: [{ type: "text_mention", offset: 0, length: 3, user: { id: 99 } }] },
      "hi",
      true,
    ],
    [
      "a mention of somebody else",
      { text: "You hi", entities: [{ type: "text_mention", offset: 0, length: 3, user: { id: 98 } }] },
      "You hi",
      false,
    ],
    ["a mention in a caption", { caption: "@our_bot hi", caption_entities: mention(0, 8) }, "hi", true],
    [
      "a link that looks like a mention",
      { text: "@our_bot hi", entities: [{ type: "url", offset: 0, length: 8 }] },
      "@our_bot hi",
      false,
    ],
    ["a command for all", { text: "/new", entities: command(4) }, "/new", false],
    ["a command for us", { text: "/new@our_bot", entities: command(12) }, "/new", true],
    ["a command with an address", { text: "/say a@b", entities: command(4) }, "/say a@b", true],
    ["a command in the middle", { text: "use /new", entities: command(4, 4) }, "use /new", false],
    ["a throw of dice", { dice: { emoji: "🎲", value: 4 } }, "[🎲 4]", false],
    [
      "words and a place",
      { caption: " here ", location: { latitude: 1, longitude: 2 } },
      "here\n[Location: 1, 2]",
      false,
    ],
    [
      "a poll with signs in it",
      { poll: { question: " [a]\n b", options: [{ text: "y\ny" }] } },
      "[Poll: a b — y y]",
      false,
    ],
    [
      "a poll that never ends",
      { poll: { question: "q".repeat(101), options: [] } },
      `[Poll: ${"q".repeat(100)} — ]`,
      false,
    ],
  ])("as %s is heard in words", (_what, more, text, mentioned) => {
    const arrived = read({ chat: GROUP, ...more });
    expect({ text: arrived?.text, mentioned: arrived?.mentioned }).toEqual({ text, mentioned });
  });

  test("is meant for us in a private chat, whatever it says", () => {
    expect([read({ text: "hi" })?.mentioned, read({ text: "hi", chat: GROUP })?.mentioned]).toEqual([true, false]);
  });

  test.each([
    ["a sticker", { sticker: { emoji: "👍", set_name: "Cats" } }, "Sticker 👍 of Cats"],
    ["a sticker without a name", { sticker: {} }, "Sticker "],
    ["a place", { venue: { title: "Cafe", address: "Main [1]" } }, "Place: Cafe, Main 1"],
    ["a contact", { contact: { first_name: "A", last_name: "B", phone_number: "1" } }, "Contact: A B, 1"],
    ["a contact with one name", { contact: { first_name: "A", phone_number: "1" } }, "Contact: A, 1"],
  ])("with %s is not what its sender wrote", (_what, more, text) => {
    expect(read(more)).toMatchObject({ text: "", quoted: [{ how: "shared", author: { id: null, name: "" }, text }] });
  });

  test.each([
    ["a person", { type: "user", sender_user: { id: 6, first_name: "O" } }, user(6, "O")],
    [
      "a hidden person",
      { type: "hidden_user", sender_user_name: "h".repeat(101) },
      { id: null, name: "h".repeat(100) },
    ],
    ["a group", { type: "chat", sender_chat: GROUP }, { id: "telegram:chat:-100", name: "Garden" }],
    [
      "a channel",
      { type: "channel", chat: { id: -9, type: "channel", title: "" } },
      { id: "telegram:chat:-9", name: "" },
    ],
    ["a kind that is not known", { type: "new" }, { id: null, name: "" }],
  ])("that is passed on from %s is theirs, and no command or mention in it counts", (_who, forward_origin, author) => {
    const text = "/new@our_bot";
    const arrived = read({ text, chat: GROUP, forward_origin, entities: command(12) });
    expect(arrived).toMatchObject({ text: "", mentioned: false, answering: null });
    expect(arrived?.quoted).toEqual([{ how: "forward", author, text }]);
  });

  test.each([
    ["by an inline bot", { via_bot: { id: 8, first_name: "Gif" } }, user(8, "Gif")],
    [
      "by a channel of the group",
      { is_automatic_forward: true, sender_chat: GROUP },
      { id: "telegram:chat:-100", name: "Garden" },
    ],
    ["by a channel that is not named", { is_automatic_forward: true }, { id: null, name: "" }],
    ["as an old server tells it", { forward_date: 3 }, { id: null, name: "" }],
  ])("that is passed on %s is not its sender's", (_how, more, author) => {
    expect(read({ text: " hi ", ...more })?.quoted).toEqual([{ how: "forward", author, text: "hi" }]);
    const sticker = read({ sticker: { emoji: "👍" }, ...more });
    expect(sticker?.quoted).toEqual([{ how: "forward", author, text: "Sticker 👍" }]);
  });

  const reply = { how: "reply", message: "3" } as const;
  test.each([
    ["of ours", { from: { id: 99 }, text: "a" }, {}, { ...reply, author: user(99, "you, the assistant"), text: "a" }],
    ["of a person", { from: FRIEND, caption: " a " }, {}, { ...reply, author: user(5, "Frida Kahn"), text: "a" }],
    [
      "of a group",
      { from: FRIEND, sender_chat: GROUP, text: "a" },
      {},
      { ...reply, author: { id: "telegram:chat:-100", name: "Garden" }, text: "a" },
    ],
    ["of nobody", { text: "a" }, {}, { ...reply, author: { id: null, name: "" }, text: "a" }],
    [
      "that was passed on",
      { from: FRIEND, via_bot: { id: 8, first_name: "Gif" }, text: "a" },
      {},
      { ...reply, author: user(8, "Gif"), text: "a" },
    ],
    [
      "of 300 characters",
      { from: FRIEND, text: "a".repeat(300) },
      {},
      { ...reply, author: user(5, "Frida Kahn"), text: "a".repeat(300) },
    ],
    [
      "of more characters",
      { from: FRIEND, text: "a".repeat(301) },
      {},
      { ...reply, author: user(5, "Frida Kahn"), text: `${"a".repeat(300)}…` },
    ],
    [
      "by a part of it",
      { from: FRIEND, text: "abc" },
      { quote: { text: "b" } },
      { ...reply, author: user(5, "Frida Kahn"), text: "b" },
    ],
    [
      "elsewhere",
      { from: FRIEND, text: "abc" },
      { external_reply: { origin: { type: "hidden_user", sender_user_name: "H" } } },
      { how: "reply", author: { id: null, name: "H" }, text: "abc" },
    ],
  ])("as a reply to a message %s holds its words and author", (_what, answered, more, quoted) => {
    const arrived = read({ text: "yes", reply_to_message: { message_id: 3, ...answered }, ...more });
    const heard: unknown = arrived?.quoted;
    expect(heard).toEqual([quoted]);
    expect(arrived?.answering).toEqual({ to: "3", text: "yes" });
  });

  test("as a reply to a message elsewhere without words holds nothing of it", () => {
    const external_reply = { origin: { type: "hidden_user", sender_user_name: "H" } };
    expect(read({ text: "yes", external_reply })?.quoted).toEqual([]);
  });
});

describe("telegram: a file", () => {
  const file = { file_id: "f", file_size: 9, file_name: "n", mime_type: "a/b" };
  const named = { fileId: "f", name: "n", mimeType: "a/b", bytes: 9, spoken: false };
  const bare = { file_id: "f" };
  const spec = (name: string, mimeType: string, spoken = false) => ({
    fileId: "f",
    name,
    mimeType,
    bytes: null,
    spoken,
  });
  test.each([
    ["animation", spec("animation.mp4", "video/mp4")],
    ["document", spec("document", "application/octet-stream")],
    ["video", spec("video.mp4", "video/mp4")],
    ["video_note", spec("video-note.mp4", "video/mp4")],
    ["audio", spec("audio.mp3", "audio/mpeg")],
    ["voice", spec("voice.ogg", "audio/ogg", true)],
  ])("that comes as %s has the usual name and type unless Telegram says another", (kind, usual) => {
    expect(filesOf({ [kind]: bare } as never)).toEqual([usual]);
    expect(filesOf({ [kind]: file } as never)).toEqual([{ ...named, spoken: kind === "voice" }]);
  });

  test("that is a picture is its largest size, and an animation is no document besides", () => {
    const photo = [{ file_id: "small" }, { file_id: "f" }];
    expect(filesOf({ photo } as never)).toEqual([spec("photo.jpg", "image/jpeg")]);
    expect(filesOf({ animation: bare, document: bare } as never).length).toBe(1);
    expect(filesOf({} as never)).toEqual([]);
  });
});

describe("telegram: a reaction", () => {
  const told = { chat: GROUP, message_id: 4, user: FRIEND, new_reaction: [], old_reaction: [] };
  const reaction = (more: object) => reactionOf(update({ message_reaction: { ...told, ...more } }), here);

  test("says who reacted where with what", () => {
    const new_reaction = [
      { type: "emoji", emoji: "👍" },
      { type: "paid" },
      { type: "custom_emoji", custom_emoji_id: "1" },
    ];
    expect(reaction({ new_reaction })).toMatchObject({
      address: { channel: "telegram", account: "default", chat: "known -100" },
      scope: "group",
      sender: { principal: "telegram:user:5", name: "Frida Kahn" },
      messageId: "4",
      updateId: "1",
      how: "set",
      emoji: ["👍", "⭐", "(custom emoji)"],
    });
    expect(reaction({ chat: { id: 5, type: "private" } })?.scope).toBe("dm");
  });

  test("of a bot, of a group, and an update about something else are none", () => {
    expect([reaction({ user: undefined }), reaction({ user: { ...FRIEND, is_bot: true } })]).toEqual([null, null]);
    expect(reactionOf(update({ message: message({ text: "hi" }) }), here)).toBeNull();
  });
});

describe("telegram: a button", () => {
  const ID = "abcdefgh";
  test.each([
    [`q:${ID}:0`, "once"],
    [`q:${ID}:1`, "session"],
    [`q:${ID}:2`, "deny"],
    [`q:${ID}:3`, "none"],
    [`q:${"a".repeat(40)}:0`, "once"],
    [`q:${"a".repeat(41)}:0`, null],
    ["q:abcdefg:0", null],
    [`q:${ID}:000`, null],
    [`xq:${ID}:0`, null],
    [`d:${ID}:0`, null],
  ])("with the data %p decides an approval as %p", (data, decision) => {
    const button = readApprovalButton(data);
    expect(button === null ? null : (button.choice?.decision ?? "none")).toBe(decision);
  });

  test.each([
    [`d:${ID}:0`, 0],
    [`d:${ID}:19`, 19],
    [`d:${ID}:100`, null],
    [`d:${"a".repeat(41)}:1`, null],
    ["d:abcdefg:1", null],
    [`q:${ID}:1`, null],
  ])("with the data %p answers a question with choice %p", (data, at) => {
    expect(readQuestionButton(data)?.at ?? null).toBe(at);
  });
});

test("telegram: an early edit gives its words to its message, and nothing to an album, a stranger's message or one that is late", async () => {
  const clock = createFakeClock();
  const applied = async (message: object, lateMs = 0) => {
    const early = createEarlyEdits(clock);
    const edit = read({ text: "new" }, "edited_message");
    const said = read({ text: "old", ...message });
    if (!edit || !said) throw new Error("both are for us");
    early.note(edit);
    await clock.advance(lateMs);
    return [early.apply(said).text, early.apply(said).text];
  };
  expect(await applied({})).toEqual(["new", "old"]);
  expect(await applied({}, 60_000)).toEqual(["new", "old"]);
  expect(await applied({}, 60_001)).toEqual(["old", "old"]);
  expect(await applied({ media_group_id: "g" })).toEqual(["old", "old"]);
  expect(await applied({ from: { ...FRIEND, id: 6 } })).toEqual(["old", "old"]);
});

test("telegram: an early edit that mentions the bot makes its message one that does", () => {
  const early = createEarlyEdits(createFakeClock());
  const [edit, said] = [read({ text: "new" }, "edited_message"), read({ text: "old" })];
  if (!edit || !said) throw new Error("both are for us");
  early.note({ ...edit, mentioned: true });
  expect(early.apply({ ...said, mentioned: false })).toMatchObject({ text: "new", mentioned: true });
});
