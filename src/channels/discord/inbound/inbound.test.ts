/** What comes in from Discord: each message once, under its author's name, also what was said while nobody was there. */
import { afterEach, describe, expect, test } from "bun:test";
import type { APIAttachment } from "discord-api-types/v10";
import { deferred } from "../../../kit/deferred.ts";
import { secret } from "../../../kit/secret.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { type DiscordWorld, discordWorld } from "../../../testing/discord/discord-world.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "../../../testing/discord/fake-people.ts";
import { accountState } from "../../kit/index.ts";
import { openRest } from "../outbound/rest-client.ts";
import { snowflakeAt } from "../settings.ts";
import { MAX_WAITING, startIntake } from "./intake.ts";
import { createPlaces } from "./threads.ts";
import { createSeen } from "./seen.ts";
import { type SaidMessage, translate } from "./translate.ts";
import { waitFor } from "../../../testing/wait-for.ts";

const SLOW_MS = 60_000;
let world: DiscordWorld;
afterEach(() => world?.[Symbol.asyncDispose]());

const state = () => accountState(world.bench.deps.facts, "discord", "default");
const texts = () => world.bench.stored.map(({ text }) => text);
const stored = (count: number) => eventually(`${count} are stored`, () => world.bench.stored.length >= count);
const say = (content: string, channel: string = PLACES.dm, more: Record<string, unknown> = {}) =>
  world.fake.say({ channel, author: PEOPLE.friend, content, more });
/** It is written down that this channel was read up to here. */
async function noted(id: string, channel: string = PLACES.dm): Promise<void> {
  const fact = (key: string) => state().get(key);
  const isNoted = async () => (await fact(`last:${channel}`)) === id && (await fact("channels"))?.includes(channel);
  await waitFor(`message ${id} is noted as the last`, isNoted);
}
/** What is said in one channel is dealt with in order: when this is stored, nothing before it is under way any more. */
async function fence(channel: string = PLACES.dm): Promise<void> {
  say("fence", channel);
  await eventually("the fence is stored", () => world.bench.stored.some(({ text }) => text === "fence"));
  world.bench.stored.splice(
    world.bench.stored.findIndex(({ text }) => text === "fence"),
    1,
  );
}

