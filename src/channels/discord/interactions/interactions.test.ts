/** Slash commands and buttons: from whom they really are, once, and nothing from anybody who only pretends to be Discord. */
import { afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import type { OpenChannel } from "../../../contracts/channels/platform.ts";
import type { AccountState } from "../../kit/index.ts";
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { deferred } from "../../../kit/deferred.ts";
import { writeOutJson } from "../../../kit/marks/written-out.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { commanded, type DiscordWorld, discordWorld, pressed } from "../../../testing/discord/discord-world.ts";
import { BOT, PEOPLE, PLACES } from "../../../testing/discord/fake-people.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { snowflakeAt } from "../settings.ts";
import { createReplays } from "./replays.ts";
import { approvalText, readApprovalButton } from "./approvals.ts";
import { verifyRequest } from "./signature.ts";
import { menuOf } from "./menu.ts";

const NEVER = new AbortController().signal;
const SLOW_MS = 60_000;
let keys: CryptoKeyPair;
let publicKey: string;
let world: DiscordWorld;
beforeAll(async () => {
  keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  publicKey = Buffer.from(await crypto.subtle.exportKey("raw", keys.publicKey)).toString("hex");
});
afterEach(() => world?.[Symbol.asyncDispose]());

const DM = { channel: "discord", account: "default", chat: PLACES.dm };
const THREAD = { channel: "discord", account: "default", chat: PLACES.room, thread: PLACES.thread };
const WEB = { channel: "webchat", account: "default", chat: "1" };
const question = (id: string, origin: ChatAddress = DM): PendingApproval => ({
  id,
  tool: "run_it",
  input: { what: "all" },
  shown: '{ "what": "all" }',
  sessionKey: "agent:default:main" as SessionKey,
  turnId: "t" as TurnId,
  origin,
  principal: "operator" as Principal,
  askedAt: 1,
  expiresAt: 2,
  callId: "call_1",
  because: "it asks",
});
const callbacks = () => world.fake.rest.calls.filter(({ path }) => path.endsWith("/callback"));
const happens = ({ event, payload }: { event: string; payload: unknown }) =>
  world.fake.gateway.dispatch(event, payload);
/** What comes over the connection comes in order: when this is stored, what came before it has been looked at. */
async function fence(): Promise<void> {
  world.fake.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "fence" });
  await eventually("the fence is stored", () => world.bench.stored.some(({ text }) => text === "fence"));
}
const withoutFence = () => world.bench.stored.filter(({ text }) => text !== "fence");

describe("a slash command", () => {
  test(
    "is registered with its help, once, and again only when it changed",
    async () => {
      world = await discordWorld();
      expect(world.fake.rest.commands()).toEqual([{ name: "status", type: 1, description: "How things are" }] as never);
      const registered = () => world.fake.rest.calls.filter(({ path }) => path.endsWith("/commands")).length;
      expect(registered()).toBe(1);
      const noted = () => world.bench.log.lines.some(({ words }) => words === "Discord commands registered");
      await eventually("that is noted", noted);
      await world.reopen();
      await fence();
      await world.close(); // waits for what is under way
      expect(registered()).toBe(1);
    },
    SLOW_MS,
  );

  test(
    "is a message of whoever used it, and is confirmed to them alone",
    async () => {
      world = await discordWorld();
      happens(commanded(world.fake, { channel: PLACES.room, by: "other", name: "status", text: " all of it " }));
      await eventually("it is answered", () => callbacks().length === 1);
      expect(world.bench.stored[0]).toMatchObject({
        text: "/status all of it",
        mentioned: true,
        scope: "group",
        place: PLACES.guild,
        sender: { principal: `discord:user:${PEOPLE.other.id}` },
      });
      expect(callbacks()[0]?.json).toMatchObject({ type: 4, data: { flags: 64 } });
    },
    SLOW_MS,
  );

  test(
    "of a stranger is nothing, and of another application too",
    async () => {
      world = await discordWorld();
      world.bench.strangers.set(`discord:user:${PEOPLE.stranger.id}` as Principal, null);
      happens(commanded(world.fake, { channel: PLACES.room, by: "stranger", name: "status" }));
      const foreign = commanded(world.fake, { channel: PLACES.room, by: "other", name: "status" });
      happens({ ...foreign, payload: { ...foreign.payload, application_id: "200000000000000009" } });
      await fence();
      expect(withoutFence()).toEqual([]);
      expect(world.bench.arrivals).toHaveLength(2); // the stranger, and the fence
      expect(callbacks()).toEqual([]);
    },
    SLOW_MS,
  );

  test("with a name or help that Discord does not take is left out or cut", () => {
    const menu = menuOf([
      { name: "ok", help: "x".repeat(300), usage: "[words]" },
      { name: "Not Ok", help: "no" },
    ]);
    expect(menu.map(({ name }) => name)).toEqual(["ok"]);
    expect(menu[0]).toMatchObject({ description: "x".repeat(100), options: [{ name: "text", required: false }] });
  });
});

