/**
 * `message`, `send_message` and `send_media` in a whole gateway: real pi, a scripted model, Telegram and Discord as fakes. What a tool returns
 * the next call takes, also after a restart, and people see what became of it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../src/kit/clock.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeDiscord, startFakeDiscord } from "../src/testing/discord/fake-discord.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "../src/testing/discord/fake-people.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, GROUP_ID, said, STRANGER } from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { type Play, playing } from "../src/testing/whole/tool-play.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { endpoint, eventually, openSocket, SHARED_POOL, statusOf, told, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "77:telegram-token-of-a-test";
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
let home: TempHome;
let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let discord: FakeDiscord;
let gateway: GatewayProcess;
let reply: (request: ProviderRequest) => FakeReply;
const WAKES = { wakeOnReaction: true };

const config = () => ({
  ...endpoint(provider),
  agent: { ...endpoint(provider).agent, pool: SHARED_POOL },
  roles: { owners: [`telegram:user:${FRIEND.id}`, `discord:user:${PEOPLE.friend.id}`] },
  channels: {
    telegram: { botToken: TOKEN, apiRoot: api.apiRoot, groups: { [GROUP_ID]: {} } },
    discord: { token: BOT_TOKEN, apiRoot: discord.apiRoot, guilds: { [PLACES.guild]: { channels: [PLACES.room] } } },
  },
});

beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider((request) => reply(request));
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  discord = await startFakeDiscord({ now: () => systemClock.now(), heartbeatMs: 5_000 });
  gateway = await startGatewayProcess({ home: home.path, config: config() });
  await mkdir(join(home.path, "workspace"), { recursive: true });
  await writeFile(join(home.path, "workspace", "chart.png"), PNG);
  await connected();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await discord?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const connected = () =>
  eventually(
    "the Discord bot is connected",
    () => discord.gateway.connections(),
    (count) => count === 1,
  );

async function restart(): Promise<void> {
  await gateway.stop();
  gateway = await startGatewayProcess({ home: home.path });
  await connected();
}

interface Read {
  readonly messages: readonly { readonly id: string; readonly from: string; readonly text: string }[];
}
const idOf = (read: unknown, text: string): string =>
  (read as Partial<Read>).messages?.find((one) => one.text === text)?.id ?? "nothing read";
const sentId = (sent: unknown): string => (sent as { message_id?: string }).message_id ?? "nothing sent";

/** What the tools of the last turn told the model. */
let results: unknown[] = [];
function does(play: Play): void {
  results = [];
  reply = playing(function* (told) {
    const steps = play(told);
    for (let step = steps.next(); ;) {
      if (step.done) return step.value;
      const result: unknown = yield step.value;
      results.push(result);
      step = steps.next(result);
    }
  });
}
const done = (action: string): unknown => expect.objectContaining({ action, done: true });

const refused = (because: string): unknown =>
  expect.objectContaining({ status: "error", error: expect.stringContaining(because) });

interface Platform {
  readonly name: string;
  react(id: string, emoji: string, by: "friend" | "stranger"): void;
  say(text: string): string;
  /** By its id on the platform. */
  shown(id: string): { readonly text: string; readonly replyTo: string | null; readonly pinned: boolean } | null;
  /** What the bot wrote and is still there. */
  texts(): readonly string[];
  byText(text: string): string;
  reactions(id: string): readonly string[];
}

const telegram: Platform = {
  name: "Telegram",
  react(id, emoji, by) {
    const user = { ...(by === "friend" ? FRIEND : STRANGER), is_bot: false };
    const about = { chat: { id: FRIEND.id, type: "private" }, message_id: Number(id), date: 1, user };
    api.push(TOKEN, { message_reaction: { ...about, old_reaction: [], new_reaction: [{ type: "emoji", emoji }] } });
  },
  say(text) {
    const messageId = room.nextMessageId();
    api.push(TOKEN, said({ by: FRIEND, text, messageId }));
    return String(messageId);
  },
  shown(id) {
    const found = room.messages.find((one) => String(one.id) === id && !one.deleted);
    return found
      ? { text: found.text, replyTo: found.replyTo === undefined ? null : String(found.replyTo), pinned: found.pinned }
      : null;
  },
  texts: () => room.messages.filter(({ deleted }) => !deleted).map(({ text }) => text),
  byText: (text) => String(room.messages.findLast((one) => one.text === text && !one.deleted)?.id),
  reactions: (id) => room.reactions.findLast(({ message }) => String(message) === id)?.emoji ?? [],
};

const onDiscord = () => discord.state.messages(PLACES.dm);
const discordPlatform: Platform = {
  name: "Discord",
  react(id, emoji, by) {
    const about = { user_id: PEOPLE[by].id, channel_id: PLACES.dm, message_id: id, type: 0, burst: false };
    discord.gateway.dispatch("MESSAGE_REACTION_ADD", { ...about, emoji: { id: null, name: emoji } });
  },
  say: (text) => discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: text }),
  shown(id) {
    const found = onDiscord().find((one) => one.id === id);
    return found ? { text: found.content, replyTo: found.replyTo, pinned: found.pinned } : null;
  },
  texts: () =>
    onDiscord()
      .filter(({ author }) => author.id === BOT.id)
      .map(({ content }) => content),
  byText: (text) => onDiscord().findLast(({ content }) => content === text)?.id ?? "",
  reactions: (id) => (onDiscord().find((one) => one.id === id)?.reactions ?? []).map(decodeURIComponent),
};

