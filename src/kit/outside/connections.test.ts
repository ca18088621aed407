/** Calls out to the network: no connection outlives its call, and no wait, redirect or size is without a limit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { systemClock } from "../clock.ts";
import { type GuardedLimits, type GuardedRequest, guardedFetch } from "./guarded-fetch.ts";
import type { Resolver } from "./public-address.ts";

const NEVER = new AbortController().signal;
const open = new Set<Socket>();
let connections = 0;
let requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
let server: Server;
let port = 0;

const ROUTES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "/ok": (response) => void response.end("fine"),
  "/declared": (response) => void response.writeHead(200, { "content-length": "99999999" }).write("x"),
  "/endless": (response) => void response.writeHead(200).write("x".repeat(9_000)),
  "/pieces": (response) => {
    response.writeHead(200).write("x".repeat(5_000));
    response.once("drain", () => undefined);
    setImmediate(() => setImmediate(() => response.write("x".repeat(5_000))));
  },
  "/silent": () => undefined,
  "/drip": (response) => void response.writeHead(200).write("a little, and then nothing"),
  "/gzip": (response) => void response.writeHead(200, { "content-encoding": "gzip" }).write("zzz"),
  "/away": (response) => void response.writeHead(302, { location: "http://elsewhere.example/" }).end("x"),
  "/circle": (response) => void response.writeHead(302, { location: "/circle" }).end(),
  "/moved": (response) => void response.writeHead(307, { location: "/ok" }).end(),
  "/other-port": (response) => void response.writeHead(302, { location: "http://search.test:80/ok" }).end(),
  "/busy-for-years": (response) => void response.writeHead(429, { "retry-after": "99999999" }).end(),
  "/busy": (response) => void response.writeHead(429, { "retry-after": "7" }).end(),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    ROUTES[request.url ?? ""]?.(response);
  });
  server.on("connection", (socket) => {
    connections++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined); // the other side has closed it, which is the point
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = Number((server.address() as { port: number }).port);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const origin = (): string => `http://search.test:${port}`;
const limits = (more: Partial<GuardedLimits> = {}): GuardedLimits => ({
  totalMs: 30_000,
  idleMs: 3_000,
  maxBytes: 8_000,
  trustedOrigin: origin(),
  ...more,
});
const local: Resolver = async () => ["127.0.0.1"];

interface Call {
  readonly request?: Partial<GuardedRequest>;
  readonly limits?: Partial<GuardedLimits>;
  readonly resolve?: Resolver;
  readonly signal?: AbortSignal;
}

/** Far below the total limit: an answer that comes later was not ended by what the test is about. */
function call(path: string, { request = {}, limits: more, resolve = local, signal = NEVER }: Call = {}) {
  const url = path.startsWith("http") ? path : `${origin()}${path}`;
  const wanted: GuardedRequest = { url, method: "GET", headers: {}, ...request };
  return waitForEnd(
    `the end of the call to ${path}`,
    guardedFetch({ clock: systemClock, resolve }, wanted, limits(more), signal),
  );
}

describe("a connection is closed when its call is over:", () => {
  test.each([
    ["an answer", "/ok", { kind: "answered" }],
    ["an answer that says it is too large", "/declared", { because: "large" }],
    ["an answer that turns out too large", "/endless", { because: "large" }],
    ["an answer that is too large in several pieces", "/pieces", { because: "large" }],
    ["no answer", "/silent", { because: "slow" }],
    ["an answer that stops in the middle", "/drip", { because: "slow" }],
    ["a packed answer nobody asked for", "/gzip", { because: "unreachable" }],
    ["a redirect that is not followed", "/away", { kind: "refused" }],
    ["a redirect in circles", "/circle", { kind: "refused" }],
  ] as const)("after %s", async (_what, path, outcome) => {
    const before = connections;
    const idleMs = ["/silent", "/drip"].includes(path) ? 100 : 3_000;
    expect(await call(path, { limits: { idleMs } })).toMatchObject(outcome);
    expect(connections).toBeGreaterThan(before);
    await waitFor(
      "no open connection",
      () => open.size,
      (count) => count === 0,
    );
  });

  test.each(["/silent", "/drip", "/endless"])("when a caller gives up on %s", async (path) => {
    const stop = new AbortController();
    const before = requests.length;
    const calling = call(path, { signal: stop.signal, limits: { idleMs: 30_000, maxBytes: 1_000_000 } });
    await waitFor("the request", () => requests.length > before);
    stop.abort(new Error("not wanted any more"));
    await expect(calling).rejects.toThrow("not wanted any more");
    await waitFor(
      "no open connection",
      () => open.size,
      (count) => count === 0,
    );
  });
});

