import { describe, expect, test } from "bun:test";
import { type HttpWorld, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";

type HeaderSet = Record<string, string>;
const bearer: HeaderSet = { authorization: `Bearer ${TOKEN}` };
const json: HeaderSet = { "content-type": "application/json" };

const get = async (world: HttpWorld, path: string, headers: HeaderSet) =>
  (await fetch(world.url(path), { headers, redirect: "manual" })).status;
const post = async (world: HttpWorld, path: string, headers: HeaderSet, body = "{}") =>
  (await fetch(world.url(path), { method: "POST", headers: { ...json, ...headers }, body })).status;
/** 101 when the socket opens, otherwise the status of the refusal. */
const upgrade = async (world: HttpWorld, headers: HeaderSet) => {
  const handshake = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const { promise, resolve } = Promise.withResolvers<number>();
  const head = Object.entries({ host: new URL(world.http.url).host, ...handshake, ...headers });
  await Bun.connect({
    hostname: "127.0.0.1",
    port: world.http.port,
    socket: {
      open: (socket) =>
        void socket.write(`GET /ws HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`),
      data(socket, data) {
        resolve(Number(/^HTTP\/1.1 (\d+)/.exec(data.toString())?.[1]));
        socket.end();
      },
      close: () => resolve(0),
    },
  });
  return promise;
};

describe("the Host header", () => {
  test("has to name this gateway on every route, web console and socket included", async () => {
    await using world = startHttpWorld();
    for (const host of [
      "evil.example",
      "localhost",
      `evil.example:${world.http.port}`,
      `127.0.0.1.nip.io:${world.http.port}`,
    ]) {
      for (const path of ["/", "/health", "/app-1a2b.js", "/api/status", "/media/x", "/ws", "/nothing"]) {
        expect([host, path, await get(world, path, { ...bearer, host })]).toEqual([host, path, 421]);
      }
      expect(await post(world, "/api/sign-in", { host }, JSON.stringify({ token: TOKEN }))).toBe(421);
      expect(await post(world, "/api/chat", { ...bearer, host }, JSON.stringify({ text: "hi", stream: true }))).toBe(
        421,
      );
      expect(await upgrade(world, { ...bearer, host })).toBe(421);
    }
    expect(world.received).toEqual([]);
  });

  test("may be any of the loopback names, and the configured ones", async () => {
    await using world = startHttpWorld({ allowedHosts: ["chat.example.com"] });
    for (const host of ["127.0.0.1", "LOCALHOST", "localhost.", "[::1]"]) {
      expect(await get(world, "/health", { host: `${host}:${world.http.port}` })).toBe(200);
    }
    expect(await get(world, "/health", { host: "chat.example.com" })).toBe(200);
  });
});

describe("the Origin header", () => {
  test("of another site is refused for anything that changes something, whatever the credential", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const page = { "x-pi-gateway": "1" };
    for (const origin of ["http://evil.example", "null", "http://localhost:3000", "https://127.0.0.1", "file://"]) {
      const by = { bearer: { ...bearer, origin }, cookie: { ...page, cookie, origin }, none: { origin } };
      for (const [how, headers] of Object.entries(by)) {
        expect([origin, how, await post(world, "/api/config/reload", headers)]).toEqual([origin, how, 403]);
        expect([origin, how, await upgrade(world, headers)]).toEqual([origin, how, 403]);
      }
      expect(await post(world, "/api/sign-in", { origin }, JSON.stringify({ token: TOKEN }))).toBe(403);
    }
  });

  test("of the gateway itself is fine, and programs may leave it out", async () => {
    await using world = startHttpWorld();
    expect(await post(world, "/api/config/reload", { ...bearer, origin: world.http.url })).toBe(200);
    expect(await post(world, "/api/config/reload", bearer)).toBe(200);
    expect(await upgrade(world, bearer)).toBe(101);
  });

  test("is never echoed: there are no CORS headers, and preflights are refused", async () => {
    await using world = startHttpWorld();
    for (const method of ["GET", "OPTIONS"]) {
      const response = await fetch(world.url("/api/status"), {
        method,
        headers: { ...bearer, origin: world.http.url },
      });
      const cors = [...response.headers.keys()].filter((name) => name.startsWith("access-control"));
      expect([cors, response.headers.get("vary")]).toEqual([[], "Origin"]);
    }
    expect(
      (await fetch(world.url("/api/chat"), { method: "OPTIONS", headers: { origin: "http://evil.example" } })).status,
    ).toBe(403);
  });
});

