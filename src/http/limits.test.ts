import { describe, expect, test } from "bun:test";
import { openHttp } from "./index.ts";
import { secret } from "../kit/secret.ts";
import { type HttpWorld, PNG, startHttpWorld, TOKEN } from "../testing/http/http-fixture.ts";
import { openRawSocket, rawExchange } from "../testing/http/raw-http.ts";
import { openWs } from "../testing/http/ws-client.ts";
import { waitFor } from "../testing/wait-for.ts";

const problem = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
};
const head = (world: HttpWorld, line: string, headers: readonly string[] = []) =>
  `${[line, `Host: 127.0.0.1:${world.http.port}`, `Authorization: Bearer ${TOKEN}`, ...headers].join("\r\n")}\r\n\r\n`;

describe("a body", () => {
  test("over the limit of its route is refused with its size and the limit, before it is read", async () => {
    await using world = startHttpWorld();
    const tooBig = new Uint8Array(300 * 1024);
    expect(await problem(await world.call("/api/media", { method: "POST", body: tooBig }))).toEqual({
      status: 413,
      code: "too_large",
      message: "The body of 300.0 KiB is larger than this route accepts (256.0 KiB).",
    });
    const declared = head(world, "POST /api/sign-in HTTP/1.1", [
      "Content-Type: application/json",
      "Content-Length: 9000",
    ]);
    expect((await rawExchange(world.http.port, declared)).statuses).toEqual([413]);
  });

  test("that does not declare its size is cut off at the limit all the same", async () => {
    await using world = startHttpWorld();
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const response = await world.call("/api/media", { method: "POST", body: stream });
    expect((await problem(response)).status).toBe(413);
  });

  test("that arrives too slowly is given up after thirty seconds", async () => {
    await using world = startHttpWorld();
    const slow = head(world, "POST /api/chat HTTP/1.1", ["Content-Type: application/json", "Content-Length: 100"]);
    const exchange = rawExchange(world.http.port, `${slow}{"text":`);
    await waitFor("the time limit of the request", () => world.clock.pending() > 0);
    await world.clock.advance(30_000);
    expect((await exchange).statuses).toEqual([408]);
  });

  test("of JSON is refused when it is nested too deeply, not JSON, not UTF-8 or not called JSON", async () => {
    await using world = startHttpWorld();
    const deep = `${"[".repeat(65)}${"]".repeat(65)}`;
    expect((await problem(await world.postJson("/api/chat", deep))).message).toBe(
      "The JSON is nested deeper than 64 levels.",
    );
    expect((await problem(await world.postJson("/api/chat", "{"))).code).toBe("bad_request");
    expect((await problem(await world.postJson("/api/chat", ""))).code).toBe("bad_request");
    const headers = { "content-type": "application/json" };
    const invalid = await world.call("/api/chat", { method: "POST", headers, body: Uint8Array.from([34, 0xff, 34]) });
    expect((await problem(invalid)).message).toBe("The body is not valid UTF-8 text.");
    expect((await problem(await world.postJson("/api/chat", {}, { "content-type": "text/json" }))).status).toBe(415);
  });

  test.each([
    ["application/json", 422],
    ["application/json; charset=utf-8", 422],
    ['Application/JSON; Charset="UTF-8"', 422],
    ["application/json;charset=utf8;profile=x", 422],
    ["application/json; charset=utf-16", 415],
    ['application/json; charset="UTF-16LE"', 415],
    ["application/json; charset=iso-8859-1", 415],
    ["application/json; charset=", 415],
    ["application/json; charset=utf-8; charset=utf-16", 415],
    ["application/json; profile=x;CHARSET = utf-32", 415],
  ])("with the content type %s is answered with %d, because JSON is UTF-8", async (type, status) => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: 7 }, { "content-type": type });
    expect(response.status).toBe(status);
    if (status === 415) expect((await problem(response)).message).toContain("UTF-8");
  });

  test("may not bring keys that reach into prototypes", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", '{"__proto__":{"text":"hi"}}');
    expect((await problem(response)).code).toBe("invalid_params");
  });
});

