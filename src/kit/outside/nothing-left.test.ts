/**
 * Whatever way a call out to the network ends, nothing of it is left: no connection, no timer. The server here never closes a connection by
 * itself, so that whatever is closed was closed by the caller.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createFakeClock, type FakeClock } from "../../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { type GuardedRequest, guardedFetch } from "./guarded-fetch.ts";
import { createGuardedStream } from "./guarded-stream.ts";

const IDLE_MS = 3_000;
const TOTAL_MS = 30_000;
const MAX_BYTES = 8;

const head = (status: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, "", ""].join("\r\n");
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** What the server sends for a path, at once; after that it says nothing more. */
const ANSWERS: Readonly<Record<string, string>> = {
  "/whole": `${head("200 OK", "content-length: 4")}fine`,
  "/as-large-as-may-be": `${head("200 OK", "content-length: 8")}finefine`,
  "/chunks": `${head("200 OK", "transfer-encoding: chunked")}${chunk("fi")}${chunk("ne")}0\r\n\r\n`,
  "/no-content": head("204 No Content"),
  "/odd-status": `${head("999 Odd", "content-length: 4")}fine`,
  "/moved": `${head("302 Found", "location: http://elsewhere.example/", "content-length: 4")}away`,
  "/circle": `${head("302 Found", "location: /circle", "content-length: 4")}away`,
  "/packed": `${head("200 OK", "content-encoding: gzip", "content-length: 4")}zzzz`,
  "/declared-large": `${head("200 OK", "content-length: 9")}x`,
  "/turns-out-large": `${head("200 OK", "transfer-encoding: chunked")}${chunk("finef")}${chunk("inef")}`,
  "/stops": `${head("200 OK", "content-length: 8")}fine`,
  "/events": `${head("200 OK", "content-type: text/event-stream", "transfer-encoding: chunked")}${chunk("data: 1")}`,
  "/silent": "",
  "/no-http": "something else\r\n\r\n",
};

const open = new Set<Socket>();
let asked = 0;
let connected = 0;
let server: Server;
let origin = "";

