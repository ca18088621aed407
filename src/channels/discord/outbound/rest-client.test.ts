/** What leaves for Discord: whatever it says, and whoever sends it, it pings nobody. */
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import type { API } from "@discordjs/core";
import { REST } from "@discordjs/rest";
import { FileGone } from "../../../contracts/channels/platform.ts";
import { secret } from "../../../kit/secret.ts";
import { checkDiscord } from "../probe.ts";
import { failureOf } from "./failure.ts";
import { mayDownload, openRest, type RestClient } from "./rest-client.ts";

const PING = "@everyone <@300000000000000001>";
const LOUD = { parse: ["everyone" as never] };
const CHANNEL = "500000000000000002";

let server: Bun.Server<undefined>;
let rest: RestClient;
let sent: unknown[] = [];
let isRefusing = false;
let trouble: (() => Response) | null = null;
const asked: string[] = [];
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/moved.txt") return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
      if (pathname === "/gone.txt") return new Response(null, { status: 404 });
      if (pathname === "/later.txt") return new Response(null, { status: 503 });
      if (pathname === "/slow.txt") return new Promise<never>(() => undefined);
      if (pathname.endsWith(".txt")) return new Response("words");
      if (trouble) return trouble();
      if (isRefusing) return Response.json({ message: "401: Unauthorized", code: 0 }, { status: 401 });
      const form = request.headers.get("content-type")?.startsWith("multipart/") ? await request.formData() : null;
      const text = form ? String(form.get("payload_json")) : await request.text();
      sent.push(text === "" ? null : JSON.parse(text));
      return Response.json({ id: "1" });
    },
  });
  rest = openRest({ token: secret("a.b.c"), apiRoot: `http://127.0.0.1:${server.port}` });
});
afterAll(async () => {
  rest[Symbol.dispose]();
  await server.stop(true);
});
beforeEach(() => {
  sent = [];
  trouble = null;
});

const file = { name: "a.txt", data: new Uint8Array([1]), contentType: "text/plain" };
const WRITES: readonly (readonly [string, (api: API) => Promise<unknown>])[] = [
  ["a message", ({ channels }) => channels.createMessage(CHANNEL, { content: PING })],
  ["a message with a file", ({ channels }) => channels.createMessage(CHANNEL, { content: PING, files: [file] })],
  [
    "a message that asks for it",
    ({ channels }) => channels.createMessage(CHANNEL, { content: PING, allowed_mentions: LOUD }),
  ],
  ["a changed message", ({ channels }) => channels.editMessage(CHANNEL, "1", { content: PING })],
  [
    "a changed message with a file",
    ({ channels }) => channels.editMessage(CHANNEL, "1", { content: PING, files: [file] }),
  ],
  [
    "an answer to an interaction",
    ({ rest: raw }) => raw.post("/interactions/1/t/callback", { body: { type: 4, data: { content: PING } } }),
  ],
  ["a message of a webhook", ({ webhooks }) => webhooks.execute("1", "t", { content: PING })],
];

test.each(WRITES)("%s pings nobody", async (_what, write) => {
  await write(rest.api);
  const [body] = sent as [{ readonly content?: string; readonly data?: object; readonly allowed_mentions?: object }];
  expect(body.data ?? body).toMatchObject({ content: PING, allowed_mentions: { parse: [] } });
});

test("a request without text goes out as it is", async () => {
  await rest.api.channels.showTyping(CHANNEL);
  await rest.api.applicationCommands.bulkOverwriteGlobalCommands("1", [{ name: "status", description: "x" }]);
  expect(sent).toEqual([null, [{ name: "status", description: "x" }]]);
});

test("a file is fetched from where Discord keeps it, and nowhere else by redirection", async () => {
  const never = new AbortController().signal;
  const download = (name: string) => rest.download(`http://127.0.0.1:${server.port}/${name}`, never);
  expect(await new Response(await download("kept.txt")).text()).toBe("words");
  await expect(download("moved.txt")).rejects.toThrow();
  expect(asked).not.toContain("/elsewhere");
});

test("the library's own timers end with the client, and with a check that failed", async () => {
  using hashes = spyOn(REST.prototype, "clearHashSweeper");
  using handlers = spyOn(REST.prototype, "clearHandlerSweeper");
  openRest({ token: secret("a.b.c") })[Symbol.dispose]();
  expect([hashes.mock.calls.length, handlers.mock.calls.length]).toEqual([1, 1]);
  await checkDiscord({ token: secret("a.b.c"), apiRoot: "http://127.0.0.1:9/api" }, AbortSignal.abort());
  expect([hashes.mock.calls.length, handlers.mock.calls.length]).toEqual([2, 2]);
});

test("a token that was refused is used again once it is renewed, and not before", async () => {
  const calling = () =>
    rest.api.channels.showTyping(CHANNEL).then(
      () => "done",
      (error: unknown) => failureOf(error).kind,
    );
  isRefusing = true;
  expect(await calling()).toBe("token");
  isRefusing = false;
  expect(await calling()).toBe("token");
  rest.renew();
  expect(await calling()).toBe("done");
});

const limited = () =>
  Response.json(
    { message: "slow down", retry_after: 7, global: false },
    { status: 429, headers: { "retry-after": "7" } },
  );
test.each([
  ["for a limit", limited, { kind: "limited", retryAfterMs: expect.any(Number) }],
  ["for a broken server", () => new Response(null, { status: 500 }), { kind: "lost", detail: "status 500" }],
])(
  "a call that fails %s is made once, and says so at once: the outbox decides what follows",
  async (_why, answer, failure) => {
    const before = asked.length;
    trouble = answer;
    const error = await rest.api.channels.createMessage(CHANNEL, { content: "x" }).catch((caught: unknown) => caught);
    expect([failureOf(error), asked.length - before]).toEqual([failure as never, 1]);
    const { retries, timeout } = (rest.api.rest as REST).options;
    expect({ retries, timeout }).toEqual({ retries: 0, timeout: 20_000 });
  },
);

test("a file that Discord has no more is gone, one that it cannot give out now may come, and a fetch is given up by its caller", async () => {
  const fetched = (name: string, signal = new AbortController().signal) =>
    rest.download(`http://127.0.0.1:${server.port}/${name}`, signal).catch((error: unknown) => error);
  expect([(await fetched("gone.txt")) instanceof FileGone, (await fetched("later.txt")) instanceof FileGone]).toEqual([
    true,
    false,
  ]);
  const stop = new AbortController();
  const slow = fetched("slow.txt", stop.signal);
  stop.abort(new Error("given up"));
  expect(await slow).toBeInstanceOf(Error);
});

test.each([
  ["https://cdn.discordapp.com/a", "https://discord.com/api", true],
  ["https://media.discordapp.net/a", "https://discord.com/api", true],
  ["http://cdn.discordapp.com/a", "https://discord.com/api", false],
  ["https://cdn.discordapp.com:8443/a", "https://discord.com/api", false],
  ["https://cdn.discordapp.com.evil.example/a", "https://discord.com/api", false],
  ["https://discord.com/a", "https://discord.com/api", false],
  ["https://proxy.example/a", "https://proxy.example/api", true],
  ["http://proxy.example/a", "https://proxy.example/api", false],
  ["no address", "https://proxy.example/api", false],
])("a file at %s with the API at %s may be fetched: %p", (url, apiRoot, may) => {
  expect(mayDownload(url, apiRoot)).toBe(may);
});
