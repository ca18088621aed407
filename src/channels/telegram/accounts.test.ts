/** Bots from the configuration: each token once, by webhook only with the secret, and `doctor` says what is wrong with them. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { checkConfigText, type TelegramConfig } from "../../config/index.ts";
import type { OpenChannel, PlatformDeps } from "../../contracts/channels/platform.ts";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { secret } from "../../kit/secret.ts";
import { channelBench } from "../../testing/channels/channel-bench.ts";
import { eventually, passing } from "../../testing/contracts/channel-contract.ts";
import { startFakeBotApi } from "../../testing/telegram/fake-bot-api.ts";
import { FRIEND, said } from "../../testing/telegram/people.ts";
import { settings, telegramWorld, type TelegramWorld, TOKEN } from "../../testing/telegram/telegram-world.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { checkTelegram, createTelegram } from "./index.ts";
import { accountsOf } from "./settings.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const NEVER = new AbortController().signal;

describe("several bots", () => {
  test("are accounts of their own, and what they do not say holds from above", () => {
    const accounts = { work: { botToken: secret("2:b"), streamMode: "off" as const }, off: { enabled: false } };
    const all = accountsOf(settings({ accounts, mediaMaxMb: 5 }));
    expect(all.map(({ account, streamMode, mediaMaxMb }) => [account, streamMode, mediaMaxMb])).toEqual([
      ["default", "partial", 5],
      ["work", "off", 5],
    ]);
    expect(accountsOf(settings({ enabled: false }))).toEqual([]);
  });

  test("with one token are one bot: the second says why it is not connected", async () => {
    await using bench = await channelBench();
    await using api = await startFakeBotApi(bench.clock);
    const accounts = { twin: { botToken: secret(TOKEN) }, other: { botToken: secret("2:b") } };
    const config = settings({ accounts, apiRoot: api.apiRoot });
    const open = await createTelegram(config).open(bench.deps, NEVER);
    const named = (account: string): OpenChannel | undefined => open.find((one) => one.account === account);
    await eventually("two poll", () => api.count("getUpdates") === 2);
    expect(named("twin")?.health().detail).toContain("same bot token");
    expect(named("twin")?.ready()).toBe(false);
    api.push("2:b", said({ by: FRIEND, text: "to the other", messageId: 1 }));
    await eventually("it is stored", () => bench.stored.length === 1);
    expect(bench.stored[0]?.address.account).toBe("other");
    for (const one of open) await one[Symbol.asyncDispose]();
  });

  test("a token that Telegram does not know shows in the health of its account, and in nothing else", async () => {
    await using bench = await channelBench();
    await using api = await startFakeBotApi(bench.clock);
    api.misbehave("getMe", { kind: "refused", code: 401, description: "Unauthorized" }, 9);
    const [open] = await createTelegram(settings({ apiRoot: api.apiRoot })).open(bench.deps, NEVER);
    await eventually("it is known", () => open?.health().detail.includes("@BotFather") ?? false);
    expect(open?.ready()).toBe(false);
    expect(JSON.stringify(bench.log.lines)).not.toContain("secret-token");
    await open?.[Symbol.asyncDispose]();
  });
});

describe("bots that cannot be opened because the disk fails", () => {
  const failing = (deps: PlatformDeps, isBroken: (account: string, key: string) => boolean): PlatformDeps => ({
    ...deps,
    facts: {
      ...deps.facts,
      async get(channel, account, key) {
        if (isBroken(account, key)) throw new Error("the disk fails");
        return deps.facts.get(channel, account, key);
      },
    },
  });

  test("leave none of the others open, so that the next try has every bot for itself", async () => {
    await using bench = await channelBench();
    await using api = await startFakeBotApi(bench.clock);
    const config = settings({ accounts: { other: { botToken: secret("2:b") } }, apiRoot: api.apiRoot });
    const deps = failing(bench.deps, (account) => account === "other");
    await expect(createTelegram(config).open(deps, NEVER)).rejects.toThrow("the disk fails");
    expect(bench.listening()).toBe(0);
  });

  test("leave nobody who listens to what the gateway tells", async () => {
    await using bench = await channelBench();
    const config = settings({ mode: "webhook", webhookUrl: "https://bot.example.org/", apiRoot: "http://127.0.0.1:9" });
    const deps = failing(bench.deps, (_account, key) => key === "webhook-secret");
    await expect(createTelegram(config).open(deps, NEVER)).rejects.toThrow("the disk fails");
    expect(bench.listening()).toBe(0);
  });
});

const webhookWorld = (more: Partial<TelegramConfig> = {}): Promise<TelegramWorld> =>
  telegramWorld({ mode: "webhook", webhookUrl: "https://bot.example.org/", ...more });
const call = ({ channel }: Pick<TelegramWorld, "channel">, secretToken: string | null, body: unknown) =>
  channel.webhook?.handle(
    {
      headers: new Headers(secretToken === null ? {} : { "x-telegram-bot-api-secret-token": secretToken }),
      body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
    },
    NEVER,
  );
const update = { update_id: 77, ...said({ by: FRIEND, text: "by webhook", messageId: 3 }) };

describe("a webhook", () => {
  test("is set with a secret that is made once and kept, and takes updates that carry it", async () => {
    await using world = await webhookWorld();
    await eventually("it is set", () => world.room.webhook !== null && world.channel.health().ok);
    const made = String(world.room.webhook?.["secret_token"]);
    expect(made.length).toBeGreaterThan(40);
    expect(world.room.webhook?.["url"]).toBe("https://bot.example.org/telegram/default");
    expect(world.channel.webhook?.path).toBe("/telegram/default");
    expect(world.channel.webhook?.hosts).toEqual(["bot.example.org"]);
    expect((await call(world, made, update))?.status).toBe(200);
    expect((await call(world, made, update))?.status).toBe(200);
    expect(world.bench.stored.map(({ text }) => text)).toEqual(["by webhook"]);
    await world.close();
    await world.reopen();
    await eventually("it is set again", () => world.api.count("setWebhook") === 2);
    expect(world.room.webhook?.["secret_token"]).toBe(made);
  });

  test.each([
    ["no secret", null, update],
    ["another secret", "wrong", update],
    ["no secret and rubbish", null, "{{{"],
  ])("with %s does nothing", async (_what, sent, body) => {
    await using world = await webhookWorld({ webhookSecret: secret("the-configured-one") });
    await eventually("it is set", () => world.channel.health().ok && world.room.webhook !== null);
    expect((await call(world, sent, body))?.status).toBe(401);
    expect(world.bench.arrivals).toEqual([]);
    expect((await call(world, "the-configured-one", "{{{"))?.status).toBe(400);
  });

  test("says received when the update is stored, and not before", async () => {
    await using world = await webhookWorld({ webhookSecret: secret("s3cret") });
    await eventually("it is set", () => world.channel.health().ok && world.room.webhook !== null);
    world.bench.failOnce();
    expect((await call(world, "s3cret", update))?.status).toBe(503);
    expect((await call(world, "s3cret", update))?.status).toBe(200);
    expect(world.bench.stored).toHaveLength(1);
  });

  test("that comes while the account closes is not taken, so that Telegram brings it again", async () => {
    await using world = await webhookWorld({ webhookSecret: secret("s3cret") });
    await eventually("it is set", () => world.channel.health().ok && world.room.webhook !== null);
    const late = { channel: world.channel };
    await world.close();
    expect((await call(late, "s3cret", update))?.status).toBe(503);
    expect(world.bench.stored).toEqual([]);
  });

  test("that comes before the bot knows its own name is not taken, so that Telegram brings it again", async () => {
    await using bench = await channelBench();
    await using api = await startFakeBotApi(bench.clock);
    const named = deferred<void>();
    api.misbehave("getMe", { kind: "late", until: named.promise });
    const webhookSecret = secret("s3cret");
    const config = settings({
      mode: "webhook",
      webhookUrl: "https://bot.example.org",
      webhookSecret,
      apiRoot: api.apiRoot,
    });
    const [channel] = await createTelegram(config).open(bench.deps, NEVER);
    if (!channel) throw new Error("no account");
    await using _channel = channel;
    await api.until("it asks for its name", () => api.count("getMe") > 0);
    expect((await call({ channel }, "s3cret", update))?.status).toBe(503);
    expect(bench.stored).toEqual([]);
    named.resolve();
    await eventually("it knows its name", () => channel.health().ok);
    expect((await call({ channel }, "s3cret", update))?.status).toBe(200);
  });

  test("that Telegram could not be told is told again, and is not well meanwhile", async () => {
    const bench = await channelBench();
    const api = await startFakeBotApi(bench.clock);
    api.misbehave("setWebhook", { kind: "page", status: 502 }, 2);
    const config = settings({ mode: "webhook", webhookUrl: "https://bot.example.org", apiRoot: api.apiRoot });
    const [account] = await createTelegram(config).open(bench.deps, NEVER);
    await using stack = new AsyncDisposableStack();
    for (const one of [bench, api, account]) if (one) stack.use(one);
    const failed = (tries: number) => api.count("setWebhook") === tries && !account?.health().ok;
    await eventually("the first try has failed", () => failed(1));
    expect(api.bot(TOKEN).webhook).toBeNull();
    await passing(bench, "the second try has failed", () => failed(2));
    expect(api.bot(TOKEN).webhook).toBeNull();
    await passing(bench, "it is set", () => api.bot(TOKEN).webhook !== null && account?.health().ok === true);
  });

  test("without an address of its own says what is missing", async () => {
    await using world = await telegramWorld({ mode: "webhook" });
    await eventually("it says so", () => world.channel.health().detail.includes("webhookUrl"));
  });
});

describe("doctor", () => {
  const check = async (
    more: Partial<TelegramConfig>,
    misbehave?: (api: Awaited<ReturnType<typeof startFakeBotApi>>) => void,
  ) => {
    await using api = await startFakeBotApi();
    misbehave?.(api);
    return await checkTelegram({ clock: systemClock }, settings({ apiRoot: api.apiRoot, ...more }), NEVER);
  };

  test.each([
    ["a bot that answers", {}, "ok", "@fake_99_bot answers."],
    ["a privacy mode that hides what the bot should read", { requireMention: false }, "warning", "/setprivacy"],
    ["an open bot that lets nobody in", { dmPolicy: "open" as const }, "warning", '"*"'],
    ["a webhook without an address", { mode: "webhook" as const }, "problem", "webhookUrl"],
    ["a server that is not there", { apiRoot: "http://127.0.0.1:1" }, "problem", "cannot be reached"],
  ])("sees %s", async (_what, more, state, words) => {
    const [found] = await check(more);
    expect(found?.state).toBe(state as "ok");
    expect(found?.say).toContain(words);
  });

  test.each<[string, object | null, "ok" | "warning", string]>([
    ["is in", { status: "member" }, "ok", "answers."],
    ["is not in", { status: "left" }, "warning", "not in the group -1001"],
    ["was thrown out of", { status: "kicked" }, "warning", "not in the group -1001"],
    ["may not write in", { status: "restricted", can_send_messages: false }, "warning", "may not write"],
    ["has seen move", null, "ok", "answers."],
  ])("sees a group that the bot %s", async (_what, standing, state, words) => {
    const [found] = await check({ groups: { "-1001": {} } }, (api) => {
      const room = api.bot(TOKEN);
      if (standing) room.standing.set("-1001", standing as never);
      else room.moved.set("-1001", "-1002");
    });
    expect([found?.state, found?.say]).toEqual([state, expect.stringContaining(words)]);
  });

  test("says everything that is wrong, not only the first thing", async () => {
    const [found] = await check({ requireMention: false, dmPolicy: "open", groups: { "-1001": {} } }, (api) =>
      api.bot(TOKEN).standing.set("-1001", { status: "left" } as never),
    );
    for (const words of ["/setprivacy", '"*"', "not in the group -1001"]) expect(found?.say).toContain(words);
  });

  test("sees an account without a token beside one that has one", async () => {
    const found = await check({ accounts: { second: {}, third: { enabled: false } } });
    expect(found).toEqual([
      { account: "default", state: "ok", say: "@fake_99_bot answers." },
      { account: "second", state: "problem", say: expect.stringContaining("accounts.second.botToken") },
    ]);
  });

  test("sees what an account says itself in the place of what holds for all", async () => {
    const second = (own: object) => ({ second: { botToken: secret("98:b"), ...own } });
    const states = async (more: Partial<TelegramConfig>) => (await check(more)).map(({ state }) => state);
    expect(await states({ requireMention: false, accounts: second({ requireMention: true }) })).toEqual([
      "warning",
      "ok",
    ]);
    expect(await states({ accounts: second({ dmPolicy: "open" }) })).toEqual(["ok", "warning"]);
    expect(await states({ dmPolicy: "open", accounts: second({ allowFrom: ["*"] }) })).toEqual(["warning", "ok"]);
    const found = await check({ groups: { "-1001": {} }, accounts: second({ groups: { "-1002": {} } }) }, (api) => {
      for (const token of [TOKEN, "98:b"]) api.bot(token).standing.set("-1001", { status: "left" } as never);
    });
    expect(found.map(({ state }) => state)).toEqual(["warning", "ok"]);
  });

  test("finds bots in order: an open one for everybody, one that may write where it is restricted, one without privacy mode", async () => {
    const [open] = await check({ dmPolicy: "open", allowFrom: ["*"] });
    expect(open?.state).toBe("ok");
    const standing = { status: "restricted", can_send_messages: true };
    const [restricted] = await check({ groups: { "-1001": {} } }, (api) =>
      api.bot(TOKEN).standing.set("-1001", standing as never),
    );
    expect(restricted?.state).toBe("ok");
    const [reading] = await check({ requireMention: false }, (api) => void (api.bot(TOKEN).readsAll = true));
    expect(reading?.state).toBe("ok");
  });

  test("says nothing about a group when Telegram is in trouble, nor about accounts of a channel that is off", async () => {
    const [found] = await check({ groups: { "-1001": {} } }, (api) =>
      api.misbehave("getChatMember", { kind: "page", status: 502 }, 5),
    );
    expect(found?.state).toBe("ok");
    expect(await check({ enabled: false, accounts: { second: {} } })).toEqual([]);
  });

  test("asks about twenty groups of a bot at most", async () => {
    await using api = await startFakeBotApi();
    const groups = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`-10${at}`, {}]));
    await checkTelegram({ clock: systemClock }, settings({ apiRoot: api.apiRoot, groups }), NEVER);
    expect(api.count("getChatMember")).toBe(20);
  });

  test.each(["getMe", "getChatMember"])("gives up %s when its time is over", async (method) => {
    await using api = await startFakeBotApi();
    const over = deferred<void>();
    using _over = { [Symbol.dispose]: () => over.resolve() };
    api.misbehave(method, { kind: "late", until: over.promise }, 5);
    const limit = new AbortController();
    const config = settings({ apiRoot: api.apiRoot, groups: { "-1001": {} } });
    const checking = checkTelegram({ clock: systemClock }, config, limit.signal);
    await api.until("the call", () => api.count(method) > 0);
    limit.abort(new Error("doctor has no time left"));
    expect(await waitForEnd("the end of the check", checking, { withinMs: 2_000 })).toHaveLength(1);
  });

  test("sees a token that Telegram does not know", async () => {
    const [found] = await check({}, (api) =>
      api.misbehave("getMe", { kind: "refused", code: 401, description: "Unauthorized" }),
    );
    expect(found).toEqual({ account: "default", state: "problem", say: expect.stringContaining("@BotFather") });
  });
});

describe("the configuration", () => {
  const problems = (telegram: unknown): string =>
    JSON.stringify(checkConfigText(JSON.stringify({ channels: { telegram } }), () => undefined));
  test.each([
    ["a name instead of an id", { allowFrom: ["@ann"] }],
    ["a group id that is none", { groups: { friends: {} } }],
    ["a webhook without encryption", { webhookUrl: "http://bot.example.org" }],
    ["a misspelt key", { bottoken: "1:a" }],
    ["a stream mode that there is not", { streamMode: "sometimes" }],
  ])("does not take %s", (_what, telegram) => {
    expect(problems(telegram)).toContain("channels.telegram");
  });

  test("takes one token and nothing else", () => {
    expect(problems({ botToken: "123:abc" })).not.toContain('"channels.telegram');
  });
});