describe("a message", () => {
  test(
    "in a direct chat is from a person, to us, under its own number",
    async () => {
      world = await discordWorld();
      const id = say("hello");
      await stored(1);
      expect(world.bench.stored[0]).toMatchObject({
        eventId: id,
        scope: "dm",
        mentioned: true,
        text: "hello",
        address: { channel: "discord", account: "default", chat: PLACES.dm },
        sender: { principal: `discord:user:${PEOPLE.friend.id}`, name: "Frida" },
      });
    },
    SLOW_MS,
  );

  test(
    "in a server names the server, and whether we are meant",
    async () => {
      world = await discordWorld();
      say("among ourselves", PLACES.room);
      say(`<@${BOT.id}>, help <@${PEOPLE.other.id}>`, PLACES.room, {
        mentions: [{ id: BOT.id, username: "pi" }, PEOPLE.other],
      });
      await stored(2);
      const about = world.bench.stored.map(({ scope, place, mentioned, text }) => ({ scope, place, mentioned, text }));
      const here = { scope: "group", place: PLACES.guild } as const;
      expect(about).toEqual([
        { ...here, mentioned: false, text: "among ourselves" },
        { ...here, mentioned: true, text: "help @Oskar" },
      ]);
    },
    SLOW_MS,
  );

  test(
    "in a thread belongs to its channel, as a thread",
    async () => {
      world = await discordWorld();
      say("in the thread", PLACES.thread);
      await stored(1);
      expect(world.bench.stored[0]?.address).toMatchObject({ chat: PLACES.room, thread: PLACES.thread });
    },
    SLOW_MS,
  );

  test(
    "that comes twice at once is stored once",
    async () => {
      world = await discordWorld();
      const made = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "once" });
      world.fake.gateway.dispatch("MESSAGE_CREATE", world.fake.state.asEvent(made), 3);
      say("next");
      await stored(2);
      expect(texts()).toEqual(["once", "next"]);
      expect(world.bench.arrivals.length).toBe(2);
    },
    SLOW_MS,
  );

  test(
    "that cannot be stored is tried again by itself, and what was said after it stays after it",
    async () => {
      world = await discordWorld();
      world.bench.failOnce();
      say("one");
      say("two");
      await eventually("it failed", () => world.bench.log.lines.some(({ level }) => level === "error"));
      expect(texts()).toEqual([]);
      await world.bench.clock.advance(1_000);
      await stored(2);
      expect(texts()).toEqual(["one", "two"]);
    },
    SLOW_MS,
  );

  test(
    "that cannot be stored is tried again with the files it had: they are fetched once",
    async () => {
      world = await discordWorld();
      world.fake.rest.downloads.set("/files/a.txt", new Uint8Array([104, 105]));
      world.bench.failOnce();
      const attachments = [{ id: "7", filename: "a.txt", size: 2, url: `${world.fake.rest.url}/files/a.txt` }];
      say("look", PLACES.dm, { attachments });
      await eventually("it failed", () => world.bench.log.lines.some(({ level }) => level === "error"));
      await world.bench.clock.advance(1_000);
      await stored(1);
      expect(world.bench.fetched).toEqual(["a.txt"]);
      expect(world.bench.stored[0]?.attachments.map(({ name }) => name)).toEqual(["a.txt"]);
    },
    SLOW_MS,
  );

  test(
    "that is told late is not taken for one that was read",
    async () => {
      world = await discordWorld();
      const [one, two] = ["one", "two"].map((content) =>
        world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content }),
      );
      if (two) world.fake.gateway.dispatch("MESSAGE_CREATE", world.fake.state.asEvent(two));
      if (one) world.fake.gateway.dispatch("MESSAGE_CREATE", world.fake.state.asEvent(one));
      await stored(2);
      expect(texts()).toEqual(["two", "one"]);
    },
    SLOW_MS,
  );

  test(
    "that is changed after it was taken is not taken twice; one that begins to mean us is taken",
    async () => {
      world = await discordWorld();
      const id = say("hello");
      await stored(1);
      world.fake.change(PLACES.dm, id, "hello there");
      world.bench.strangers.set(world.platform.people.friend, null); // as the door answers without a mention
      const silent = say("no name", PLACES.room);
      await waitFor("the door was asked about it", () => world.bench.arrivals.length === 3);
      world.bench.strangers.clear();
      world.fake.change(PLACES.room, silent, `<@${BOT.id}> now with a name`);
      await stored(2);
      await fence();
      expect(texts()).toEqual(["hello", "now with a name"]);
      const kinds = world.bench.arrivals.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "edit")).toHaveLength(2);
    },
    SLOW_MS,
  );

  test(
    "that was never seen is not taken when it is changed, in a channel or a direct message",
    async () => {
      world = await discordWorld();
      for (const channel of [PLACES.dm, PLACES.room]) {
        const { id } = world.fake.state.add({ channel, author: PEOPLE.friend, content: "from before" });
        world.fake.change(channel, id, `<@${BOT.id}> changed once`);
        world.fake.change(channel, id, `<@${BOT.id}> changed twice`);
      }
      await waitFor("the door was asked four times", () => world.bench.arrivals.length === 4);
      await fence();
      expect(texts().filter((text) => text.includes("changed"))).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "that is changed more than an hour after it was written is history, and is not taken",
    async () => {
      world = await discordWorld();
      world.bench.strangers.set(world.platform.people.friend, null); // as the door answers without a mention
      const { state, gateway } = world.fake;
      const id = snowflakeAt(world.bench.clock.now() - 3_600_001);
      const made = state.add({ channel: PLACES.room, author: PEOPLE.friend, content: "old words" });
      const old = { ...state.asEvent(made), id };
      gateway.dispatch("MESSAGE_CREATE", old);
      const fresh = say("fresh words", PLACES.room);
      await waitFor("the door was asked about both", () => world.bench.arrivals.length === 2);
      world.bench.strangers.clear();
      const edited_timestamp = new Date(world.bench.clock.now()).toISOString();
      gateway.dispatch("MESSAGE_UPDATE", { ...old, content: "old words, changed", edited_timestamp });
      world.fake.change(PLACES.room, fresh, "fresh words, changed");
      await stored(1);
      await fence(PLACES.room);
      expect(texts()[0]).toBe("fresh words, changed");
      expect(texts()).not.toContain("old words, changed");
    },
    SLOW_MS,
  );

  test(
    "brings its files, once its sender has access",
    async () => {
      world = await discordWorld();
      world.fake.rest.downloads.set("/files/a.txt", new Uint8Array([104, 105]));
      const attachments = [{ id: "7", filename: "a.txt", size: 2, url: `${world.fake.rest.url}/files/a.txt` }];
      say("look", PLACES.dm, { attachments });
      await stored(1);
      const [file] = world.bench.stored[0]?.attachments ?? [];
      expect(file).toMatchObject({ name: "a.txt" });
      expect(await world.bench.deps.files.read(file?.mediaId as never)).toEqual(new Uint8Array([104, 105]));
    },
    SLOW_MS,
  );

  test(
    "that is spoken arrives in words",
    async () => {
      world = await discordWorld();
      await world.platform.bring({ id: "v", kind: "voice", by: "friend", where: "dm", text: "" });
      await stored(1);
      expect(texts()).toEqual(["spoken words"]);
    },
    SLOW_MS,
  );

  test(
    "of more than fits is fetched when there is room again",
    async () => {
      world = await discordWorld();
      say("first");
      await stored(1);
      world.bench.hold();
      const count = 260;
      for (let at = 0; at < count; at++) say(`line ${at}`);
      const tooMany = () => world.bench.log.lines.filter(({ words }) => words.startsWith("too many messages at once"));
      await eventually("some do not fit", () => tooMany().length >= count - MAX_WAITING);
      world.bench.letGo();
      await stored(count + 1);
      expect(new Set(texts()).size).toBe(count + 1);
      expect(texts()).toEqual(["first", ...Array.from({ length: count }, (_, at) => `line ${at}`)]);
    },
    SLOW_MS,
  );
});

