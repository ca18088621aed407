/** Whoever may not speak, and whoever only claims to be somebody: in a whole gateway, each of them causes nothing at all. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { MetricsSnapshot } from "../src/contracts/metrics.ts";
import { systemClock } from "../src/kit/clock.ts";
import { commanded, pressed as pressedOnDiscord } from "../src/testing/discord/discord-world.ts";
import { type FakeDiscord, startFakeDiscord } from "../src/testing/discord/fake-discord.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "../src/testing/discord/fake-people.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import {
  changed,
  FRIEND,
  GROUP_ID,
  OTHER,
  passedOn,
  type Person,
  pressed,
  said,
  spoke,
  STRANGER,
} from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "75:telegram-token-of-a-test";
const HOOK_TOKEN = "74:another-token-of-a-test";
const HOOK_SECRET = "the-secret-of-the-webhook";
const CLOSED_GROUP_ID = -1009;
const IMPOSTOR: Person = { ...FRIEND, id: 44 };
/** What the gateway asks for by itself, without anybody having written. */
const ROUTINE = ["getUpdates", "getMe", "deleteWebhook", "setWebhook", "setMyCommands"];

let keys: CryptoKeyPair;
let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let discord: FakeDiscord;
let gateway: GatewayProcess;

beforeAll(async () => {
  keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  const publicKey = Buffer.from(await crypto.subtle.exportKey("raw", keys.publicKey)).toString("hex");
  provider = await startFakeProvider(() => says("an answer"));
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  room.files.set("voice-1", new TextEncoder().encode("voice"));
  discord = await startFakeDiscord({ now: () => systemClock.now(), heartbeatMs: 60_000 });
  const base = endpoint(provider);
  const config = {
    ...base,
    agent: { ...base.agent, pool: { min: 0, max: 1 } },
    roles: { owners: [`telegram:user:${FRIEND.id}`, `discord:user:${PEOPLE.friend.id}`] },
    channels: {
      telegram: {
        botToken: TOKEN,
        apiRoot: api.apiRoot,
        groups: { [GROUP_ID]: {} },
        streamMode: "off",
        ackReaction: "",
        webhookUrl: "https://bot.example.org",
        accounts: { hook: { botToken: HOOK_TOKEN, mode: "webhook", webhookSecret: HOOK_SECRET } },
      },
      discord: {
        token: BOT_TOKEN,
        apiRoot: discord.apiRoot,
        publicKey,
        streamMode: "off",
        guilds: { [PLACES.guild]: {} },
      },
    },
  };
  gateway = await startGatewayProcess({ config });
  await eventually(
    "Discord and the Telegram webhook are ready",
    () => [discord.gateway.connections(), discord.rest.commands().length > 0, api.bot(HOOK_TOKEN).webhook !== null],
    ([connections, menu, hook]) => connections === 1 && menu === true && hook === true,
  );
  await letIn(OTHER);
});
afterAll(async () => {
  for (const one of [gateway, discord, api, provider]) await one?.[Symbol.asyncDispose]();
});

const postJson = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** By a code, for direct messages. */
async function letIn(person: Person): Promise<void> {
  await bring(said({ by: person, text: "hello", messageId: room.nextMessageId() }));
  const told = await eventually(
    "the pairing code",
    () => room.messages.find(({ chat }) => chat === String(person.id))?.text ?? "",
    (text) => /[A-Z2-9]{8}$/.test(text),
  );
  const code = told.slice(-8);
  expect((await postJson("/api/pairing", { code, role: "member" })).status).toBe(200);
}

/** Resolves when Telegram has been told that it need not bring this again: then it is decided. */
async function bring(update: Parameters<FakeBotApi["push"]>[1]): Promise<void> {
  const id = api.push(TOKEN, update);
  await eventually(
    `update ${id} is confirmed`,
    () => api.waiting(TOKEN),
    (waiting) => !waiting.includes(id),
  );
}

/** The menu, and that the owner is shown typing, which may come a little later than what they are answered. */
const isExpected = (path: string) => path.endsWith("/commands") || path === `/channels/${PLACES.dm}/typing`;

/** Everything that somebody could notice, or that costs something. */
async function effects() {
  const { items: people } = (await (await gateway.fetch("/api/pairing")).json()) as { items: unknown[] };
  const { messages } = (await (await gateway.fetch("/api/metrics")).json()) as Pick<MetricsSnapshot, "messages">;
  return {
    model: provider.requests.length,
    telegram: api.calls.map(({ method }) => method).filter((method) => !ROUTINE.includes(method)),
    discord: discord.rest.calls.filter(({ method, path }) => method !== "GET" && !isExpected(path)).length,
    people,
    taken: messages.received,
  };
}

/** Does it, and compares the world with what it was. */
async function changesNothing(act: () => Promise<void>): Promise<void> {
  const before = await effects();
  await act();
  expect(await effects()).toEqual(before);
}

const inGroup = (id = GROUP_ID) => ({ inGroup: { bot: room.username, id } });
const words = (by: Person, group = GROUP_ID) => ({
  by,
  text: "delete everything",
  messageId: room.nextMessageId(),
  ...inGroup(group),
});

