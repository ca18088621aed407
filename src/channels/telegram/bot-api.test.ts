/** Calls to Telegram beside a server that sends them elsewhere: the token is in their address, and goes nowhere else. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { type BotApi, openBotApi } from "./api/bot-api.ts";

const NEVER = new AbortController().signal;
const asked: string[] = [];
let server: Bun.Server<undefined>;
let elsewhere: Bun.Server<undefined>;
let api: BotApi;

beforeAll(async () => {
  const listen = { port: 0, hostname: "127.0.0.1" };
  const ok = { ok: true, result: { id: 1, is_bot: true, username: "bot", message_id: 1, file_path: "a.txt" } };
  elsewhere = Bun.serve({
    ...listen,
    fetch: (request) => (asked.push(`elsewhere ${new URL(request.url).pathname}`), Response.json(ok)),
  });
  server = Bun.serve({
    ...listen,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname.endsWith("/getFile")) return Response.json(ok);
      return Response.redirect(`http://127.0.0.1:${elsewhere.port}${pathname}`, 307);
    },
  });
  api = await openBotApi(
    { clock: systemClock },
    { token: secret("1:token"), apiRoot: `http://127.0.0.1:${server.port}` },
  );
});
afterAll(async () => {
  await server.stop(true);
  await elsewhere.stop(true);
});

const CALLS: readonly (readonly [string, (bot: BotApi) => Promise<unknown>])[] = [
  ["who the bot is", (bot) => bot.me(NEVER)],
  ["a message", (bot) => bot.call("sendMessage", { chat_id: 1, text: "words" }, NEVER)],
  ["a long call", (bot) => bot.slowCall("getUpdates", { timeout: 1 }, NEVER, 10_000)],
  [
    "an upload",
    (bot) => bot.call("sendDocument", { chat_id: 1, document: bot.upload(new Uint8Array([1]), "a") }, NEVER),
  ],
  ["a download", (bot) => bot.download("file", NEVER)],
];

test.each(CALLS)("a call that is redirected goes nowhere else: %s", async (_what, call) => {
  asked.length = 0;
  await expect(call(api)).rejects.toThrow();
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((path) => path.startsWith("elsewhere"))).toEqual([]);
});