describe("a message that was sent while the gateway was away", () => {
  test(
    "is taken in after the next start, in order, and once",
    async () => {
      world = await discordWorld();
      const [before, inRoom] = [say("before"), say("in the room", PLACES.room)];
      await noted(before);
      await noted(inRoom, PLACES.room);
      await world.close();
      for (const number of [1, 2, 3]) say(`missed ${number}`);
      say("missed in the room", PLACES.room);
      await world.reopen();
      say("after");
      await stored(7);
      await fence();
      await fence(PLACES.room);
      const dm = world.bench.stored.filter(({ scope }) => scope === "dm").map(({ text }) => text);
      expect(dm).toEqual(["before", "missed 1", "missed 2", "missed 3", "after"]);
      const room = world.bench.stored.filter(({ scope }) => scope === "group");
      expect(room.map(({ text, place }) => [text, place])).toEqual([
        ["in the room", PLACES.guild],
        ["missed in the room", PLACES.guild],
      ]);
    },
    SLOW_MS,
  );

  test(
    "comes before what is said at that very moment, however long it takes to know where to look",
    async () => {
      world = await discordWorld();
      await noted(say("before"));
      await world.close();
      say("missed");
      const { clock, log, door, files } = world.bench.deps;
      const known = deferred<void>();
      const real = createSeen(state());
      const seen = { ...real, known: () => known.promise.then(() => real.known()) };
      const { api, download } = openRest({ token: secret(BOT_TOKEN), apiRoot: world.fake.apiRoot });
      const more = { previews: { expect: () => undefined }, places: createPlaces(), mediaMaxMb: 1 };
      await using intake = startIntake({ clock, log, door, files, api, download, seen, ...more, me: () => BOT.id });
      intake.begun();
      const now = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "now" });
      intake.said(world.fake.state.asEvent(now) as never);
      known.resolve();
      await stored(3);
      expect(texts()).toEqual(["before", "missed", "now"]);
    },
    SLOW_MS,
  );

  test(
    "is taken in although Discord cannot be read at first, before what is said meanwhile",
    async () => {
      world = await discordWorld();
      await noted(say("before"));
      await world.close();
      say("missed");
      world.fake.rest.failReads(2);
      await world.reopen();
      say("meanwhile");
      await eventually("it is read at last", () => {
        void world.bench.clock.advance(1_000);
        return world.bench.stored.length === 3;
      });
      expect(texts()).toEqual(["before", "missed", "meanwhile"]);
    },
    SLOW_MS,
  );

  test(
    "more than a day ago is left alone",
    async () => {
      world = await discordWorld();
      await noted(say("before"));
      await world.close();
      say("long ago");
      await world.bench.clock.advance(30 * 3_600_000);
      say("just now");
      await world.reopen();
      await stored(2);
      await fence();
      expect(texts()).toEqual(["before", "just now"]);
    },
    SLOW_MS,
  );

  test(
    "in a channel that is gone costs one question, and no more",
    async () => {
      world = await discordWorld();
      await noted(say("in the room", PLACES.room), PLACES.room);
      await world.close();
      world.fake.state.removeChannel(PLACES.room);
      await world.reopen();
      const asked = () =>
        world.fake.rest.calls.filter(({ method, path }) => method === "GET" && path.includes(PLACES.room));
      const given = () => world.bench.log.lines.some(({ words }) => words === "channel cannot be read any more");
      await eventually("it was asked for, and given up", given);
      await world.reopen(); // closing waits until it is forgotten
      await fence(); // the direct chat is looked at after it
      expect(asked().length).toBe(1);
    },
    SLOW_MS,
  );

  test(
    "comes with a resume as well, without being fetched",
    async () => {
      world = await discordWorld();
      say("before");
      await stored(1);
      const lost = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "in between" });
      world.fake.gateway.keepBack("MESSAGE_CREATE", world.fake.state.asEvent(lost));
      world.fake.gateway.drop(4000);
      await eventually("it is noticed", () => !world.channel.ready());
      await world.bench.clock.advance(5_000);
      await stored(2);
      expect(texts()).toEqual(["before", "in between"]);
      expect(world.fake.gateway.identifies).toBe(1);
      expect(world.fake.gateway.resumes.length).toBe(1);
    },
    SLOW_MS,
  );
});