describe.each([telegram, discordPlatform])("a conversation on $name", (platform) => {
  const { shown, texts, byText, reactions } = platform;
  const answered = (text: string) => eventually(`"${text}" on ${platform.name}`, texts, (seen) => seen.includes(text));
  let hello = "";
  /** The gateway's id of what send_message sent. */
  let sent = "";
  let picture = "";

  test("has its history read, a message answered by its id, and messages reacted to, edited, pinned and deleted", async () => {
    reply = () => says("first answer");
    hello = platform.say("hello one");
    await answered("first answer");
    const first = byText("first answer");
    does(function* ({ facts }) {
      const read = yield ["message", { action: "read", limit: 10 }];
      sent = sentId(yield ["send_message", { text: "in a thread", replyTo: idOf(read, "hello one") }]);
      yield ["message", { action: "edit", messageId: sent, text: "in a thread, edited" }];
      yield ["message", { action: "react", messageId: facts.message, emoji: ["🔥"] }];
      yield ["message", { action: "pin", messageId: sent }];
      yield ["message", { action: "delete", messageId: idOf(read, "first answer") }];
      picture = sentId(yield ["send_media", { path: "chart.png", caption: "a chart" }]);
      yield ["message", { action: "edit", messageId: picture, text: "a better chart" }];
      return "second answer";
    });
    const work = platform.say("work on messages");
    await answered("second answer");
    expect(results).toEqual([
      expect.objectContaining({ messages: expect.any(Array) }),
      expect.objectContaining({ sent: true }),
      done("edit"),
      done("react"),
      done("pin"),
      done("delete"),
      expect.objectContaining({ sent: true }),
      done("edit"),
    ]);
    const thread = byText("in a thread, edited");
    expect(shown(thread)).toEqual({ text: "in a thread, edited", replyTo: hello, pinned: true });
    expect(reactions(work)).toEqual(["🔥"]);
    expect(shown(first)).toBeNull();
    expect(texts()).toContain("a better chart");
  });

  test("goes on after a restart of the gateway: ids of before are still taken, and the history shows what became of them", async () => {
    await restart();
    const thread = byText("in a thread, edited");
    does(function* ({ facts }) {
      const read = yield ["message", { action: "read", limit: 20 }];
      yield ["message", { action: "read", limit: 1, before: idOf(read, "work on messages") }];
      yield ["message", { action: "react", messageId: idOf(read, "hello one"), emoji: "👍" }];
      yield ["message", { action: "pin", messageId: sent, unpin: true }];
      yield ["message", { action: "edit", messageId: sent, text: "edited after the restart" }];
      yield ["message", { action: "react", messageId: facts.message, emoji: "🔥" }];
      yield ["message", { action: "react", messageId: facts.message, emoji: "🔥", remove: true }];
      yield ["message", { action: "delete", messageId: picture }];
      return "third answer";
    });
    const again = platform.say("once more");
    await answered("third answer");
    const [read, before, ...acts] = results as [Read, Read, ...unknown[]];
    expect(read.messages.map(({ text }) => text)).toEqual([
      "hello one",
      "work on messages",
      "in a thread, edited",
      "a better chart",
      "second answer",
      "once more",
    ]);
    expect(before.messages.map(({ text }) => text)).toEqual(["hello one"]);
    expect(acts).toEqual([done("react"), done("pin"), done("edit"), done("react"), done("react"), done("delete")]);
    expect(shown(thread)).toEqual({ text: "edited after the restart", replyTo: hello, pinned: false });
    expect([reactions(hello), reactions(again)]).toEqual([["👍"], []]);
    expect(texts()).not.toContain("a better chart");
  });

  test("does not touch a person's words, and an unknown id is refused with a sentence", async () => {
    does(function* ({ facts }) {
      yield ["message", { action: "delete", messageId: facts.message }];
      yield ["message", { action: "edit", messageId: facts.message, text: "stolen" }];
      yield ["message", { action: "react", messageId: "no-such-id", emoji: "👍" }];
      yield ["send_message", { text: "to nobody", replyTo: "no-such-id" }];
      return "fourth answer";
    });
    platform.say("hands off");
    await answered("fourth answer");
    expect(results).toEqual([
      refused("Only your own messages"),
      refused("Only your own messages"),
      refused("no message with that id"),
      refused("no message with that id"),
    ]);
    expect(texts()).not.toContain("to nobody");
  });
});