test("an interaction that is too old to be told from a repeat does not count, nor does one with no time in its id", async () => {
  const clock = createFakeClock();
  const kept = new Map<string, string>();
  const facts = {
    get: async (key: string) => kept.get(key) ?? null,
    put: async (key: string, value: string) => void kept.set(key, value),
  } as unknown as AccountState;
  const replays = createReplays({ clock, facts });
  const idAt = (ageMs: number) => snowflakeAt(clock.now() - ageMs);
  expect(await replays.take(idAt(1_000))).toBe("first");
  expect(await replays.take(idAt(1_000))).toBe("again");
  expect(await replays.take(idAt(3_600_000))).toBe("again");
  expect(await replays.take("not-a-number")).toBe("again");
});

const shownIn = (channel: string) => world.fake.state.messages(channel).filter(({ author }) => author.id === BOT.id);
/** An approval is asked for. Resolves with the message that shows it. */
async function asked(question: PendingApproval): Promise<string> {
  const { chat, thread = chat } = question.origin;
  world.bench.questions.push(question);
  world.bench.deps.events.emit("approval", { ...question, decision: null });
  const find = () => shownIn(thread).find(({ components }) => JSON.stringify(components).includes(question.id));
  await eventually("it is shown", () => find() !== undefined);
  await fence(); // its id is known by now
  return find()?.id ?? "";
}

describe("a question to owners", () => {
  test(
    "is shown with buttons where it comes from, decided by an owner, and closed then",
    async () => {
      world = await discordWorld();
      world.bench.deps.events.emit("approval", { ...question("q2", WEB), decision: null });
      const under = await asked(question("q1"));
      const shown = () => shownIn(PLACES.dm);
      expect(shown()).toHaveLength(1);
      expect(shown()[0]?.content).toContain('"what": "all"');
      const custom = "approval:once:q1";
      expect(JSON.stringify(shown()[0]?.components)).toContain(custom);
      const posts = () => world.fake.rest.calls.filter(({ path }) => path.endsWith("/messages")).length;
      const before = posts();
      await world.bench.clock.advance(5_000);
      await fence();
      expect([shown().length, posts()]).toEqual([1, before]); // and Discord is not asked again either
      happens(pressed(world.fake, { channel: PLACES.dm, by: "friend", custom, under }));
      await eventually("it is decided", () => world.bench.decided.length === 1);
      expect(world.bench.decided).toEqual([`q1 once discord:user:${PEOPLE.friend.id}`]);
      await eventually("its buttons are gone", () => JSON.stringify(shown()[0]?.components) === "[]");
      expect(shown()[0]?.content).toBe("Allowed once by Frida.");
    },
    SLOW_MS,
  );

  test(
    "that nobody answered loses its buttons, and the chat reads how long it waited and what to do",
    async () => {
      world = await discordWorld();
      const { input: _input, shown: _shown, ...known } = question("q1", THREAD);
      await asked(question("q1", THREAD));
      const shown = () => shownIn(PLACES.thread);
      world.bench.questions.length = 0;
      const say = "It was not run: nobody answered within 10 minutes. Ask again.";
      world.bench.deps.events.emit("approval", { ...known, decision: "expired", by: null, say });
      await eventually("the chat is told", () => shown().at(-1)?.content === say);
      expect(JSON.stringify(shown()[0]?.components)).toBe("[]");
    },
    SLOW_MS,
  );

  test.each([
    ["before the channel was open", true],
    ["after that", false],
  ])(
    "that a turn of a previous process asks, %s, is shown where it says, although nobody has written since",
    async (_when, early) => {
      world = await discordWorld();
      await world.close();
      if (early) world.bench.questions.push(question("q1", THREAD), question("q2", WEB));
      await world.reopen();
      if (!early) await asked(question("q1", THREAD));
      await eventually("it is shown", () => shownIn(PLACES.thread).length === 1);
      expect(JSON.stringify(shownIn(PLACES.thread)[0]?.components)).toContain("approval:once:q1");
      expect(shownIn(PLACES.dm)).toEqual([]);
    },
    SLOW_MS,
  );

  test.each([
    ["a member", "member" as const, false],
    ["a stranger", "owner" as const, true],
  ])(
    "is not decided by %s",
    async (_who, role, isStranger) => {
      world = await discordWorld();
      const under = await asked(question("q1"));
      world.bench.arrivals.length = 0;
      world.bench.stored.length = 0;
      world.bench.role = role;
      if (isStranger) world.bench.strangers.set(`discord:user:${PEOPLE.other.id}` as Principal, null);
      happens(pressed(world.fake, { channel: PLACES.dm, by: "other", custom: "approval:once:q1", under }));
      if (!isStranger) await eventually("it is answered", () => callbacks().length === 1);
      await eventually("the door was asked", () => world.bench.arrivals.length === 1);
      world.bench.strangers.clear();
      await fence();
      expect(world.bench.decided).toEqual([]);
      expect(callbacks().length).toBe(isStranger ? 0 : 1);
      expect(world.bench.arrivals[0]?.kind).toBe("action");
    },
    SLOW_MS,
  );

  test(
    "is decided once, however often the button is pressed or the press is told",
    async () => {
      world = await discordWorld();
      const under = await asked(question("q1"));
      world.bench.stored.length = 0;
      const press = pressed(world.fake, { channel: PLACES.dm, by: "friend", custom: "approval:deny:q1", under });
      happens(press);
      happens(press);
      happens(pressed(world.fake, { channel: PLACES.dm, by: "friend", custom: "approval:once:q1", under }));
      await eventually("both presses are answered", () => callbacks().length === 2);
      await fence();
      expect(world.bench.decided).toEqual([`q1 deny discord:user:${PEOPLE.friend.id}`]);
      expect(callbacks().length).toBe(2);
    },
    SLOW_MS,
  );

  test(
    "is not decided by a bot, whatever rights its id has",
    async () => {
      world = await discordWorld();
      const under = await asked(question("q1"));
      world.bench.stored.length = 0;
      const press = { channel: PLACES.dm, by: "friend", custom: "approval:once:q1", under } as const;
      const { event, payload } = pressed(world.fake, press);
      const { user, member, ...rest } = payload as Record<string, unknown>;
      const bot = { ...(user ?? (member as { user: object }).user), bot: true };
      happens({ event, payload: { ...rest, user: bot } });
      await fence();
      expect([world.bench.decided, callbacks()]).toEqual([[], []]);
    },
    SLOW_MS,
  );

  test("is shown whole, with nothing hidden in it, or not at all", () => {
    const sly = approvalText({ tool: "run", shown: writeOutJson({ a: "``` \u202E x" }) });
    expect(sly).toContain("\\u0060\\u0060\\u0060 \\u202e x");
    expect(approvalText({ tool: "run", shown: "x".repeat(5_000) })).toBeNull();
    expect(readApprovalButton("approval:once:a:b")).toEqual({ approval: "a:b", decision: "once" });
    for (const foreign of ["", "approval:maybe:a", "approval:once:", "other:once:a"])
      expect(readApprovalButton(foreign)).toBeNull();
  });
});