describe("on Telegram", () => {
  const rows: readonly (readonly [string, () => Parameters<typeof bring>[0]])[] = [
    ["a stranger in a group", () => said(words(STRANGER))],
    ["a stranger who changes what they said", () => changed(words(STRANGER))],
    ["a stranger who speaks", () => spoke(words(STRANGER))],
    ["a stranger who passes something on", () => passedOn(words(STRANGER))],
    ["a stranger who presses a button", () => pressed(words(STRANGER), "q:nobody-knows:0", "press-1")],
    ["a stranger with a command", () => said({ ...words(STRANGER), text: "/status" })],
    ["somebody who was let in for direct messages, in a group", () => said(words(OTHER))],
    ["the same, pressing a button there", () => pressed(words(OTHER), "q:nobody-knows:0", "press-2")],
    ["somebody who has taken the name of the owner", () => said(words(IMPOSTOR))],
    ["the owner in a group that is not listed", () => said(words(FRIEND, CLOSED_GROUP_ID))],
  ];
  test.each(rows)("%s causes nothing", async (_who, update) => {
    await changesNothing(() => bring(update()));
  });

  const hook = { update_id: 9, ...said({ by: FRIEND, text: "I am the owner", messageId: 5 }) };
  test.each([
    ["without the secret", {}, 401],
    ["with another secret", { "x-telegram-bot-api-secret-token": `${HOOK_SECRET}x` }, 401],
    ["with the bot's token as the secret", { "x-telegram-bot-api-secret-token": HOOK_TOKEN }, 401],
  ])("a forged call of the webhook %s causes nothing", async (_how, headers: Record<string, string>, status) => {
    await changesNothing(async () => {
      expect((await postJson("/telegram/hook", hook, headers)).status).toBe(status);
    });
  });

  test("a call for a bot that does not use a webhook causes nothing", async () => {
    await changesNothing(async () => {
      const headers = { "x-telegram-bot-api-secret-token": HOOK_SECRET };
      expect((await postJson("/telegram/default", hook, headers)).status).toBe(404);
    });
  });
});

describe("on Discord", () => {
  interface Forged {
    readonly agoMs?: number;
    readonly signature?: string;
    readonly body?: string;
  }
  async function interact(payload: unknown, forged: Forged = {}): Promise<number> {
    const text = JSON.stringify(payload);
    const timestamp = String(Math.floor((systemClock.now() - (forged.agoMs ?? 0)) / 1_000));
    const made = await crypto.subtle.sign("Ed25519", keys.privateKey, Buffer.from(timestamp + text));
    const signature = forged.signature ?? Buffer.from(made).toString("hex");
    const headers = { "x-signature-ed25519": signature, "x-signature-timestamp": timestamp };
    return (await postJson("/discord/interactions", forged.body ?? text, headers)).status;
  }
  const command = (by: keyof typeof PEOPLE, channel: string) =>
    commanded(discord, { channel, by, name: "status" }).payload;
  const bySomebody = () => command("stranger", PLACES.room);
  const byOwner = () => command("friend", PLACES.dm);

  const rows: readonly (readonly [string, () => Promise<number>, number])[] = [
    ["a stranger's command", () => interact(bySomebody()), 403],
    [
      "a stranger's press",
      () =>
        interact(
          pressedOnDiscord(discord, { channel: PLACES.room, by: "stranger", custom: "approval:once:q" }).payload,
        ),
      403,
    ],
    ["an owner's command that nobody signed", () => interact(byOwner(), { signature: "00".repeat(64) }), 401],
    [
      "an owner's command, changed after it was signed",
      () => interact(bySomebody(), { body: JSON.stringify(byOwner()) }),
      401,
    ],
    ["an owner's command that is too old", () => interact(byOwner(), { agoMs: 301_000 }), 401],
    ["an owner's command from the future", () => interact(byOwner(), { agoMs: -301_000 }), 401],
  ];
  test.each(rows)("%s causes nothing", async (_who, act, status) => {
    await changesNothing(async () => {
      expect(await act()).toBe(status);
    });
  });

  const answers = () => discord.state.messages(PLACES.dm).filter(({ author }) => author.id === BOT.id).length;

  test("an interaction that is sent again causes nothing the second time", async () => {
    const payload = byOwner();
    expect(await interact(payload)).toBe(200);
    await eventually("one answer to the interaction", answers, (count) => count === 1);
    await changesNothing(async () => {
      expect(await interact(payload)).toBe(403);
      expect(await interact(payload, { agoMs: 1_000 })).toBe(403); // signed anew, the same all the same
    });
  });

  test("strangers, and one who has taken the owner's name, cause nothing in a server: only the owner after them is answered", async () => {
    const before = await effects();
    const shown = discord.state.messages(PLACES.room).length;
    const impostor = { ...PEOPLE.friend, id: "300000000000000009" };
    const content = `<@${BOT.id}> /status`;
    const intruders = [PEOPLE.stranger, impostor];
    for (const author of intruders) discord.say({ channel: PLACES.room, author, content });
    discord.say({ channel: PLACES.room, author: PEOPLE.friend, content }); // decided after them, in the same channel
    await eventually(
      "every message in the channel is shown",
      () => discord.state.messages(PLACES.room).length,
      (count) => count === shown + intruders.length + 2,
    );
    const after = await effects();
    expect([after.model, after.people, after.taken]).toEqual([before.model, before.people, before.taken + 1]);
  });
});

test("who may speak is answered, so it is not that nobody is", async () => {
  await bring(said({ by: FRIEND, text: "are you there?", messageId: room.nextMessageId() }));
  await eventually(
    "the answer to the friend",
    () => room.messages.filter(({ chat }) => chat === String(FRIEND.id)).map(({ text }) => text),
    (seen) => seen.includes("an answer"),
  );
});
