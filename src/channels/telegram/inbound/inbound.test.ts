/** What people do on Telegram, as the gateway hears it: in words, with its files, from its real author, once, in order. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Update } from "grammy/types";
import { deferred } from "../../../kit/deferred.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import type { Fields } from "../../../testing/telegram/bot-room.ts";
import { changed, FRIEND, GROUP_ID, OTHER, said } from "../../../testing/telegram/people.ts";
import { telegramWorld, type TelegramWorld, textsIn, TOKEN } from "../../../testing/telegram/telegram-world.ts";
import type { AccountState } from "../../kit/index.ts";
import { createAlbums } from "./albums.ts";
import { type Arrived, readUpdate } from "./arrived.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { MIN_CUT_CHARS, PIECE_CHARS } from "./pastes.ts";
import { createUpdateWindow } from "./window.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const me = { id: 99, username: "our_bot" };
const here = { channel: "telegram", account: "default", me, chatOf: (chat: string) => chat };
const group = { id: GROUP_ID, type: "supergroup", title: "G" };
const read = (message: Fields, kind = "message") =>
  readUpdate(
    {
      update_id: 1,
      [kind]: {
        message_id: 7,
        date: 1,
        from: { ...FRIEND, is_bot: false },
        chat: { id: 11, type: "private" },
        ...message,
      },
    } as unknown as Update,
    here,
  );

describe("a message", () => {
  test.each([
    ["plain text", { text: "hi" }, "hi"],
    ["a caption", { caption: "see", photo: [{ file_id: "p", width: 1, height: 1 }] }, "see"],
    ["a location", { location: { latitude: 52.5, longitude: 13.4 } }, "[Location: 52.5, 13.4]"],
    ["a poll", { poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } }, "[Poll: Tea? — yes / no]"],
    ["a command", { text: "/new@our_bot now", entities: [{ type: "bot_command", offset: 0, length: 12 }] }, "/new now"],
    [
      "a command with the bot's name in capitals",
      { text: "/new@OUR_Bot now", entities: [{ type: "bot_command", offset: 0, length: 12 }] },
      "/new now",
    ],
    ["a mention", { text: "@our_bot, hello", entities: [{ type: "mention", offset: 0, length: 8 }] }, "hello"],
  ])("that is %s is heard in words", (_what, message, text) => {
    expect(read(message)?.text).toBe(text);
  });

  test.each([
    [
      "a command for another bot",
      { text: "/new@other_bot", entities: [{ type: "bot_command", offset: 0, length: 14 }] },
    ],
    ["from a bot", { text: "hi", from: { id: 5, is_bot: true, first_name: "B" } }],
    ["that says nothing", { new_chat_title: "x" }],
  ])("%s is not for us", (_what, message) => {
    expect(read(message)).toBeNull();
  });

  test.each([
    ["is not mentioned by its name in plain text", { text: "our_bot, hi" }, false],
    ["is mentioned", { text: "hi @OUR_BOT", entities: [{ type: "mention", offset: 3, length: 8 }] }, true],
    [
      "is not meant when another is",
      { text: "@our_bot2 x", entities: [{ type: "mention", offset: 0, length: 9 }] },
      false,
    ],
    ["is meant by an answer to it", { text: "yes", reply_to_message: { message_id: 3, from: { id: 99 } } }, true],
    [
      "is not meant by an answer to another",
      { text: "yes", reply_to_message: { message_id: 3, from: { id: 98 } } },
      false,
    ],
  ])("in a group the bot %s", (_what, message, mentioned) => {
    expect(read({ ...message, chat: group })?.mentioned).toBe(mentioned);
  });

  test("of a reply holds the number of what it replies to, also when that has no words", () => {
    const from = { id: 98, first_name: "Otto" };
    const reply = (more: object) =>
      read({ text: "yes", chat: group, reply_to_message: { message_id: 3, from, ...more } });
    expect(reply({ text: "shall we?" })?.quoted).toMatchObject([{ how: "reply", text: "shall we?", message: "3" }]);
    expect(reply({ photo: [] })?.quoted).toMatchObject([{ how: "reply", text: "", message: "3" }]);
  });

  test("of a button that a bot pressed is not for us", () => {
    const message = { message_id: 7, date: 1, chat: { id: 11, type: "private" } };
    const press = (is_bot: boolean) => ({
      id: "1",
      from: { ...FRIEND, is_bot },
      message,
      data: "q:1",
      chat_instance: "1",
    });
    const readPress = (is_bot: boolean) =>
      readUpdate({ update_id: 1, callback_query: press(is_bot) } as unknown as Update, here);
    expect([readPress(true), readPress(false)?.kind]).toEqual([null, "action"]);
  });

  test("in a topic says which", () => {
    const topic = read({ text: "hi", chat: group, message_thread_id: 42, is_topic_message: true });
    expect(topic?.address).toEqual({ channel: "telegram", account: "default", chat: String(GROUP_ID), thread: "42" });
    expect(read({ text: "hi", chat: group, message_thread_id: 42 })?.address.thread).toBeUndefined();
  });

  test("by a group or a channel is by nobody in particular, whoever is named as its sender", () => {
    const anonymous = read({ text: "hi", chat: group, sender_chat: group });
    expect(String(anonymous?.sender.principal)).toBe(`telegram:chat:${GROUP_ID}`);
  });

  test("that was changed is told as a change of it, and a place that moves is no change", () => {
    expect(read({ text: "better" }, "edited_message")).toMatchObject({ kind: "edit", text: "better" });
    expect(read({ text: "better" }, "edited_message")?.edits).toBe(read({ text: "good" })?.eventId ?? "");
    expect(read({ text: "better" }, "edited_message")?.answering).toBeNull();
    expect(read({ location: { latitude: 1, longitude: 2 } }, "edited_message")).toBeNull();
  });
});

describe("the offset", () => {
  test("stays at the oldest update that is not stored, whatever was stored after it", () => {
    const window = createUpdateWindow(null);
    expect(window.offset()).toBeNull();
    for (const id of [10, 11, 15]) expect(window.begin(id)).toBe(true);
    window.settle(11);
    window.settle(15);
    expect([window.offset(), window.open, window.begin(11)]).toEqual([10, 1, false]);
    window.settle(10);
    expect([window.offset(), window.open]).toEqual([16, 0]);
  });

  test("of a previous process keeps what was done then from being done again, until numbers start anew", () => {
    const window = createUpdateWindow(5_000);
    expect([window.begin(4_999), window.begin(5_000)]).toEqual([false, true]);
    window.settle(5_000);
    expect(window.offset()).toBe(5_001);
    expect(window.begin(12)).toBe(true);
    window.settle(12);
    expect(window.offset()).toBe(13);
  });
});

const tell = (world: TelegramWorld, text: string, by = FRIEND): number =>
  world.happens(said({ by, text, messageId: world.room.nextMessageId() }));
const stored = ({ bench }: TelegramWorld): readonly string[] => bench.stored.map(({ text }) => text);

describe("polling", () => {
  test("a chat whose file is slow keeps nobody else waiting, and nothing is confirmed before it is stored", async () => {
    await using world = await telegramWorld();
    const slow = deferred<void>();
    world.api.misbehave("download", { kind: "late", until: slow.promise });
    const voice = { voice: { file_id: "voice-1", duration: 1, mime_type: "audio/ogg" } };
    const first = world.happens(said({ by: FRIEND, messageId: 1, more: voice }));
    const second = tell(world, "quick", OTHER);
    await eventually("the quick one is stored", () => stored(world).includes("quick"));
    expect(world.api.waiting(TOKEN)).toEqual([first, second]);
    slow.resolve();
    await eventually("both are confirmed", () => world.api.waiting(TOKEN).length === 0);
    expect(stored(world)).toEqual(["quick", "spoken words"]);
    expect(world.bench.stored[1]?.attachments.map(({ name }) => name)).toEqual(["voice.ogg"]);
  });

  test("updates in the wrong order, and again after a restart, are stored once and in order", async () => {
    await using world = await telegramWorld();
    world.api.reverse(TOKEN);
    world.bench.hold();
    const ids = ["one", "two", "three"].map((text) => tell(world, text));
    await eventually("the first is at the door", () => world.bench.waiting() === 1);
    world.bench.letGo();
    await eventually("all are stored", () => world.bench.stored.length === 3);
    await world.close();
    world.api.repeat(TOKEN, ids);
    await world.reopen();
    tell(world, "four");
    await eventually("the next is stored", () => stored(world).includes("four"));
    expect(stored(world).toSorted()).toEqual(["four", "one", "three", "two"]);
  });

  test("a stranger who was told is not told again because the gateway was restarted", async () => {
    await using world = await telegramWorld();
    world.bench.strangers.set(world.platform.people.stranger, "Your code is ABCD2345.");
    const id = world.happens(said({ by: { id: 33, first_name: "S" }, text: "hi", messageId: 1 }));
    await eventually("it is confirmed", () => world.api.waiting(TOKEN).length === 0);
    await world.close();
    world.api.repeat(TOKEN, [id]);
    await world.reopen();
    await eventually("it is confirmed again", () => world.api.waiting(TOKEN).length === 0);
    expect(world.api.count("sendMessage")).toBe(1);
  });

  test("after a conflict it waits, says so, and asks again on another connection", async () => {
    await using world = await telegramWorld();
    const { api, bench, channel } = world;
    api.misbehave("getUpdates", {
      kind: "refused",
      code: 409,
      description: "Conflict: terminated by other getUpdates",
    });
    tell(world, "wakes the poll");
    await eventually("the conflict is met", () => !channel.health().ok);
    expect(channel.health().detail).toContain("Another program");
    expect(channel.ready()).toBe(true); // sending is not in question
    const asked = api.count("getUpdates");
    await bench.clock.advance(2_000);
    expect(api.count("getUpdates")).toBe(asked);
    await bench.clock.advance(5_000);
    await eventually("it is well again", () => channel.health().ok);
    const polls = api.calls.filter(({ method }) => method === "getUpdates");
    expect(new Set(polls.map(({ port }) => port)).size).toBe(polls.length);
  });

  test("a poller whose bot was taken over by a newer one stands down", async () => {
    await using world = await telegramWorld();
    const { api, bench, channel } = world;
    await bench.deps.facts.put("telegram", "default", "poller", "a newer one");
    api.misbehave("getUpdates", {
      kind: "refused",
      code: 409,
      description: "Conflict: terminated by other getUpdates",
    });
    tell(world, "wakes the poll");
    await eventually("it stands down", () => channel.health().detail.includes("another part"));
    const asked = api.count("getUpdates");
    await bench.clock.advance(50_000);
    expect(api.count("getUpdates")).toBe(asked);
    await world.close();
    expect(await bench.deps.facts.get("telegram", "default", "poller")).toBe("a newer one"); // and is left in its place
    expect(api.count("getUpdates")).toBe(asked);
  });
});

describe("a change of a message", () => {
  const change = (world: TelegramWorld, text: string, messageId: number): number =>
    world.happens(changed({ by: FRIEND, text, messageId }));
  const first = (world: TelegramWorld, text: string, messageId: number): number =>
    world.happens(said({ by: FRIEND, text, messageId }));
  const confirmed = (world: TelegramWorld) =>
    eventually("all are confirmed", () => world.api.waiting(TOKEN).length === 0);

  test("that comes before the message makes one turn with the new words, also after a restart", async () => {
    await using world = await telegramWorld();
    const ids = [change(world, "see you at five", 7), first(world, "see you at four", 7)];
    await confirmed(world);
    await world.close();
    world.api.repeat(TOKEN, ids);
    await world.reopen();
    await confirmed(world);
    expect(stored(world)).toEqual(["see you at five"]);
  });

  test("whose message was never seen makes no turn, in a private chat or a group, and no file of it is fetched", async () => {
    await using world = await telegramWorld();
    change(world, "changed", 7);
    world.happens(changed({ by: FRIEND, text: "changed", messageId: 8, inGroup: { bot: world.room.username } }));
    const document = { file_id: "a", file_unique_id: "a", file_name: "a", mime_type: "text/plain", file_size: 3 };
    world.happens(changed({ by: FRIEND, messageId: 9, more: { document, caption: "changed" } }));
    await confirmed(world);
    expect([stored(world), world.bench.fetched]).toEqual([[], []]);
  });

  test("that came more than a minute before its message, or is somebody else's, says nothing about it", async () => {
    const clock = createFakeClock();
    const message = read({ text: "good" });
    const edit = read({ text: "better" }, "edited_message");
    if (!message || !edit) throw new Error("not understood");
    const told = async (one: Arrived, ms: number) => {
      const early = createEarlyEdits(clock);
      early.note(one);
      await clock.advance(ms);
      return early.apply(message).text;
    };
    expect([await told(edit, 60_000), await told(edit, 60_001)]).toEqual(["better", "good"]);
    const sender = { principal: "telegram:user:22" as Principal, name: "Other" };
    expect(await told({ ...edit, sender }, 0)).toBe("good");
  });

  test("that changes nothing makes no turn: after another change, after a restart, of a reply and of an album", async () => {
    await using world = await telegramWorld();
    first(world, "one", 7);
    for (const text of ["two", "two", "one", "one"]) change(world, text, 7);
    const reply = (text: string) => ({
      reply_to_message: { message_id: 3, text, from: { ...OTHER }, chat: { id: 1 } },
    });
    world.happens(said({ by: FRIEND, text: "yes", messageId: 8, more: reply("shall we?") }));
    world.happens(changed({ by: FRIEND, text: "yes", messageId: 8, more: reply("shall we go?") }));
    piece(world, "a", { caption: "look", message_id: 20 });
    piece(world, "b", { message_id: 21 });
    await confirmed(world);
    await world.bench.clock.advance(1_500);
    await eventually("the album is stored", () => stored(world).includes("look"));
    await world.close();
    await world.reopen();
    change(world, "one", 7);
    const album = (caption: string) => ({
      document: { file_id: "a", file_unique_id: "a", file_name: "a", mime_type: "text/plain", file_size: 3 },
      media_group_id: "album-1",
      caption,
    });
    world.happens(changed({ by: FRIEND, messageId: 20, more: album("look") }));
    world.happens(changed({ by: FRIEND, messageId: 20, more: album("look here") }));
    await confirmed(world);
    const told = (words: string) => `[Changed an earlier message to:]\n${words}`;
    expect(stored(world)).toEqual(["one", told("two"), told("one"), "yes", "look", told("look here")]);
  });

  test("that comes after the message is told too, each change once, and one that changes nothing is not", async () => {
    await using world = await telegramWorld();
    first(world, "one", 7);
    change(world, "one", 7);
    const two = change(world, "two", 7);
    change(world, "three", 7);
    await confirmed(world);
    await world.close();
    world.api.repeat(TOKEN, [two]);
    await world.reopen();
    await confirmed(world);
    const told = (words: string) => `[Changed an earlier message to:]\n${words}`;
    expect(stored(world)).toEqual(["one", told("two"), told("three")]);
  });

  test("of an album that comes before it takes nothing away from the album", async () => {
    await using world = await telegramWorld();
    const document = { file_id: "a", file_unique_id: "a", file_name: "a", mime_type: "text/plain", file_size: 3 };
    const more = { document, media_group_id: "album-1", caption: "better" };
    world.room.files.set("a", new TextEncoder().encode("abc"));
    world.happens(changed({ by: FRIEND, messageId: 7, more }));
    world.happens(said({ by: FRIEND, messageId: 7, more: { ...more, caption: "good" } }));
    world.happens(said({ by: FRIEND, messageId: 8, more: { document, media_group_id: "album-1" } }));
    await confirmed(world);
    await world.bench.clock.advance(1_500);
    await eventually("the album is stored", () => stored(world).includes("good"));
    expect(world.bench.stored.at(-1)?.attachments).toHaveLength(2);
  });
});

const piece = (world: TelegramWorld, name: string, more: Fields = {}): number => {
  world.room.files.set(name, new TextEncoder().encode(name));
  const document = { file_id: name, file_unique_id: name, file_name: name, mime_type: "text/plain", file_size: 3 };
  const message = { document, media_group_id: "album-1", ...more };
  return world.happens(said({ by: FRIEND, messageId: world.room.nextMessageId(), more: message }));
};

describe("an album", () => {
  test("is one message with all its files, and its pieces are confirmed at once", async () => {
    await using world = await telegramWorld();
    const first = 41;
    piece(world, "a", { caption: "three of them", message_id: first });
    piece(world, "b");
    piece(world, "c");
    await eventually("all are confirmed", () => world.api.waiting(TOKEN).length === 0);
    expect(world.bench.stored).toEqual([]);
    await world.bench.clock.advance(1_500);
    await eventually("it is stored", () => world.bench.stored.length === 1);
    expect(world.bench.stored[0]).toMatchObject({ eventId: `${FRIEND.id}/${first}`, text: "three of them" });
    expect(world.bench.stored[0]?.attachments.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("that a crash cut off is stored by the next process, once", async () => {
    await using world = await telegramWorld();
    const ids = [piece(world, "a"), piece(world, "b")];
    await eventually("all are confirmed", () => world.api.waiting(TOKEN).length === 0);
    await world.close();
    expect(world.bench.stored).toEqual([]);
    world.api.repeat(TOKEN, ids);
    await world.reopen();
    await eventually("it is stored", () => world.bench.stored.length === 1);
    await eventually("all are confirmed again", () => world.api.waiting(TOKEN).length === 0);
    await world.bench.clock.advance(3_000);
    expect(world.bench.stored.map(({ attachments }) => attachments.length)).toEqual([2]);
  });

  test("is kept whole when the first note of a piece fails and Telegram brings the piece again", async () => {
    const clock = createFakeClock();
    const kept = new Map<string, string>();
    let disk: "full" | "free" = "full";
    const facts = {
      get: async (key: string) => kept.get(key) ?? null,
      async put(key: string, value: string) {
        if (disk === "full") throw new Error("disk full");
        kept.set(key, value);
      },
    } as unknown as AccountState;
    const delivered: number[][] = [];
    const albums = createAlbums(
      { clock, log: recordingLog(), facts },
      async (pieces) => (delivered.push(pieces.map(({ update_id }) => update_id)), true),
      new AbortController().signal,
    );
    await expect(albums.add("1", "album-1", { update_id: 7 })).rejects.toThrow("disk full");
    disk = "free";
    await albums.add("1", "album-1", { update_id: 7 });
    expect(kept.get("albums")).toContain('"update_id":7');
    await clock.advance(1_500);
    expect(delivered).toEqual([[7]]);
  });

  test("of somebody who is access is lost is not stored, and none of its files is fetched", async () => {
    await using world = await telegramWorld();
    piece(world, "a", { caption: "look" });
    piece(world, "b");
    await eventually("all are confirmed", () => world.api.waiting(TOKEN).length === 0);
    world.bench.strangers.set(world.platform.people.friend, "Go away.");
    const looked = world.bench.arrivals.length;
    await world.bench.clock.advance(1_500);
    await eventually("the album is looked at", () => world.bench.arrivals.length > looked);
    tell(world, "somebody else speaks", OTHER);
    await eventually("the next message is stored", () => world.bench.stored.length === 1);
    expect([stored(world), world.bench.fetched, textsIn(world.room, FRIEND.id)]).toEqual([
      ["somebody else speaks"],
      [],
      [],
    ]);
  });

  test("comes before what was said after it", async () => {
    await using world = await telegramWorld();
    piece(world, "a", { caption: "look" });
    tell(world, "what is it?");
    await eventually("both are stored", () => world.bench.stored.length === 2);
    expect(stored(world)).toEqual(["look", "what is it?"]);
  });
});

const FORWARDED: Fields = { forward_origin: { type: "hidden_user", sender_user_name: "Somebody", date: 1 } };

describe("a long text that Telegram cut into pieces", () => {
  const words = (chars: number, letter: string) => letter.repeat(chars);
  const send = (world: TelegramWorld, text: string, date = 5, more: Fields = {}) =>
    world.happens(said({ by: FRIEND, text, messageId: world.room.nextMessageId(), more: { date, ...more } }));
  const settled = (world: TelegramWorld) =>
    eventually("all are confirmed", () => world.api.waiting(TOKEN).length === 0);

  test("is one message, stored at its short last piece, with a line break only where a space was taken away", async () => {
    await using world = await telegramWorld();
    send(world, words(PIECE_CHARS, "a"));
    send(world, words(PIECE_CHARS - 20, "b"), 6);
    send(world, "the end", 6);
    await eventually("it is stored", () => world.bench.stored.length === 1);
    expect(stored(world)).toEqual([`${words(PIECE_CHARS, "a")}${words(PIECE_CHARS - 20, "b")}\nthe end`]);
    await settled(world);
  });

  test("is stored a moment after its last long piece, and a crash in between loses nothing", async () => {
    await using world = await telegramWorld();
    const ids = [send(world, words(PIECE_CHARS, "a")), send(world, words(PIECE_CHARS, "b"))];
    await settled(world);
    expect(stored(world)).toEqual([]);
    await world.close();
    world.api.repeat(TOKEN, ids);
    await world.reopen();
    await eventually("it is stored", () => world.bench.stored.length === 1);
    await settled(world);
    await world.bench.clock.advance(3_000);
    expect(stored(world)).toEqual([words(PIECE_CHARS, "a") + words(PIECE_CHARS, "b")]);
  });

  test("needs one mention in a group", async () => {
    await using world = await telegramWorld();
    const long = words(MIN_CUT_CHARS, "a");
    const inGroup = { bot: world.room.username };
    world.happens(said({ by: FRIEND, text: long, messageId: 1, inGroup }));
    world.happens(said({ by: FRIEND, text: "the end", messageId: 2, inGroup: { ...inGroup, mention: false } }));
    await eventually("it is stored", () => world.bench.stored.length === 1);
    expect(world.bench.arrivals.map(({ mentioned }) => mentioned)).toEqual([true, true, true]);
    expect(stored(world)).toEqual([`${long}\nthe end`]);
  });

  test.each([
    ["seconds later", (world: TelegramWorld) => send(world, "later", 7)],
    ["by somebody else", (world: TelegramWorld) => tell(world, "later", OTHER)],
    ["as a forward", (world: TelegramWorld) => send(world, "", 5, { text: "later", ...FORWARDED })],
    ["with a file", (world: TelegramWorld) => piece(world, "a", { date: 5, media_group_id: undefined })],
  ])("does not take in what is said %s, which comes after it in its own chat", async (_how, next) => {
    await using world = await telegramWorld();
    const long = words(PIECE_CHARS, "a");
    send(world, long);
    next(world);
    await settled(world);
    await world.bench.clock.advance(1_500);
    await eventually("both are stored", () => world.bench.stored.length === 2);
    expect(stored(world)).toContain(long);
    const mine = world.bench.stored.filter(({ address }) => address.chat === String(FRIEND.id));
    expect(mine[0]?.text).toBe(long);
  });

  test("whose first piece is edited without a change makes no turn", async () => {
    await using world = await telegramWorld();
    const long = words(PIECE_CHARS, "a");
    world.happens(said({ by: FRIEND, text: long, messageId: 5 }));
    world.happens(said({ by: FRIEND, text: "the end", messageId: 6 }));
    await eventually("it is stored", () => world.bench.stored.length === 1);
    world.happens(changed({ by: FRIEND, text: long, messageId: 5 }));
    await settled(world);
    expect(world.bench.stored).toHaveLength(1);
  });
});

test("a file that is too large is not fetched, and both sides are told", async () => {
  await using world = await telegramWorld({ mediaMaxMb: 1 });
  const video = { file_id: "v", file_unique_id: "v", width: 1, height: 1, duration: 1, file_size: 2_000_000 };
  world.happens(said({ by: FRIEND, messageId: 1, more: { video, caption: "watch" } }));
  await eventually("it is stored", () => world.bench.stored.length === 1);
  expect(world.bench.stored[0]?.text).toContain("larger than 1 MB");
  await eventually("the sender is told", () => world.platform.shown().length === 1);
  expect(world.bench.fetched).toEqual([]);
});
