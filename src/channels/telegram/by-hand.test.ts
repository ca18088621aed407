/** How a Telegram account connects, stays reachable and says small things, beside an API that a test plays by hand. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FileGone } from "../../contracts/channels/platform.ts";
import { secret } from "../../kit/secret.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { type BotApi, openBotApi } from "./api/bot-api.ts";
import { Fault } from "./api/faults.ts";
import { connect } from "./connect.ts";
import type { Arrived } from "./inbound/arrived.ts";
import { acknowledge, sayTo } from "./inbound/feedback.ts";
import { createLink } from "./link.ts";
import { serveWebhook } from "./webhook-mode.ts";

const NEVER = new AbortController().signal;
const DOWN = new Fault({ kind: "down", detail: "502" });

function world() {
  const clock = createFakeClock();
  const log = recordingLog();
  const asked: (readonly [string, number])[] = [];
  const failing = new Set<string>();
  const begunAt = clock.elapsed();
  const call = async (method: string): Promise<unknown> => {
    asked.push([method, clock.elapsed() - begunAt]);
    if (asked.length > 100) await new Promise(() => undefined); // a loop without a pause would never end
    if (failing.has(method)) throw DOWN;
    return { id: 7, username: "bot", message_id: 1 };
  };
  const api = { call, me: () => call("getMe") } as unknown as BotApi;
  const link = createLink({ clock, log, changed: () => undefined }, "webhook");
  const stop = new AbortController();
  return { clock, log, asked, failing, api, link, stop, at: (method: string) => timesOf(asked, method) };
}

const timesOf = (asked: readonly (readonly [string, number])[], method: string): readonly number[] =>
  asked.filter(([name]) => name === method).map(([, at]) => at);

describe("a Telegram bot that cannot connect", () => {
  test("is asked for after longer and longer pauses, and knows its name when it can", async () => {
    const at = world();
    at.failing.add("getMe");
    const connecting = connect(at, at.stop.signal);
    for (let second = 0; second < 200; second++) await at.clock.advance(1_000);
    expect(at.at("getMe")).toEqual([0, 5_000, 15_000, 35_000, 75_000, 135_000, 195_000]);
    expect(at.link.health().ok).toBe(false);
    at.failing.clear();
    await at.clock.advance(60_000);
    expect(await waitForEnd("the connection", connecting)).toEqual({ id: 7, username: "bot" });
    expect([at.link.health().ok, at.clock.pending()]).toEqual([true, 0]);
  });

  test("ends with its account, and leaves no timer", async () => {
    const at = world();
    at.failing.add("getMe");
    const connecting = connect(at, at.stop.signal);
    await at.clock.advance(1);
    at.stop.abort(new Error("closing"));
    expect(await waitForEnd("the end", connecting)).toBeNull();
    expect(at.clock.pending()).toBe(0);
  });
});

test("a Telegram link tells each change once", () => {
  const clock = createFakeClock();
  let changes = 0;
  const link = createLink({ clock, log: recordingLog(), changed: () => void changes++ }, "polling");
  const told = (change: () => void): number => {
    const before = changes;
    change();
    return changes - before;
  };
  const limited = new Fault({ kind: "limited", retryAfterMs: 1_000 });
  const steps = [link.up, link.up, () => link.down(DOWN), () => link.down(DOWN), () => link.down(limited), link.up];
  expect(steps.map(told)).toEqual([1, 0, 1, 0, 1, 1]);
  link.down(limited);
  expect([link.canSend(), link.health().ok]).toEqual([true, false]);
  link.down(DOWN);
  expect(link.canSend()).toBe(false);
});

test("a Telegram link in trouble is told of once for each reason, counts from the first one, and can send where only polling is in trouble", async () => {
  const clock = createFakeClock();
  const log = recordingLog();
  const link = createLink({ clock, log, changed: () => undefined }, "polling");
  const conflict = new Fault({ kind: "conflict", detail: "409" });
  link.up();
  for (let times = 0; times < 2; times++) link.down(DOWN);
  await clock.advance(1_000);
  for (let times = 0; times < 2; times++) link.down(conflict);
  expect(link.canSend()).toBe(true);
  await clock.advance(1_000);
  link.note("another part polls");
  expect([link.canSend(), link.health()]).toEqual([true, { ok: false, detail: "another part polls" }]);
  await clock.advance(1_000);
  link.up();
  expect(log.lines.map(({ words, fields }) => [words, fields["afterMs"]])).toEqual([
    ["telegram connection in trouble", undefined],
    ["telegram connection in trouble", undefined],
    ["telegram connection in trouble", undefined],
    ["telegram connection is back", 3_000],
  ]);
});

describe("a Telegram webhook", () => {
  const settings = { webhookUrl: "https://a.example/", webhookSecret: secret("s") } as never;
  const webhook = { path: "/telegram/default", handle: async () => ({ status: 200 }) };
  const serving = (at: ReturnType<typeof world>) =>
    serveWebhook({ ...at, ids: {} as never, facts: {} as never }, { settings, webhook }, at.stop.signal);

  test("is told to Telegram once; from then on the bot is asked each minute whether it is reachable", async () => {
    const at = world();
    const ended = serving(at);
    for (let second = 0; second < 130; second++) await at.clock.advance(1_000);
    expect([at.at("setWebhook"), at.at("getMe")]).toEqual([[0], [60_000, 120_000]]);
    at.stop.abort(new Error("closing"));
    await waitForEnd("the end", ended);
    expect(at.clock.pending()).toBe(0);
  });

  test("that does not answer any more is not well, is looked at sooner, and is well again", async () => {
    const at = world();
    const ended = serving(at);
    await at.clock.advance(59_000);
    expect(at.link.health().ok).toBe(true);
    at.failing.add("getMe");
    await at.clock.advance(1_000);
    expect(at.link.health().ok).toBe(false);
    await at.clock.advance(10_000);
    at.failing.clear();
    await at.clock.advance(10_000);
    expect([at.link.health().ok, at.at("getMe")]).toEqual([true, [60_000, 70_000, 80_000]]);
    at.stop.abort(new Error("closing"));
    await waitForEnd("the end", ended);
  });
});

describe("feedback on Telegram", () => {
  const to = { channel: "telegram", account: "default", chat: "11" };
  const arrived = { address: to, messageId: 7 } as unknown as Arrived;

  test("that did not arrive fails nothing, and is in the log", async () => {
    const at = world();
    for (const method of ["sendMessage", "setMessageReaction"]) at.failing.add(method);
    await sayTo(at, to, "Not now.", NEVER);
    await acknowledge(at, "👀", arrived, NEVER);
    expect(at.asked.map(([method]) => method)).toEqual(["sendMessage", "setMessageReaction"]);
    expect(at.log.lines.map(({ words }) => words)).toEqual(["sentence not delivered", "message not acknowledged"]);
  });

  test("is no reaction where none is configured", async () => {
    const at = world();
    await acknowledge(at, "", arrived, NEVER);
    expect(at.asked).toEqual([]);
  });
});

describe("a call to Telegram", () => {
  let server: Bun.Server<undefined>;
  let asked = 0;
  let [isGone, isThere] = [false, false];
  const silent = new Promise<Response>(() => undefined);
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        if (request.url.endsWith("/getFile") && isGone)
          return Response.json({ ok: false, error_code: 400, description: "file is too big" }, { status: 400 });
        if (request.url.endsWith("/getFile")) return Response.json({ ok: true, result: { file_path: "a.txt" } });
        if (isThere) return new Response("some words");
        asked++;
        return silent;
      },
    });
  });
  afterAll(() => server.stop(true));

  test.each<[string, (api: BotApi, signal: AbortSignal) => Promise<unknown>, number, string]>([
    ["a message", (api, until) => api.call("sendMessage", { chat_id: 1, text: "x" }, until), 30_000, "lost"],
    ["who it is", (api, until) => api.me(until), 30_000, "lost"],
    ["a long call", (api, until) => api.slowCall("getUpdates", {}, until, 45_000), 45_000, "lost"],
    ["a download", (api, until) => api.download("f", until), 30_000, "unreached"],
  ])(
    "that is not answered (%s) is left at its limit or when its caller gives up, and leaves no timer",
    async (_what, call, ms, kind) => {
      const clock = createFakeClock();
      const api = await openBotApi({ clock }, { token: secret("1:t"), apiRoot: `http://127.0.0.1:${server.port}` });
      for (const how of ["limit", "caller"]) {
        const stop = new AbortController();
        const before = asked;
        const ended = call(api, stop.signal).then(
          () => "answered",
          (error: unknown) => (error instanceof Fault ? error.info.kind : String(error)),
        );
        await waitFor("the call", () => asked > before);
        await clock.advance(ms - 1);
        if (how === "limit") await clock.advance(1);
        else stop.abort(new Error("given up"));
        const end = await waitForEnd("the end of the call", ended);
        expect([how, end, clock.pending()]).toEqual([how, how === "limit" ? kind : expect.any(String), 0]);
        expect(end).not.toBe("answered");
      }
    },
  );

  test("for a file is refused for good when Telegram has none, and gives out the whole file when it has", async () => {
    const api = await openBotApi(
      { clock: createFakeClock() },
      { token: secret("1:t"), apiRoot: `http://127.0.0.1:${server.port}` },
    );
    isGone = true;
    await expect(api.download("f", NEVER)).rejects.toBeInstanceOf(FileGone);
    [isGone, isThere] = [false, true];
    expect(await new Response(await api.download("f", NEVER)).text()).toBe("some words");
    isThere = false;
  });

  test("is not made when its caller had given up before", async () => {
    const api = await openBotApi(
      { clock: createFakeClock() },
      { token: secret("1:t"), apiRoot: `http://127.0.0.1:${server.port}` },
    );
    const before = asked;
    const sent = api.call("sendMessage", { chat_id: 1, text: "x" }, AbortSignal.abort());
    await expect(sent).rejects.toMatchObject({ info: { kind: "unreached" } });
    expect(asked).toBe(before);
  });
});