describe.each([telegram, discordPlatform])("a reaction of a person on $name", (platform) => {
  const { texts, byText } = platform;
  test("begins no turn, and is told with the next one, marked as coming from outside", async () => {
    reply = () => says("fifth answer");
    platform.say("how are you");
    await eventually("the answer", texts, (seen) => seen.includes("fifth answer"));
    await eventually(
      "the platform's number of the answer is stored",
      async () => (await statusOf(gateway)).outbox.pending,
      (pending) => pending === 0,
    );
    const asked = provider.requests.length;
    const socket = await openSocket(gateway);
    platform.react(byText("fifth answer"), "❤️", "stranger");
    platform.react(byText("fifth answer"), "👏", "friend");
    await socket.until("the reaction as an event", (events) =>
      events.some((one) => one.event === "message" && one.data.item.reaction === "👏"),
    );
    socket.close();
    expect(provider.requests.length).toBe(asked);
    reply = () => says("sixth answer");
    platform.say("go on");
    await eventually("the next answer", texts, (seen) => seen.includes("sixth answer"));
    const text = told(provider.requests.at(-1) as ProviderRequest);
    expect(text).toMatch(
      /<untrusted-text (\S+) source="reactions to your messages">\n👏 from [^\n]+ "fifth answer"\n<\/untrusted-text \1>/,
    );
    expect(text).not.toContain("❤️");
  });

  test("begins one turn where wakeOnReaction is on, as that person, marked as coming from outside", async () => {
    const { channels, ...rest } = config();
    const wakes = { telegram: { ...channels.telegram, ...WAKES }, discord: { ...channels.discord, ...WAKES } };
    await saveSettings(home.path, { ...rest, channels: wakes });
    expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
    await connected();
    reply = () => says("seventh answer");
    platform.say("and now");
    await eventually("the answer", texts, (seen) => seen.includes("seventh answer"));
    await eventually(
      "the platform's number of the answer is stored",
      async () => (await statusOf(gateway)).outbox.pending,
      (pending) => pending === 0,
    );
    const before = provider.requests.length;
    reply = () => says("you are welcome");
    const id = byText("seventh answer");
    platform.react(id, "❤️", "stranger");
    platform.react(id, "👍", "friend");
    platform.react(id, "👍", "friend");
    await eventually("the words to the reaction", texts, (seen) => seen.includes("you are welcome"));
    const text = told(provider.requests.at(-1) as ProviderRequest);
    expect(text).toContain("woken by: a reaction to your message");
    expect(text).toMatch(
      /<untrusted-text (\S+) source="reaction" [^>]*>\n\([^\n]+ reacted 👍 to your message \S+\.\)\n<\/untrusted-text \1>/,
    );
    expect(provider.requests.length).toBe(before + 1);
  });
});

interface Group {
  readonly name: string;
  say(text: string): string;
  /** What our message that begins like this replies to. */
  answers(text: string): string | null | undefined;
}
const groups: readonly Group[] = [
  {
    name: "Telegram",
    say(text) {
      const messageId = room.nextMessageId();
      api.push(TOKEN, said({ by: FRIEND, text, messageId, inGroup: { bot: room.username } }));
      return String(messageId);
    },
    answers: (text) =>
      room.messages.find((one) => one.chat === String(GROUP_ID) && one.text.startsWith(text))?.replyTo?.toString(),
  },
  {
    name: "Discord",
    say: (text) => discord.say({ channel: PLACES.room, author: PEOPLE.friend, content: `<@${BOT.id}> ${text}` }),
    answers: (text) => discord.state.messages(PLACES.room).find(({ content }) => content.startsWith(text))?.replyTo,
  },
];

test.each(groups)(
  "an answer in a group on $name replies to the message it answers, shown at once or while it is written",
  async (group) => {
    reply = () => says("a short answer");
    const short = group.say("a short question");
    await eventually(
      "the short answer replies",
      () => group.answers("a short answer"),
      (seen) => seen === short,
    );
    const gate = deferred<void>();
    reply = () => says("The first half, ", gate.promise, "the second half.");
    const long = group.say("a long question");
    await eventually(
      "the beginning replies",
      () => group.answers("The first half,"),
      (seen) => seen === long,
    );
    gate.resolve();
    const whole = () => group.answers("The first half, the second half.");
    await eventually("the whole answer replies", whole, (seen) => seen === long);
  },
);

test("Telegram is asked for reactions, which it does not send by itself", () => {
  const poll = api.calls.find(({ method }) => method === "getUpdates");
  expect(JSON.stringify(poll?.fields.allowed_updates)).toContain("message_reaction");
});

test("an owner reads another session by its key from any channel, and a bare number names no session of another channel", async () => {
  await gateway.chat("a word in the api session", { session: String(FRIEND.id) });
  does(function* () {
    yield ["message", { action: "read", chatId: `agent:default:telegram:dm:${FRIEND.id}`, limit: 1 }];
    yield ["message", { action: "read", chatId: String(FRIEND.id) }];
    return "read it";
  });
  discordPlatform.say("look at Telegram");
  await eventually("the answer on Discord", discordPlatform.texts, (seen) => seen.includes("read it"));
  const [read, number] = results as [Read, unknown];
  expect(read.messages.map(({ text }) => text)).toEqual(["you are welcome"]);
  expect(number).toEqual(refused("There is no such chat"));
});