beforeAll(async () => {
  server = createServer((socket) => {
    connected++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined); // the caller has closed it, which is the point
    socket.once("data", (bytes) => {
      asked++;
      const [, path = ""] = bytes.toString("latin1").split(" ");
      socket.write(ANSWERS[path] ?? head("404 Not Found", "content-length: 0"));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://outside.test:${(server.address() as { port: number }).port}`;
});
afterAll(() => {
  for (const socket of open) socket.destroy();
  server.close();
});

const resolve = async (): Promise<readonly string[]> => ["127.0.0.1"];

/** Nothing of a call is left when it has ended, and it did connect. */
async function expectNothingLeft(clock: FakeClock): Promise<void> {
  expect(connected).toBeGreaterThan(0);
  await waitFor(
    "no open connection",
    () => open.size,
    (count) => count === 0,
  );
  expect(clock.pending()).toBe(0);
}

beforeEach(() => void ([asked, connected] = [0, 0]));

/** A failed expectation of one case must not fail the next. */
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

interface Ended {
  readonly path: string;
  /** How far the clock moves while the call waits. */
  readonly afterMs?: number;
  readonly gaveUp?: boolean;
  readonly as: Partial<Record<"kind" | "status" | "text" | "because", unknown>> | string;
}

const FETCHED: readonly (readonly [string, Ended])[] = [
  ["an answer", { path: "/whole", as: { kind: "answered", status: 200, text: "fine" } }],
  ["an answer of the largest size", { path: "/as-large-as-may-be", as: { kind: "answered", text: "finefine" } }],
  ["an answer in chunks", { path: "/chunks", as: { kind: "answered", text: "fine" } }],
  ["an answer without content", { path: "/no-content", as: { kind: "answered", status: 204, text: "" } }],
  ["an answer with an odd status", { path: "/odd-status", as: { kind: "answered", status: 999 } }],
  ["a redirect that is not followed", { path: "/moved", as: { kind: "refused" } }],
  ["a redirect in circles", { path: "/circle", as: { kind: "refused", because: "it redirects in circles" } }],
  ["an answer that is packed", { path: "/packed", as: { kind: "failed", because: "unreachable" } }],
  ["an answer that says it is too large", { path: "/declared-large", as: { kind: "failed", because: "large" } }],
  ["an answer that turns out too large", { path: "/turns-out-large", as: { kind: "failed", because: "large" } }],
  ["an answer that stops", { path: "/stops", afterMs: IDLE_MS, as: { kind: "failed", because: "slow" } }],
  ["no answer", { path: "/silent", afterMs: IDLE_MS, as: { kind: "failed", because: "slow" } }],
  ["something else than HTTP", { path: "/no-http", as: { kind: "failed", because: "unreachable" } }],
  ["its caller, who gave up before the answer", { path: "/silent", gaveUp: true, as: "not wanted any more" }],
  ["its caller, who gave up within the answer", { path: "/stops", gaveUp: true, as: "not wanted any more" }],
];

test.each(FETCHED)("no connection and no timer is left of a call that was ended by %s", async (_what, ended) => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const request: GuardedRequest = { url: `${origin}${ended.path}`, method: "GET", headers: {} };
  const limits = { totalMs: TOTAL_MS, idleMs: IDLE_MS, maxBytes: MAX_BYTES, trustedOrigin: origin };
  const call = guardedFetch({ clock, resolve }, request, limits, stop.signal).catch((error: unknown) => String(error));
  await waitFor("the request", () => asked > 0);
  if (ended.gaveUp) stop.abort("not wanted any more");
  await clock.advance(ended.afterMs ?? 0);
  const outcome = await waitForEnd("the end of the call", call);
  if (typeof ended.as === "string") expect(outcome).toBe(ended.as);
  else expect(outcome).toMatchObject(ended.as);
  await expectNothingLeft(clock);
});

test("a call that takes too long in all is ended, although each piece of it comes in time", async () => {
  const clock = createFakeClock();
  const request: GuardedRequest = { url: `${origin}/stops`, method: "GET", headers: {} };
  const limits = { totalMs: IDLE_MS, idleMs: TOTAL_MS, maxBytes: MAX_BYTES, trustedOrigin: origin };
  const call = guardedFetch({ clock, resolve }, request, limits, new AbortController().signal);
  await waitFor("the request", () => asked > 0);
  await clock.advance(IDLE_MS);
  expect(await waitForEnd("the end of the call", call)).toEqual({ kind: "failed", because: "slow" });
  await expectNothingLeft(clock);
});

/** What somebody does with an answer that comes piece by piece. */
type Reading = (answer: Response, clock: FakeClock, stop: AbortController) => Promise<unknown>;

const whole: Reading = (answer) => answer.text();
const nothing: Reading = async (answer) => [answer.status, answer.body];
const leaves: Reading = async (answer) => answer.body?.cancel();
const leavesLater: Reading = async (answer) => {
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
};
const waitsTooLong: Reading = async (answer, clock) => {
  const [read] = await Promise.all([answer.text(), clock.advance(IDLE_MS)]);
  return read;
};
const givesUp: Reading = async (answer, _clock, stop) => {
  const reader = answer.body?.getReader();
  await reader?.read();
  const next = reader?.read();
  stop.abort(new Error("not wanted any more"));
  return next;
};

const FAILS = Symbol("the reading fails");

const STREAMED: readonly (readonly [string, string, Reading, unknown])[] = [
  ["that was read", "/whole", whole, "fine"],
  ["that was read in chunks", "/chunks", whole, "fine"],
  ["of the largest size", "/as-large-as-may-be", whole, "finefine"],
  ["without content", "/no-content", nothing, [204, null]],
  ["with an odd status", "/odd-status", nothing, [502, null]],
  ["that turned out too large", "/turns-out-large", whole, FAILS],
  ["that stopped", "/stops", waitsTooLong, FAILS],
  ["that nobody read", "/whole", leaves, undefined],
  ["that nobody read to its end", "/turns-out-large", leavesLater, undefined],
  ["of events that nobody reads any more", "/events", leavesLater, undefined],
  ["that its caller gave up", "/stops", givesUp, FAILS],
  ["of events that its caller gave up", "/events", givesUp, FAILS],
];

test.each(STREAMED)("no connection and no timer is left of an answer %s", async (_what, path, read, outcome) => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const options = { trustedOrigins: [origin], maxBytes: MAX_BYTES, idleMs: IDLE_MS };
  const answer = await createGuardedStream({ clock, resolve }, options)(`${origin}${path}`, { signal: stop.signal });
  const reading = read(answer, clock, stop).catch(() => FAILS);
  expect(await waitForEnd("the end of the reading", reading)).toEqual(outcome);
  await expectNothingLeft(clock);
});

test.each(["/silent", "/no-http"])("no connection is left of a stream that never began, at %s", async (path) => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const options = { trustedOrigins: [origin], maxBytes: MAX_BYTES, idleMs: IDLE_MS };
  const call = createGuardedStream({ clock, resolve }, options)(`${origin}${path}`, { signal: stop.signal });
  const said = call.catch((error: unknown) => error);
  await waitFor("the request", () => asked > 0);
  if (path === "/silent") stop.abort(new Error("not wanted any more"));
  expect(await waitForEnd("the end of the call", said)).toBeInstanceOf(path === "/silent" ? Error : TypeError);
  await expectNothingLeft(clock);
});