test("no connection is left, whichever moment of a call its caller gives up at", async () => {
  const given: string[] = [];
  for (let steps = 0; steps < 40; steps++) {
    const stop = new AbortController();
    const calling = call("/silent", { signal: stop.signal, limits: { idleMs: 30_000 } });
    for (let step = 0; step < steps; step++) await Promise.resolve(); // one more step of the call each time
    stop.abort(new Error("not wanted any more"));
    await calling.catch((error: unknown) => given.push(String(error)));
  }
  expect(new Set(given)).toEqual(new Set(["Error: not wanted any more"]));
  expect((await call("/ok")).kind).toBe("answered"); // whatever was begun before it has reached the server
  await waitFor(
    "no open connection",
    () => open.size,
    (count) => count === 0,
  );
});

test("a call whose caller has given up already reaches nobody", async () => {
  requests = [];
  const asked: string[] = [];
  const resolve: Resolver = async (host) => {
    asked.push(host);
    return ["127.0.0.1"];
  };
  await expect(call("/ok", { resolve, signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
  expect((await call("/busy")).kind).toBe("answered");
  expect([asked, requests.map(({ path }) => path)]).toEqual([[], ["/busy"]]);
});

describe("a limit", () => {
  test("on silence holds before the first byte, not only between pieces", async () => {
    expect(await call("/silent", { limits: { totalMs: 60_000, idleMs: 50 } })).toEqual({
      kind: "failed",
      because: "slow",
    });
  });

  test("on the whole call holds while the name is looked up", async () => {
    const hanging: Resolver = () => new Promise(() => undefined);
    expect(await call("/ok", { resolve: hanging, limits: { totalMs: 50 } })).toEqual({
      kind: "failed",
      because: "slow",
    });
  });

  test("on redirects is five: a circle costs six requests", async () => {
    requests = [];
    expect((await call("/circle")).kind).toBe("refused");
    expect(requests.length).toBe(6);
  });
});

describe("a redirect is not followed", () => {
  test("after a POST, whose body would be sent again", async () => {
    requests = [];
    expect((await call("/moved", { request: { method: "POST", body: "the body" } })).kind).toBe("refused");
    expect(requests.map(({ path }) => path)).toEqual(["/moved"]);
  });

  test("to another port of the same host, which is another program", async () => {
    expect(await call("/other-port")).toMatchObject({
      kind: "refused",
      because: "it answered with a redirection that is not followed",
    });
  });
});

describe("a place is not called", () => {
  test("with a user name in its address, with or without a password", async () => {
    requests = [];
    for (const who of ["user", "user:pass", ":pass"]) {
      const place = `http://${who}@search.test:${port}/ok`;
      expect(await call(place)).toEqual({ kind: "refused", because: "the address carries a password" });
    }
    expect(requests).toEqual([]);
  });

  test("at another port than the one the operator wrote down", async () => {
    const trustedOrigin = `http://search.test:${port + 1}`;
    expect(await call("/ok", { limits: { trustedOrigin } })).toMatchObject({ kind: "refused" });
  });
});

test("an answer that asks for a pause says so in milliseconds", async () => {
  expect(await call("/busy")).toMatchObject({ kind: "answered", status: 429, retryAfterMs: 7_000 });
});

test("an answer that asks for a pause of years asks for none", async () => {
  expect(await call("/busy-for-years")).not.toHaveProperty("retryAfterMs");
});

test("a caller cannot ask for a packed answer or hide who calls", async () => {
  requests = [];
  await call("/ok", { request: { headers: { "accept-encoding": "gzip", "user-agent": "somebody", "x-key": "k" } } });
  expect(requests[0]?.headers).toMatchObject({
    "accept-encoding": "identity",
    "user-agent": "pi-gateway",
    "x-key": "k",
  });
});

test.each(["/ok", "/declared", "/gzip", "/away"])("no timer is left of a call to %s", async (path) => {
  const clock = createFakeClock();
  const request: GuardedRequest = { url: `${origin()}${path}`, method: "GET", headers: {} };
  await waitForEnd("the end of the call", guardedFetch({ clock, resolve: local }, request, limits(), NEVER));
  expect(clock.pending()).toBe(0);
});