describe("how far channels are read", () => {
  test(
    "never goes back, and is kept for the channels used last",
    async () => {
      world = await discordWorld();
      const seen = createSeen(state());
      const id = (number: number) => String(600000000000000000n + BigInt(number));
      await seen.note({ id: id(1), guild: null }, id(500));
      await seen.note({ id: id(1), guild: null }, id(400));
      expect(await seen.last(id(1))).toBe(id(500));
      for (let at = 2; at <= 250; at++) await seen.note({ id: id(at), guild: "g" }, id(1_000 + at));
      const known = await createSeen(state()).known();
      expect(known.length).toBe(200);
      expect(known.at(-1)).toEqual({ id: id(250), guild: "g" });
      expect(await createSeen(state()).last(id(1))).toBeNull();
    },
    SLOW_MS,
  );
});

describe("a translation", () => {
  const context = { me: BOT.id, address: { channel: "discord", account: "default", chat: "1" }, guild: null };
  const said = (more: Partial<SaidMessage>) =>
    ({
      id: "1",
      channel_id: "1",
      content: "x",
      type: 0,
      mentions: [],
      attachments: [],
      author: PEOPLE.friend,
      ...more,
    }) as SaidMessage;

  test.each([
    ["a bot", { author: { ...PEOPLE.other, bot: true } }],
    ["a webhook", { webhook_id: "1" }],
    ["a system line", { type: 7 }],
  ])("of %s is nothing", (_who, more) => {
    expect(translate(said(more as Partial<SaidMessage>), context)).toBeNull();
  });

  test("of a forward holds no words of its sender, who is not asked for an answer by it", () => {
    const forward = said({
      content: "",
      message_reference: { type: 1 } as never,
      message_snapshots: [{ message: { content: "/reset\nnow", attachments: [] } }] as never,
    });
    const { text, quoted, answering } = translate(forward, context)?.message ?? {};
    expect({ text, answering }).toEqual({ text: "", answering: undefined });
    expect(quoted).toEqual([{ how: "forward", author: { id: null, name: "" }, text: "/reset\nnow" }]);
  });

  test("of a command that is said to us by name is the command", () => {
    expect(translate(said({ content: `<@!${BOT.id}>  /status now` }), context)?.message.text).toBe("/status now");
  });

  test("of a reply holds what it replies to, with its number, its author and its words", () => {
    const author = { id: PEOPLE.other.id, username: "otto", global_name: null };
    const message_reference = { type: 0, message_id: "777" } as never;
    const reply = said({ type: 19, message_reference, referenced_message: { author, content: "shall we?" } as never });
    const who = { id: `discord:user:${PEOPLE.other.id}`, name: "otto" };
    expect(translate(reply, context)?.message.quoted).toEqual([
      { how: "reply", author: who, text: "shall we?", message: "777" },
    ]);
    const gone = said({ type: 19, message_reference, referenced_message: null as never });
    expect(translate(gone, context)?.message.quoted).toEqual([
      { how: "reply", author: { id: null, name: "" }, text: "", message: "777" },
    ]);
  });

  test("of an answer to us means us, without our name", () => {
    const answer = said({ type: 19, referenced_message: { author: { id: BOT.id } } as never });
    expect(translate(answer, { ...context, guild: "5" })?.message.mentioned).toBe(true);
  });

  test("takes ten files at most, and tells two messages with one number apart", () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ id: `${at}` })) as APIAttachment[];
    const translated = translate(said({ attachments: many }), context);
    expect(translated?.attachments.length).toBe(10);
    expect(translated?.message.fingerprint).not.toBe(translate(said({}), context)?.message.fingerprint);
  });
});
