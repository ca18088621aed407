/** Files to and from Telegram beside a server that gives them out in many ways: which failures are for good, what is read, and what is let go. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { FileGone } from "../../../contracts/channels/platform.ts";
import { type Deferred, deferred } from "../../../kit/deferred.ts";
import { secret } from "../../../kit/secret.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import { type BotApi, openBotApi } from "./bot-api.ts";
import { Fault } from "./faults.ts";

const TOKEN = "1:token-of-a-test";
const NEVER = new AbortController().signal;
const SOON = { withinMs: 2_000 };

const open = (apiRoot: string): Promise<BotApi> =>
  openBotApi({ clock: createFakeClock() }, { token: secret(TOKEN), apiRoot });

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it worked",
    (error: unknown) => error,
  );

describe("a file of Telegram", () => {
  let server: Bun.Server<undefined>;
  let api: BotApi;
  let asked: Deferred<void>;
  let letGo: Deferred<void>;
  /** What the server answers to getFile, and to the download. */
  let path: (() => object) | "silence";
  let content: () => Response;

  beforeAll(async () => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        if (!request.url.endsWith("/getFile")) return content();
        asked.resolve();
        return path === "silence"
          ? letGo.promise.then(() => Response.json({}))
          : Response.json({ ok: true, result: path() });
      },
    });
    api = await open(`http://127.0.0.1:${server.port}`);
  });
  afterAll(() => server.stop(true));

  const download = (signal = NEVER) => api.download("f", signal);
  const given = (next: { path?: typeof path; content?: typeof content }): void => {
    asked = deferred();
    letGo = deferred();
    path = next.path ?? (() => ({ file_path: "a b/c.txt" }));
    content = next.content ?? (() => new Response("words"));
  };
  /** Bytes without an end; `letGo` resolves when nobody reads them any more. */
  const endless = (headers: Record<string, string> = {}): Response =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(64)),
        cancel: () => letGo.resolve(),
      }),
      { headers },
    );

  test("is not waited for when whoever wants it gives up while its path is asked for", async () => {
    given({ path: "silence" });
    const stop = new AbortController();
    const failed = failure(download(stop.signal));
    await asked.promise;
    stop.abort(new Error("no longer wanted"));
    expect(await waitForEnd("the end of the download", failed, SOON)).toBeInstanceOf(Fault);
    letGo.resolve();
  });

  test("that has no path is gone for good", async () => {
    given({ path: () => ({}) });
    expect(await failure(download())).toBeInstanceOf(FileGone);
  });

  test.each([
    [404, FileGone],
    [403, FileGone],
    [429, Fault],
    [500, Fault],
    [503, Fault],
  ] as const)("that is answered with status %d is gone, or asked for again", async (status, kind) => {
    given({ content: () => new Response("no", { status }) });
    expect(await failure(download())).toBeInstanceOf(kind);
  });

  test("is let go when whoever reads it has enough", async () => {
    given({ content: endless });
    const reader = (await download()).getReader();
    await reader.read();
    await reader.cancel("enough");
    await waitForEnd("the end of the connection", letGo.promise, SOON);
  });

  test("whose question is answered with a page that never ends is given up, and the page is let go", async () => {
    given({});
    const pages = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => endless({ "content-type": "text/html" }) });
    try {
      const other = await open(`http://127.0.0.1:${pages.port}`);
      expect(await failure(other.me(NEVER))).toBeInstanceOf(Fault);
      await waitForEnd("the end of the page", letGo.promise, SOON);
    } finally {
      await pages.stop(true);
    }
  });

  test("gets a name where it has none, and one that is not too long", () => {
    const nameOf = (name: string) => api.upload(new Uint8Array(1), name).filename;
    expect(["", "a/b?.txt"].map(nameOf)).toEqual(["file", "a_b_.txt"]);
    expect(nameOf(`${"x".repeat(200)}.txt`)).toBe(`${"x".repeat(96)}.txt`);
  });
});

test("a download that breaks off fails without the address, which has the token in it", async () => {
  const server: Server = createServer((socket) => {
    socket.on("error", () => undefined); // it is cut off below
    socket.once("data", (request) => {
      if (request.toString().includes("/getFile")) {
        const body = JSON.stringify({ ok: true, result: { file_path: "a.txt" } });
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
        return;
      }
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome");
      setImmediate(() => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    const api = await open(`http://127.0.0.1:${address.port}`);
    const error = await failure(api.download("f", NEVER).then((body) => new Response(body).text()));
    expect(error).toBeInstanceOf(Fault);
    expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain(TOKEN);
  } finally {
    server.close();
  }
});
