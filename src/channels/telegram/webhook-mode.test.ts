/** A Telegram account that is called instead of asking: what Telegram is told, when it is looked at again, and how the connection is said to be. */
import { expect, test } from "bun:test";
import { secret } from "../../kit/secret.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import type { AccountState } from "../kit/index.ts";
import type { BotApi } from "./api/bot-api.ts";
import { Fault, type FaultInfo } from "./api/faults.ts";
import { connect } from "./connect.ts";
import type { Arrived } from "./inbound/arrived.ts";
import { acknowledge, sayTo } from "./inbound/feedback.ts";
import { createLink } from "./link.ts";
import { type AccountSettings, accountsOf } from "./settings.ts";
import { serveWebhook, webhookOf } from "./webhook-mode.ts";

const LOST: FaultInfo = { kind: "lost", detail: "no answer" };

function world(fails: (call: number) => FaultInfo | null = () => null) {
  const clock = createFakeClock();
  const log = recordingLog();
  const calls: unknown[] = [];
  const times: number[] = [];
  const kept = new Map<string, string>();
  let changes = 0;
  const link = createLink({ clock, log, changed: () => void changes++ }, "webhook");
  const answer = async (...call: unknown[]): Promise<unknown> => {
    calls.push(call);
    times.push(clock.elapsed());
    const fault = fails(calls.length);
    if (fault) throw new Fault(fault);
    return { id: 9, username: "bot" };
  };
  const api = {
    call: (method: string, fields: object) => answer(method, fields),
    me: () => answer("getMe"),
  } as unknown as BotApi;
  const facts = {
    get: async (key: string) => kept.get(key) ?? null,
    put: async (key: string, value: string) => void kept.set(key, value),
  } as unknown as AccountState;
  const stop = new AbortController();
  return { clock, log, calls, times, kept, link, api, facts, ids: createSeqIds(), stop, changes: () => changes };
}

const settings = (more: object = {}): AccountSettings =>
  ({
    account: "work",
    webhookUrl: "https://bot.example:8443/hooks//",
    webhookSecret: null,
    ...more,
  }) as AccountSettings;
const webhook = { path: "/telegram/work", handle: async () => ({ status: 200 }) };

test("a webhook is told to Telegram once, with its address and its secret, and looked at every minute", async () => {
  const at = world();
  const serving = serveWebhook(at, { settings: settings({ webhookSecret: secret("s3") }), webhook }, at.stop.signal);
  await at.clock.advance(120_000);
  expect(at.calls).toEqual([
    [
      "setWebhook",
      {
        url: "https://bot.example:8443/hooks/telegram/work",
        secret_token: "s3",
        allowed_updates: ["message", "edited_message", "callback_query", "message_reaction"],
      },
    ],
    ["getMe"],
    ["getMe"],
  ]);
  expect([at.times, at.link.health().ok, at.kept.size]).toEqual([[0, 60_000, 120_000], true, 0]);
  at.stop.abort(new Error("closing"));
  await serving;
  expect([at.clock.pending(), at.link.health().ok]).toEqual([0, true]);
});

test("a webhook that Telegram did not hear of is told again after ten seconds, and the connection is in trouble until then", async () => {
  const at = world((call) => (call === 1 ? LOST : null));
  const serving = serveWebhook(at, { settings: settings(), webhook }, at.stop.signal);
  await at.clock.advance(9_999);
  expect([at.calls.length, at.link.health().ok]).toEqual([1, false]);
  await at.clock.advance(1);
  expect([(at.calls[1] as unknown[])[0], at.link.health().ok]).toEqual(["setWebhook", true]);
  at.stop.abort(new Error("closing"));
  await serving;
});

test("a webhook whose call is given up because the account closes is in no trouble", async () => {
  const at = world(() => {
    at.stop.abort(new Error("closing"));
    return LOST;
  });
  await serveWebhook(at, { settings: settings(), webhook }, at.stop.signal);
  expect([at.link.health().detail, at.log.lines, at.clock.pending()]).toEqual(["connecting", [], 0]);
});

test("a webhook without an address is in trouble, and Telegram is told nothing", async () => {
  const at = world();
  await serveWebhook(at, { settings: settings({ webhookUrl: null }), webhook }, at.stop.signal);
  expect([at.calls, at.link.health()]).toEqual([[], { ok: false, detail: expect.stringContaining("webhookUrl") }]);
});

test("a secret of the gateway's own making is made once and kept, and a webhook is taken under the host of its address", async () => {
  const at = world();
  const take = async () => true;
  const made = await webhookOf({ ...at, take }, settings());
  const again = await webhookOf({ ...at, take }, settings({ webhookUrl: "no address" }));
  expect([made.path, made.hosts, again.hosts]).toEqual(["/telegram/work", ["bot.example:8443"], []]);
  const [kept = ""] = at.kept.values();
  expect([at.kept.size, kept.length > 20]).toEqual([1, true]);
  const status = async (secretToken: string) =>
    (
      await made.handle(
        {
          headers: new Headers({ "x-telegram-bot-api-secret-token": secretToken }),
          body: new TextEncoder().encode('{"update_id":1}'),
        },
        at.stop.signal,
      )
    ).status;
  expect([await status(kept), await status("")]).toEqual([200, 401]);
});

