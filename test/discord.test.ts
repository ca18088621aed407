/** Discord in a whole gateway: a fake of the platform on one side, a real pi on the other. What counts is what people see in the chat. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemClock } from "../src/kit/clock.ts";
import { deferred } from "../src/kit/deferred.ts";
import { commanded } from "../src/testing/discord/discord-world.ts";
import { type FakeDiscord, startFakeDiscord } from "../src/testing/discord/fake-discord.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "../src/testing/discord/fake-people.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, statusOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const HEARTBEAT_MS = 5_000;
let provider: FakeProvider;
let discord: FakeDiscord;
let gateway: GatewayProcess;
let keys: CryptoKeyPair;
let publicKey = "";
let reply: () => FakeReply = () => says("ok");

const config = () => ({
  ...endpoint(provider),
  roles: { owners: [`discord:user:${PEOPLE.friend.id}`] },
  channels: {
    discord: {
      token: BOT_TOKEN,
      apiRoot: discord.apiRoot,
      publicKey,
      guilds: { [PLACES.guild]: { channels: [PLACES.room], allowFrom: [PEOPLE.other.id], role: "guest" } },
    },
  },
});

beforeAll(async () => {
  keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  publicKey = Buffer.from(await crypto.subtle.exportKey("raw", keys.publicKey)).toString("hex");
  provider = await startFakeProvider(() => reply());
  discord = await startFakeDiscord({ now: () => systemClock.now(), heartbeatMs: HEARTBEAT_MS });
  gateway = await startGatewayProcess({ config: config() });
  await connected();
  await eventually(
    "the bot is signed in at Discord",
    async () => (await statusOf(gateway)).channels.find(({ id }) => id === "discord")?.ok,
    (ok) => ok === true,
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await discord?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const connected = () =>
  eventually(
    "the bot is connected",
    () => discord.gateway.connections(),
    (count) => count === 1,
  );
const tell = (content: string, channel: string = PLACES.dm, author: keyof typeof PEOPLE = "friend") =>
  discord.say({ channel, author: PEOPLE[author], content });
const ours = (channel: string = PLACES.dm) =>
  discord.state.messages(channel).filter(({ author }) => author.id === BOT.id);
const texts = (channel: string = PLACES.dm) => ours(channel).map(({ content }) => content);

describe("a person on Discord", () => {
  test("writes to the bot and is answered once", async () => {
    reply = () => says("**Hello** from pi");
    tell("good morning");
    await eventually("the answer on Discord", texts, (seen) => seen.includes("**Hello** from pi"));
    expect(texts()).toEqual(["**Hello** from pi"]);
    expect(discord.rest.calls.some(({ path }) => path.endsWith("/typing"))).toBe(true);
    const channels = JSON.stringify((await statusOf(gateway)).channels);
    expect(channels).toContain("discord");
  });

  test("sees a long answer grow in one message, which becomes the answer", async () => {
    const gate = deferred<void>();
    reply = () => says("The first half of it, ", gate.promise, "and the second half.");
    tell("tell me more");
    const growing = () => ours().find(({ content }) => content.startsWith("The first half"));
    const preview = await eventually("the beginning of the answer", growing, (seen) => seen !== undefined);
    gate.resolve();
    await eventually("the whole answer", texts, (seen) => seen.includes("The first half of it, and the second half."));
    const shown = ours().filter(({ content }) => content.startsWith("The first half"));
    expect(shown.map(({ id }) => id)).toEqual([preview?.id ?? ""]);
  });

  test("is answered in a listed channel when the bot is meant, and in its threads there", async () => {
    reply = () => says("in the room");
    const before = provider.requests.length;
    tell("among ourselves", PLACES.room, "other");
    tell(`<@${BOT.id}> help us`, PLACES.room, "other");
    await eventually(
      "one message in the channel",
      () => texts(PLACES.room),
      (seen) => seen.length === 1,
    );
    reply = () => says("in the thread");
    tell(`<@${BOT.id}> and here`, PLACES.thread, "other");
    await eventually(
      "the answer in the thread",
      () => texts(PLACES.thread),
      (seen) => seen.includes("in the thread"),
    );
    expect(texts(PLACES.room)).toEqual(["in the room"]);
    const questions = provider.requests.slice(before).map(asked);
    expect(questions.some((words) => words.includes("among ourselves"))).toBe(false);
    const sessions = (await (await gateway.fetch("/api/sessions")).json()) as { items: { key: string }[] };
    const keysNow = sessions.items.map(({ key }) => key);
    expect(keysNow).toContain(`agent:default:discord:group:${PLACES.room}`);
    expect(keysNow).toContain(`agent:default:discord:group:${PLACES.room}:topic:${PLACES.thread}`);
  });

  test("uses the gateway's commands, which are in the menu", async () => {
    const before = provider.requests.length;
    expect(discord.rest.commands().map(({ name }) => name)).toContain("status");
    const { event, payload } = commanded(discord, { channel: PLACES.dm, by: "friend", name: "status" });
    discord.gateway.dispatch(event, payload);
    await eventually("the answer to the command", texts, (seen) => seen.some((text) => text.includes("fake-1")));
    expect(provider.requests.length).toBe(before);
    expect(discord.rest.calls.filter(({ path }) => path.endsWith("/callback")).length).toBe(1);
  });

  test("who is not known gets a pairing code, once, and nothing reaches a model", async () => {
    const before = provider.requests.length;
    tell("let me in", PLACES.strangersDm, "stranger");
    tell("please", PLACES.strangersDm, "stranger");
    tell(`<@${BOT.id}> hello?`, PLACES.room, "stranger");
    reply = () => says("to the owner");
    // what is said in one channel is dealt with in order: when an owner is answered there, nothing before it is under way any more
    tell("and me?", PLACES.strangersDm, "friend");
    tell(`<@${BOT.id}> and me?`, PLACES.room, "other");
    for (const channel of [PLACES.strangersDm, PLACES.room])
      await eventually(
        "the pairing code",
        () => texts(channel),
        (seen) => seen.includes("to the owner"),
      );
    expect(texts(PLACES.strangersDm)).toEqual([expect.stringMatching(/[A-Z2-9]{8}/), "to the owner"]);
    expect(texts(PLACES.room)).toEqual(["in the room", "to the owner"]);
    expect(provider.requests.slice(before).every((one) => asked(one).includes("and me?"))).toBe(true);
  });
});

describe("POST /discord/interactions", () => {
  async function post(payload: unknown, spoiled = false): Promise<Response> {
    const text = JSON.stringify(payload);
    const timestamp = String(Math.floor(systemClock.now() / 1_000));
    const signed = Buffer.from(await crypto.subtle.sign("Ed25519", keys.privateKey, Buffer.from(timestamp + text)));
    const headers = {
      "content-type": "application/json",
      "x-signature-ed25519": signed.toString("hex"),
      "x-signature-timestamp": timestamp,
    };
    return fetch(`${gateway.url}/discord/interactions`, { method: "POST", headers, body: spoiled ? `${text} ` : text });
  }

  test("answers Discord, and nobody else", async () => {
    const ping = { id: "1", type: 1, application_id: BOT.applicationId };
    const pong = await post(ping);
    expect([pong.status, await pong.json()]).toEqual([200, { type: 1 }]);
    expect((await post(ping, true)).status).toBe(401);
  });

  test("takes a command once, also when the same request comes again", async () => {
    const { payload } = commanded(discord, { channel: PLACES.dm, by: "friend", name: "help" });
    const before = texts().length;
    expect((await post(payload)).status).toBe(200);
    expect((await post(payload)).status).not.toBe(200);
    const after = commanded(discord, { channel: PLACES.dm, by: "friend", name: "status" });
    expect((await post(after.payload)).status).toBe(200);
    await eventually("the answer to the command", texts, (seen) =>
      seen.slice(before).some((text) => text.includes("fake-1")),
    ); // replies of a chat keep their order
    expect(texts().length).toBe(before + 2);
  });
});

describe("trouble at Discord", () => {
  test("a lost answer is sent again and shown once", async () => {
    reply = () => says("only once");
    discord.rest.misbehave("cut");
    tell("lose it");
    const tries = () =>
      discord.rest.calls.filter(({ json }) => (json as { content?: string } | null)?.content === "only once").length;
    await eventually("a second attempt to send", tries, (count) => count >= 2);
    discord.rest.misbehave(null);
    await eventually(
      "an empty outbox",
      () => statusOf(gateway),
      ({ outbox }) => outbox.pending === 0,
    );
    expect(texts().filter((text) => text === "only once")).toHaveLength(1);
    expect((await statusOf(gateway)).outbox).toMatchObject({ dead: 0, ambiguous: 0 });
  });

  test("a dropped connection is resumed, and a message in between is answered", async () => {
    reply = () => says("back again");
    const lost = discord.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "in between" });
    discord.gateway.keepBack("MESSAGE_CREATE", discord.state.asEvent(lost));
    discord.gateway.drop(4000);
    await eventually("the answer after the resume", texts, (seen) => seen.includes("back again"));
    expect(discord.gateway.resumes.length).toBe(1);
  });
});

describe("a gateway that is killed", () => {
  test("while it answers goes on in the message it had begun, and forgets nothing that was said", async () => {
    const [more, gate] = [deferred<void>(), deferred<void>()];
    reply = () => says("Half an answer ", more.promise, "that goes on ", gate.promise, "never ends here");
    tell("kill me now");
    const begun = () => ours().find(({ content }) => content.startsWith("Half an answer"));
    await eventually("the beginning of the answer", begun, (seen) => seen !== undefined);
    more.resolve();
    // edited, so the gateway knows which message it is: one that dies before it hears that cannot find it again
    const preview = await eventually(
      "more of the beginning",
      begun,
      (seen) => seen?.content.includes("that goes on") === true,
    );
    await gateway.kill();
    tell("and this came while you were away");
    reply = () => says("A whole answer");
    gate.resolve();
    gateway = await startGatewayProcess({ config: config(), home: gateway.home });
    await eventually(
      "both whole answers",
      texts,
      (seen) => seen.filter((text) => text === "A whole answer").length === 2,
      40_000,
    );
    expect(begun()).toBeUndefined();
    expect(ours().find(({ id }) => id === preview?.id)?.content).toBe("A whole answer");
    expect(provider.requests.map(asked).some((words) => words.includes("while you were away"))).toBe(true);
  });
});