describe("requests that have not shown who they are", () => {
  test("are limited per client while they last, and the operator is not affected", async () => {
    await using world = startHttpWorld();
    const open = head(world, "POST /api/sign-in HTTP/1.1", ["Content-Type: application/json", "Content-Length: 10"]);
    const slow = Array.from({ length: 50 }, () => rawExchange(world.http.port, open));
    await waitFor(
      "50 open requests",
      () => world.clock.pending(),
      (count) => count >= 50,
    );
    expect((await problem(await fetch(world.url("/health")))).code).toBe("too_many_connections");
    await world.clock.advance(30_000);
    await Promise.all(slow);
    expect((await fetch(world.url("/health"))).status).toBe(200);
  });

  test("of the operator do not count among those of unknown clients, however many are open", async () => {
    await using world = startHttpWorld();
    const stuck = Promise.withResolvers<never>();
    let open = 0;
    const list = () => {
      open++;
      return stuck.promise;
    };
    Object.assign(world.deps.store.sessions, { list });
    const requests = Array.from({ length: 60 }, () => world.call("/api/sessions"));
    await waitFor(
      "60 open requests of the operator",
      () => open,
      (count) => count === 60,
    );
    expect((await fetch(world.url("/health"))).status).toBe(200);
    stuck.reject(new Error("end of test"));
    await Promise.all(requests);
  });
});

describe("headers", () => {
  test("of more than 16 KiB are refused", async () => {
    await using world = startHttpWorld();
    const big = head(world, "GET /health HTTP/1.1", [`X-Big: ${"x".repeat(20_000)}`]);
    expect(await rawExchange(world.http.port, big)).toMatchObject({ statuses: [431], closed: true });
  });
});