describe("a cookie", () => {
  test("changes things only together with the gateway's own origin and the web console's header", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const origin = world.http.url;
    const page = { "x-pi-gateway": "1" };
    const cases: [HeaderSet, number][] = [
      [{ cookie, origin, ...page }, 200],
      [{ cookie, origin, ...page, "sec-fetch-site": "same-origin" }, 200],
      [{ cookie, origin }, 403],
      [{ cookie, origin, "x-pi-gateway": "0" }, 403],
      [{ cookie, ...page }, 403],
      [{ cookie, origin, ...page, "sec-fetch-site": "same-site" }, 403],
      [{ cookie, origin, ...page, "sec-fetch-site": "cross-site" }, 403],
      [{ origin, ...page }, 401],
      [{ cookie: "pi_gateway_1=abc", origin, ...page }, 401],
    ];
    for (const [headers, status] of cases) {
      expect([headers, await post(world, "/api/config/reload", headers)]).toEqual([headers, status]);
    }
  });

  test("opens the socket only from the gateway's own web console", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    expect(await upgrade(world, { cookie, origin: world.http.url })).toBe(101);
    expect(await upgrade(world, { cookie })).toBe(403);
    expect(await upgrade(world, { cookie, origin: "http://localhost:3000" })).toBe(403);
    expect(await upgrade(world, {})).toBe(401);
  });

  test("reads only for requests of the web console itself or of the address bar", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const read = (site: string) =>
      get(world, "/api/status", { cookie, "sec-fetch-site": site, "sec-fetch-mode": "navigate" });
    expect([await read("same-origin"), await read("none"), await read("same-site"), await read("cross-site")]).toEqual([
      200, 200, 403, 403,
    ]);
    expect(await get(world, "/api/status", { cookie })).toBe(200);
  });

  test("a form of another site, as text or as a form, changes nothing", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const headers = {
        cookie,
        "content-type": type,
        origin: "null",
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
      };
      expect(await post(world, "/api/chat", headers, JSON.stringify({ text: "hi" }))).toBe(403);
    }
    expect(
      await post(world, "/api/chat", { ...bearer, "content-type": "text/plain" }, JSON.stringify({ text: "hi" })),
    ).toBe(415);
    expect(world.received).toEqual([]);
  });
});

test("pages of other sites may lead here by a link, and may load nothing", async () => {
  await using world = startHttpWorld();
  const cross = { "sec-fetch-site": "cross-site" };
  expect(await get(world, "/", { ...cross, "sec-fetch-mode": "navigate" })).toBe(200);
  expect(await get(world, "/", { ...cross, "sec-fetch-mode": "no-cors" })).toBe(403);
  expect(await get(world, "/app-1a2b.js", { ...cross, "sec-fetch-mode": "no-cors" })).toBe(403);
  expect(await get(world, "/api/status", { ...bearer, ...cross, "sec-fetch-mode": "cors" })).toBe(403);
});

test("a secret in the address is refused with a sentence, even the right one", async () => {
  await using world = startHttpWorld();
  for (const name of ["token", "access_token", "code"]) {
    const response = await fetch(world.url(`/api/status?${name}=${TOKEN}`), { headers: bearer });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error.message]).toEqual([
      400,
      "Secrets do not belong in an address. Send the token in the Authorization header instead.",
    ]);
  }
});

describe("forwarding headers", () => {
  const forged: HeaderSet[] = [
    { "x-forwarded-for": "127.0.0.1" },
    { "x-real-ip": "127.0.0.1" },
    { forwarded: "for=127.0.0.1;proto=https" },
    { "x-forwarded-user": "operator", "x-forwarded-for": "::1" },
    { "x-forwarded-host": "localhost" },
  ];

  test("never grant anything, with or without configured proxies", async () => {
    for (const trustedProxies of [[], ["127.0.0.1"], ["0.0.0.0/0"]]) {
      await using world = startHttpWorld({ trustedProxies });
      for (const headers of [{}, ...forged]) {
        expect([headers, await get(world, "/api/status", headers)]).toEqual([headers, 401]);
        expect([headers, await upgrade(world, headers)]).toEqual([headers, 401]);
      }
    }
  });

  test("make cookies Secure only when a configured proxy says the browser came over TLS", async () => {
    const flagsOf = async (trustedProxies: string[], headers: HeaderSet) => {
      await using world = startHttpWorld({ trustedProxies });
      const init = { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify({ token: TOKEN }) };
      return (await fetch(world.url("/api/sign-in"), init)).headers.get("set-cookie")?.includes("; Secure");
    };
    expect(await flagsOf([], { "x-forwarded-proto": "https" })).toBe(false);
    expect(await flagsOf(["127.0.0.1"], { "x-forwarded-proto": "https" })).toBe(true);
    expect(await flagsOf(["127.0.0.1"], {})).toBe(false);
  });
});
