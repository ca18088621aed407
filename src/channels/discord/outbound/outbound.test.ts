/** What goes out to Discord: once, whole, pinging nobody, and with an honest account of what went wrong. */
import { afterEach, describe, expect, test } from "bun:test";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { SendError } from "../../../contracts/channel.ts";
import type { MediaId, Principal } from "../../../contracts/ids.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { type DiscordWorld, discordWorld } from "../../../testing/discord/discord-world.ts";
import { PEOPLE, PLACES } from "../../../testing/discord/fake-people.ts";
import { mayDownload } from "./rest-client.ts";

const NEVER = new AbortController().signal;
const SLOW_MS = 60_000;
let world: DiscordWorld;
const opened: DiscordWorld[] = [];
async function open(...settings: Parameters<typeof discordWorld>): Promise<DiscordWorld> {
  world = await discordWorld(...settings);
  opened.push(world);
  return world;
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

async function part(text: string, more: Partial<OutboxRow["message"]> = {}): Promise<OutboxRow> {
  const [row] = await world.bench.reply(world.here, [text]);
  if (!row) throw new Error("nothing to send");
  return { ...row, message: { ...row.message, ...more } };
}
const failing = (row: OutboxRow): Promise<SendError> =>
  world.channel.send(row, NEVER).then(
    () => Promise.reject(new Error("it was sent")),
    (error: SendError) => error,
  );
const inDm = () => world.fake.state.messages(PLACES.dm);

async function media(name: string, bytes: number) {
  const mediaId = world.bench.deps.ids.next("media") as MediaId;
  const data = new Uint8Array(bytes).fill(65);
  return world.bench.store.media.put({
    mediaId,
    owner: "operator" as Principal,
    name,
    mimeType: "text/plain",
    data,
    at: 1,
  });
}

describe("a part", () => {
  test(
    "that is sent twice is shown once, even by another life of the channel",
    async () => {
      await open();
      const row = await part("once");
      const first = await world.channel.send(row, NEVER);
      expect(await world.channel.send(row, NEVER)).toEqual(first);
      await world.reopen();
      expect(await world.channel.send(row, NEVER)).toEqual(first);
      expect(inDm().map(({ content }) => content)).toEqual(["once"]);
      expect(world.channel.repeat).toBe("deduplicated");
      expect(world.channel.dedupeMs).toBeGreaterThan(0);
    },
    SLOW_MS,
  );

  test(
    "whose answer was cut off is in doubt, and is shown once when it is sent again",
    async () => {
      await open();
      const row = await part("once");
      world.fake.rest.misbehave("cut");
      expect((await failing(row)).kind).toBe("lost");
      world.fake.rest.misbehave(null);
      await world.channel.send(row, NEVER);
      expect(inDm().map(({ content }) => content)).toEqual(["once"]);
    },
    SLOW_MS,
  );

  test(
    "of several messages leaves no note of how far it came when the rest is refused for good",
    async () => {
      await open();
      const row = await part(Array.from({ length: 900 }, (_, at) => `word${at}`).join(" "));
      world.fake.rest.misbehave("gone", 2);
      expect((await failing(row)).kind).toBe("permanent");
      expect(inDm().length).toBe(2);
      const { channel, account } = row.to;
      const noted = await world.bench.deps.facts.list(channel, account, "");
      expect(noted.filter(({ key }) => key.includes(row.id))).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "of several messages goes on where it stopped, long after Discord forgot its nonces",
    async () => {
      await open();
      const words = Array.from({ length: 900 }, (_, at) => `word${at}`).join(" ");
      const row = await part(words);
      world.fake.rest.misbehave("broken", 2);
      expect((await failing(row)).kind).toBe("retry");
      expect(inDm().length).toBe(2);
      world.fake.rest.misbehave(null);
      await world.bench.clock.advance(3_600_000);
      await world.reopen();
      await world.channel.send(row, NEVER);
      expect(
        inDm()
          .map(({ content }) => content)
          .join(" "),
      ).toBe(words);
    },
    SLOW_MS,
  );

  test(
    "pings nobody, whatever it says",
    async () => {
      await open();
      await world.channel.send(await part("@everyone <@300000000000000001> <@&500000000000000009>"), NEVER);
      const { providerId = "" } = await world.channel.send(await part("first"), NEVER);
      const target = { to: world.here, sessionKey: "" as OutboxRow["sessionKey"], messageId: providerId };
      await world.channel.edit?.(target, "@here", NEVER);
      expect(inDm().flatMap(({ pings }) => pings)).toEqual([]);
      const bodies = world.fake.rest.calls.filter(({ path }) => path.includes("/messages")).map(({ json }) => json);
      for (const body of bodies) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
    },
    SLOW_MS,
  );

  test(
    "answers a message where it names one, and an impossible one is ignored",
    async () => {
      await open();
      const asked = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "?" });
      await world.channel.send(await part("a", { replyTo: asked.id }), NEVER);
      await world.channel.send(await part("b", { replyTo: "no number" }), NEVER);
      expect(
        inDm()
          .slice(1)
          .map(({ replyTo }) => replyTo),
      ).toEqual([asked.id, null]);
    },
    SLOW_MS,
  );

  test(
    "brings files that together are larger than Discord takes in several messages, each as full as it may be",
    async () => {
      await open({ mediaMaxMb: 1 });
      const sizes = [700_000, 1024 * 1024 - 700_000, 1, 1024 * 1024 - 1, 10];
      const attachments = await Promise.all(sizes.map((bytes, at) => media(`${at}.txt`, bytes)));
      await world.channel.send(await part("here", { attachments }), NEVER);
      expect(inDm().map(({ content, files }) => [content, files.length])).toEqual([
        ["here", 2],
        ["", 2],
        ["", 1],
      ]);
    },
    SLOW_MS,
  );

  test(
    "brings its files with its last words, ten at a time",
    async () => {
      await open();
      const names = Array.from({ length: 12 }, (_, at) => `f${at}.txt`);
      const attachments = await Promise.all(names.map((name) => media(name, 10)));
      await world.channel.send(await part("here", { attachments }), NEVER);
      expect(inDm().map(({ content, files }) => [content, files.length])).toEqual([
        ["here", 10],
        ["", 2],
      ]);
    },
    SLOW_MS,
  );

  test(
    "says which file is too large, or gone",
    async () => {
      await open({ mediaMaxMb: 1 });
      const large = await media("large.bin", 2 * 1024 * 1024);
      const gone = { mediaId: "nowhere" as MediaId, name: "gone.txt", mimeType: "text/plain", bytes: 1 };
      await world.channel.send(await part("see", { attachments: [large, gone] }), NEVER);
      expect(inDm().map(({ content }) => content)).toEqual([
        "see\n\n(large.bin is too large for this chat)\n\n(gone.txt is not there any more)",
      ]);
    },
    SLOW_MS,
  );

  test(
    "to an address that is none of Discord's is refused without a call",
    async () => {
      await open();
      const before = world.fake.rest.calls.length;
      const row = { ...(await part("x")), to: { ...world.here, chat: "../users/@me" } };
      expect((await failing(row)).kind).toBe("permanent");
      expect(world.fake.rest.calls.length).toBe(before);
    },
    SLOW_MS,
  );

  test(
    "into a thread is sent there",
    async () => {
      await open();
      const row = await part("in the thread");
      await world.channel.send({ ...row, to: { ...world.here, chat: PLACES.room, thread: PLACES.thread } }, NEVER);
      expect(world.fake.state.messages(PLACES.thread).map(({ content }) => content)).toEqual(["in the thread"]);
    },
    SLOW_MS,
  );

  test(
    "that takes long to upload is waited for, and can be given up",
    async () => {
      await open();
      const attachments = [await media("large.bin", 3_000_000)];
      const slow = await part("slow", { attachments });
      world.fake.rest.misbehave("late");
      const sending = world.channel.send(slow, NEVER);
      await eventually("Discord has it", () => inDm().length === 1);
      world.fake.rest.letGo();
      expect((await sending).providerId).toBe(inDm()[0]?.id ?? "");
      const giveUp = new AbortController();
      const given = world.channel.send(await part("never"), giveUp.signal).catch((error: SendError) => error);
      await eventually("Discord has it too", () => inDm().length === 2);
      giveUp.abort(new Error("given up"));
      expect(((await given) as SendError).kind).toBe("lost");
    },
    SLOW_MS,
  );

  test(
    "that meets a server error is tried again",
    async () => {
      await open();
      world.fake.rest.misbehave("broken");
      expect((await failing(await part("x"))).kind).toBe("retry");
    },
    SLOW_MS,
  );
});