describe("a request to the webhook", () => {
  interface Forged {
    readonly at?: number;
    readonly body?: string;
    readonly signature?: string;
  }
  async function post(channel: OpenChannel, payload: unknown, forged: Forged = {}) {
    const text = JSON.stringify(payload);
    const timestamp = String(Math.floor((forged.at ?? world.bench.clock.now()) / 1_000));
    const signed = await crypto.subtle.sign("Ed25519", keys.privateKey, Buffer.from(timestamp + text));
    const headers = new Headers({
      "x-signature-ed25519": forged.signature ?? Buffer.from(signed).toString("hex"),
      "x-signature-timestamp": timestamp,
    });
    if (!channel.webhook) throw new Error("no webhook");
    return channel.webhook.handle({ headers, body: Buffer.from(forged.body ?? text) }, NEVER);
  }
  const ping = { id: "1", type: 1, application_id: BOT.applicationId };

  test(
    "that is a ping is answered, and only when it is signed",
    async () => {
      world = await discordWorld({ publicKey });
      expect(world.channel.webhook?.path).toBe("/discord/interactions");
      expect(await post(world.channel, ping)).toEqual({ status: 200, json: { type: 1 } });
      const others: readonly Forged[] = [
        { signature: "00".repeat(64) },
        { signature: "" },
        { signature: "zz".repeat(64) },
        { body: `${JSON.stringify(ping)} ` },
        { at: world.bench.clock.now() - 301_000 },
        { at: world.bench.clock.now() + 301_000 },
      ];
      for (const forged of others) expect(await post(world.channel, ping, forged)).toEqual({ status: 401 });
    },
    SLOW_MS,
  );

  test.each([
    ["the neutral point", `01${"0".repeat(62)}`],
    ["a point of order two", `ec${"f".repeat(60)}7f`],
    ["a point of order eight", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ])("that fits a public key of small order was signed by anybody, and is refused: %s", async (_what, weak) => {
    // R neutral and S = 0: it fits whenever the digest of a request is a multiple of the order of the key, which is 1, 2 or 8 here
    const signature = `01${"0".repeat(126)}`;
    const timestamp = "1700000000";
    const verdicts = new Set<string>();
    for (let n = 0; n < 200; n++) {
      const headers = new Headers({ "x-signature-ed25519": signature, "x-signature-timestamp": timestamp });
      verdicts.add(await verifyRequest({ headers, body: Buffer.from(`{"n":${n}}`) }, weak, 1_700_000_000_000));
    }
    expect([...verdicts]).toEqual(["forged"]);
  });

  test(
    "that is signed and no interaction is refused",
    async () => {
      world = await discordWorld({ publicKey });
      for (const nonsense of [null, [], "x", {}, { id: 1, type: 2 }])
        expect(await post(world.channel, nonsense)).toEqual({ status: 400 });
      expect(await post(world.channel, ping, { body: "" })).toEqual({ status: 401 });
    },
    SLOW_MS,
  );

  test(
    "that is a command is stored and confirmed in the answer; repeated, also after a restart, it has no effect",
    async () => {
      world = await discordWorld({ publicKey });
      const { payload } = commanded(world.fake, { channel: PLACES.dm, by: "friend", name: "status" });
      expect(await post(world.channel, payload)).toMatchObject({ status: 200, json: { type: 4, data: { flags: 64 } } });
      expect(await post(world.channel, payload)).toEqual({ status: 403 });
      await world.reopen();
      expect(await post(world.channel, payload)).toEqual({ status: 403 });
      await world.bench.clock.advance(200_000);
      expect(await post(world.channel, payload)).toEqual({ status: 403 });
      expect(world.bench.stored.length).toBe(1);
      expect(world.fake.rest.calls.filter(({ path }) => path.endsWith("/callback"))).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "that is a press counts once, over the webhook and the gateway together",
    async () => {
      world = await discordWorld({ publicKey });
      const under = await asked(question("q1"));
      world.bench.stored.length = 0;
      const press = pressed(world.fake, { channel: PLACES.dm, by: "friend", custom: "approval:session:q1", under });
      expect(await post(world.channel, press.payload)).toMatchObject({ status: 200, json: { type: 7 } });
      happens(press);
      await fence();
      expect(world.bench.decided).toEqual([`q1 session discord:user:${PEOPLE.friend.id}`]);
    },
    SLOW_MS,
  );

  test(
    "that is a press counts when it is stored that it was here, and not before",
    async () => {
      world = await discordWorld({ publicKey });
      const { facts } = world.bench.deps;
      const under = await asked(question("q1"));
      world.bench.stored.length = 0;
      const press = pressed(world.fake, { channel: PLACES.dm, by: "friend", custom: "approval:once:q1", under });
      const { put } = facts;
      let storing = (): Promise<void> => Promise.reject(new Error("the disk is full"));
      using _spy = spyOn(facts, "put").mockImplementation((channel, account, key, value) =>
        key === "interactions" ? storing() : put(channel, account, key, value),
      );
      await expect(post(world.channel, press.payload)).rejects.toThrow("the disk is full");
      expect(world.bench.decided).toEqual([]);
      const stored = deferred<void>();
      storing = () => stored.promise;
      const answer = post(world.channel, press.payload);
      await fence();
      expect(world.bench.decided).toEqual([]);
      stored.resolve();
      expect(await answer).toMatchObject({ status: 200, json: { type: 7 } });
      expect(world.bench.decided).toEqual([`q1 once discord:user:${PEOPLE.friend.id}`]);
    },
    SLOW_MS,
  );

  test(
    "of a stranger leaves no trace",
    async () => {
      world = await discordWorld({ publicKey });
      world.bench.strangers.set(`discord:user:${PEOPLE.stranger.id}` as Principal, null);
      const { payload } = commanded(world.fake, { channel: PLACES.room, by: "stranger", name: "status" });
      expect(await post(world.channel, payload)).toEqual({ status: 403 });
      expect(await world.bench.deps.facts.get("discord", "default", "interactions")).toBeNull();
    },
    SLOW_MS,
  );

  test(
    "is not taken where no key is configured",
    async () => {
      world = await discordWorld();
      expect(world.channel.webhook).toBeUndefined();
    },
    SLOW_MS,
  );
});

test("the menu is registered for the application that the settings name, and else for that of the bot", async () => {
  const paths = async (settings: Parameters<typeof discordWorld>[0]) => {
    await using here = await discordWorld(settings);
    return here.fake.rest.calls.map(({ path }) => path).filter((path) => path.endsWith("/commands"));
  };
  expect(new Set(await paths({ applicationId: "4242" }))).toEqual(new Set(["/applications/4242/commands"]));
  expect(new Set(await paths({}))).toEqual(new Set([`/applications/${BOT.applicationId}/commands`]));
});