describe("a request whose end is ambiguous", () => {
  const corpus: Record<string, readonly [readonly string[], string]> = {
    "length and chunks": [
      ["Content-Length: 4", "Transfer-Encoding: chunked"],
      "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    "chunks and length": [
      ["Transfer-Encoding: chunked", "Content-Length: 4"],
      "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    "two lengths": [["Content-Length: 2", "Content-Length: 3"], "{}x"],
    "two equal lengths in one header": [["Content-Length: 2, 2"], "{}"],
    "a length with a sign": [["Content-Length: +2"], "{}"],
    "a negative length": [["Content-Length: -2"], "{}"],
    "a hexadecimal length": [["Content-Length: 0x2"], "{}"],
    "an unknown coding": [["Transfer-Encoding: identity"], "{}"],
    "a hidden coding": [["Transfer-Encoding: xchunked"], "2\r\n{}\r\n0\r\n\r\n"],
    "a coding with a space before the colon": [["Transfer-Encoding : chunked"], "2\r\n{}\r\n0\r\n\r\n"],
    "a chunk size that is no number": [["Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"],
    "a negative chunk size": [["Transfer-Encoding: chunked"], "-2\r\n{}\r\n0\r\n\r\n"],
    "a chunk without its line end": [["Transfer-Encoding: chunked"], "2\r\n{}xx0\r\n\r\n"],
    "a bare line feed in headers": [["X-A: b\nContent-Length: 2"], "{}"],
    "a folded header": [["X-A: b", " Content-Length: 2"], "{}"],
  };

  for (const [name, [headers, body]] of Object.entries(corpus)) {
    test(`is answered at most once and not taken: ${name}`, async () => {
      await using world = startHttpWorld();
      for (const path of ["/api/config/reload", "/api/chat", "/api/nothing"]) {
        const lines = head(world, `POST ${path} HTTP/1.1`, ["Content-Type: application/json", ...headers]);
        const { statuses } = await rawExchange(world.http.port, `${lines}${body}`);
        expect([path, statuses.length <= 1, statuses.every((status) => status >= 400 || status === 0)]).toEqual([
          path,
          true,
          true,
        ]);
      }
    });
  }

  test("two Host headers are refused", async () => {
    await using world = startHttpWorld();
    const twice = head(world, "GET /health HTTP/1.1", ["Host: evil.example"]);
    expect((await rawExchange(world.http.port, twice)).statuses).toEqual([421]);
  });

  test("a refused body is not read as the next request", async () => {
    await using world = startHttpWorld();
    const inner = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${world.http.port}\r\n\r\n`;
    const outer = `POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1:${world.http.port}\r\nContent-Length: ${inner.length}\r\n\r\n`;
    expect((await rawExchange(world.http.port, outer + inner)).statuses).toEqual([401]);
  });
});

describe("the port", () => {
  test("that is taken is named in a sentence with the way out", async () => {
    await using world = startHttpWorld();
    const again = () =>
      openHttp(world.deps, {
        port: world.http.port,
        hostname: "127.0.0.1",
        allowedHosts: [],
        trustedProxies: [],
        auth: { token: secret(TOKEN), password: null },
        mediaKey: new Uint8Array(32),
        limits: () => ({ maxUploadBytes: 1, maxMessageChars: 1 }),
      });
    expect(again).toThrow(
      expect.objectContaining({
        code: "port_taken",
        say: `Port ${world.http.port} is in use by another program. Stop that program, or choose another with --port.`,
      }),
    );
  });

  test("is closed when the server stops: sockets are told, waiting requests are answered", async () => {
    const world = startHttpWorld();
    const socket = new WebSocket(world.url("/ws").replace("http", "ws"), {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", (event) => resolve(event.code)));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const waiting = world.postJson("/api/chat", { text: "hi" });
    await waitFor("the message", () => world.received.length > 0);
    await world[Symbol.asyncDispose]();
    expect([await closed, (await problem(await waiting)).code]).toEqual([1001, "stopping"]);
    expect(fetch(world.url("/health"))).rejects.toThrow();
  });
});

test("no error tells about the inside, whatever is sent to whichever route", async () => {
  await using world = startHttpWorld();
  world.onTaken = (id) => world.endTurn(id);
  const paths = [
    "/api/chat",
    "/api/sign-in",
    "/api/media",
    "/api/sessions/%00",
    "/api/sessions/..%2f..",
    `/api/sessions/${"x".repeat(3_000)}/transcript`,
    "/api/sessions?limit=-1",
    "/api/sessions?limit=1e400",
    "/api/sessions?cursor=%F0",
    "/media/..%2fetc?exp=1&sig=x",
    "/ws",
    "/api/config/reload",
    "/%ff",
    "/api/sessions/a/reset?x=1",
  ];
  const bodies = [
    undefined,
    "",
    "null",
    "[]",
    "{}",
    '{"text":1e400}',
    '{"text":"\\ud800"}',
    "'",
    "\0",
    '{"text":"hi","session":"../x"}',
    '{"text":"hi","attachments":[{"name":"a","mimeType":"b","data":"%"}]}',
    '{"text":"hi","attachments":[{"mediaId":"../x"}]}',
    PNG,
  ];
  for (const path of paths) {
    for (const body of bodies) {
      for (const method of ["GET", "POST", "PUT"]) {
        if (method === "GET" && body !== undefined) continue;
        const init = {
          method,
          headers: { "content-type": "application/json" },
          ...(body === undefined ? {} : { body }),
        };
        const response = await world.call(path, init);
        const text = await response.text();
        expect([path, method, /at \/|node_modules|\.ts:|Error:/.test(text)]).toEqual([path, method, false]);
        expect([path, method, response.status === 500]).toEqual([path, method, false]);
        expect(response.headers.get("x-request-id")).toMatch(/^req_/);
        if (response.status >= 400) expect(Object.keys(JSON.parse(text).error)).toContain("requestId");
      }
    }
  }
});

test("an unexpected fault is a plain 500 with the request id that is in the log", async () => {
  await using world = startHttpWorld();
  Object.assign(world.deps.store.sessions, { list: () => Promise.reject(new Error("secret path /var/lib/x")) });
  const response = await world.call("/api/sessions");
  const text = await response.text();
  expect([response.status, text.includes("/var/lib")]).toEqual([500, false]);
  const line = world.log.lines.find((said) => said.words === "request failed unexpectedly");
  expect(line?.fields["requestId"]).toBe(JSON.parse(text).error.requestId);
});

test("a browser that stops reading is cut off instead of filling memory, and others go on", async () => {
  await using world = startHttpWorld();
  const ask = { id: "1", method: "subscribe", params: { events: ["message"] } };
  using stuck = await openRawSocket(world.http.port, TOKEN, ask);
  using reading = await openWs(world);
  await reading.ask("subscribe", { events: ["message"] });
  stuck.stopReading();
  let sent = 0;
  while (world.http.stats().sockets === 2 && sent < 200) {
    world.say({ id: `m${++sent}`, text: "x".repeat(200_000) });
    await waitFor(
      `event ${sent}`,
      () => reading.events.length,
      (count) => count >= sent,
    );
  }
  expect(world.http.stats().sockets).toBe(1);
  expect(sent).toBeLessThan(100);
  expect(reading.events).toHaveLength(sent);
});