describe("a message", () => {
  const targetOf = (messageId: string) => ({ to: world.here, sessionKey: "" as OutboxRow["sessionKey"], messageId });

  test(
    "gets and loses reactions, and is pinned and unpinned",
    async () => {
      await open();
      const { id } = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "hi" });
      const found = () => world.fake.state.find(PLACES.dm, id);
      await world.channel.react?.(targetOf(id), { emoji: ["👍", "🎉"], remove: false }, NEVER);
      expect(found()?.reactions).toEqual(["👍", "🎉"]);
      await world.channel.react?.(targetOf(id), { emoji: ["👍"], remove: true }, NEVER);
      expect(found()?.reactions).toEqual(["🎉"]);
      await world.channel.pin?.(targetOf(id), false, NEVER);
      expect(found()?.pinned).toBe(true);
      await world.channel.pin?.(targetOf(id), true, NEVER);
      expect(found()?.pinned).toBe(false);
    },
    SLOW_MS,
  );

  test(
    "of somebody else is neither changed nor deleted, although a bot might",
    async () => {
      await open();
      const { id } = world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "hi" });
      const refused = { kind: "refused", because: "Only your own messages can be changed or deleted." };
      expect(await world.channel.edit?.(targetOf(id), "changed", NEVER)).toEqual(refused as never);
      expect(await world.channel.delete?.(targetOf(id), NEVER)).toEqual(refused as never);
      expect(world.fake.state.find(PLACES.dm, id)?.content).toBe("hi");
    },
    SLOW_MS,
  );

  test(
    "that would become too long is left as it is",
    async () => {
      await open();
      const { providerId = "" } = await world.channel.send(await part("short"), NEVER);
      const result = await world.channel.edit?.(targetOf(providerId), "x ".repeat(1_500), NEVER);
      expect(result).toMatchObject({ kind: "refused", because: expect.stringContaining("2000") });
      expect(inDm().map(({ content }) => content)).toEqual(["short"]);
    },
    SLOW_MS,
  );
});

describe("a file", () => {
  test.each([
    ["https://cdn.discordapp.com/attachments/1/2/a.png", true],
    ["https://media.discordapp.net/a.png", true],
    ["http://cdn.discordapp.com/a.png", false],
    ["https://cdn.discordapp.com.evil.example/a.png", false],
    ["https://user@evil.example/cdn.discordapp.com", false],
    ["http://169.254.169.254/latest", false],
    ["file:///etc/passwd", false],
    ["nonsense", false],
  ])("at %s is fetched: %p", (url, allowed) => {
    expect(mayDownload(url, "https://discord.com/api")).toBe(allowed);
  });
});