test("a bot that cannot connect asks again after five seconds, then twice as long each time, up to a minute", async () => {
  const at = world((call) => (call <= 6 ? LOST : null));
  const connecting = connect(at, at.stop.signal);
  await at.clock.advance(600_000);
  expect(await connecting).toEqual({ id: 9, username: "bot" });
  const pauses = at.times.slice(1).map((time, before) => (time - (at.times[before] ?? 0)) / 1_000);
  expect([pauses, at.link.health().ok, at.clock.pending()]).toEqual([[5, 10, 20, 40, 60, 60], true, 0]);
});

test("a bot that is closed while it connects is nobody, and in no trouble", async () => {
  const at = world(() => {
    at.stop.abort(new Error("closing"));
    return LOST;
  });
  expect([await connect(at, at.stop.signal), at.link.health().detail]).toEqual([null, "connecting"]);
});

test("a connection tells each change once, when its trouble began, and whether messages can be sent in it", async () => {
  const at = world();
  const said: unknown[] = [];
  const say = (): void => void said.push([at.link.health().ok, at.link.canSend(), at.changes()]);
  const down = (info: FaultInfo): void => at.link.down(new Fault(info));
  say();
  for (const step of [
    () => at.link.up(),
    () => at.link.up(),
    () => down(LOST),
    () => down(LOST),
    () => down({ kind: "conflict", detail: "" }),
    () => down({ kind: "limited", retryAfterMs: 1_000 }),
    () => at.link.note("told by us"),
  ]) {
    await at.clock.advance(1_000);
    step();
    say();
  }
  expect(said).toEqual([
    [false, false, 0],
    [true, true, 1],
    [true, true, 1],
    [false, false, 2],
    [false, false, 2],
    [false, true, 3],
    [false, true, 4],
    [false, true, 5],
  ]);
  at.link.up();
  expect(at.log.lines.filter(({ level }) => level === "warn")).toHaveLength(4);
  expect(at.log.lines.at(-1)?.fields).toEqual({ afterMs: 4_000 });
  await at.clock.advance(7_400);
  expect(at.link.health()).toEqual({ ok: true, detail: "webhook, last answer 7 s ago" });
});

test("each setting of an account is its own, else that of all; a token is never another's", () => {
  const all = {
    enabled: true,
    botToken: secret("1:a"),
    apiRoot: "https://api.example",
    mode: "polling",
    webhookUrl: "https://bot.example",
    webhookSecret: secret("s1"),
    streamMode: "partial",
    mediaMaxMb: 20,
    ackReaction: "👀",
  };
  const own = { mode: "webhook", webhookSecret: secret("s2"), streamMode: "off", mediaMaxMb: 5, ackReaction: "" };
  const accounts = {
    first: { botToken: secret("2:b") },
    second: { botToken: secret("3:c"), ...own },
    off: { botToken: secret("4:d"), enabled: false },
    none: {},
  };
  const read = (config: object) =>
    accountsOf(config as never).map(({ token, webhookSecret, ...rest }) => ({
      ...rest,
      token: token.reveal(),
      webhookSecret: webhookSecret?.reveal(),
    }));
  const common = { apiRoot: "https://api.example", webhookUrl: "https://bot.example" };
  const usual = {
    ...common,
    mode: "polling",
    webhookSecret: "s1",
    streamMode: "partial",
    mediaMaxMb: 20,
    ackReaction: "👀",
  };
  const theirs = { ...common, mode: "webhook", webhookSecret: "s2", streamMode: "off", mediaMaxMb: 5, ackReaction: "" };
  expect(read({ ...all, accounts })).toEqual([
    { ...usual, account: "default", token: "1:a" },
    { ...usual, account: "first", token: "2:b" },
    { ...theirs, account: "second", token: "3:c" },
  ] as never);
  expect(read({ ...all, accounts: { default: {} } }).map(({ account, token }) => [account, token])).toEqual([
    ["default", "1:a"],
  ]);
  expect(read({ ...all, enabled: false, accounts })).toEqual([]);
  expect(accountsOf({ ...all, webhookUrl: undefined, webhookSecret: undefined, accounts: {} } as never)).toMatchObject([
    { webhookUrl: null, webhookSecret: null },
  ]);
});

test("a message that was stored is acknowledged by the reaction of the settings, or not at all, and a refusal holds nothing up", async () => {
  const at = world((call) => (call > 1 ? { kind: "refused", code: 400, detail: "REACTION_INVALID" } : null));
  const arrived = { address: { channel: "telegram", account: "work", chat: "5" }, messageId: 7 } as Arrived;
  await acknowledge(at, "", arrived, at.stop.signal);
  expect(at.calls).toEqual([]);
  for (let times = 0; times < 2; times++) await acknowledge(at, "👀", arrived, at.stop.signal);
  const call = ["setMessageReaction", { chat_id: "5", message_id: 7, reaction: [{ type: "emoji", emoji: "👀" }] }];
  expect([at.calls, at.log.lines.map(({ words }) => words)]).toEqual([[call, call], ["message not acknowledged"]]);
  await sayTo(at, arrived.address, "a sentence", at.stop.signal);
  expect(at.log.lines.at(-1)?.words).toBe("sentence not delivered");
});
