/** Checks behind the first check, on a network that is played here: what reaches the wire over https, and who is at the other end. */
import { beforeEach, expect, mock, test } from "bun:test";
import { Readable } from "node:stream";
import { waitForEnd } from "../../testing/wait-for.ts";
import { systemClock } from "../clock.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { systemResolver } from "./public-address.ts";
import { createGuardedStream } from "./guarded-stream.ts";
import { isTemporaryStatus } from "./temporary-status.ts";

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: the connection is gone already, and nobody knows who it was. */
  readonly peer?: string | null;
}

const PUBLIC = "93.184.216.34";
let calls: string[] = [];
/** What each call may look up: the address it is to be connected to. */
let lookups: ((all: boolean) => unknown)[] = [];
/** Connections that were closed. */
let destroyed = 0;
/** Which of the two libraries made the call. */
let made: string[] = [];
let answers: Answer[] = [];

type Lookup = (host: string, options: object, done: (...found: unknown[]) => void) => void;

/** `request` of node:http and node:https: notes the call and plays the next answer. */
const request =
  (by: string) => (url: URL, options: { readonly lookup: Lookup }, onResponse: (one: unknown) => void) => {
    calls.push(url.href);
    made.push(by);
    lookups.push((all) => {
      let found: unknown = null;
      options.lookup(url.hostname, { all }, (_error, ...rest) => void (found = rest));
      return found;
    });
    const { status, headers = {}, peer = PUBLIC } = answers.shift() ?? { status: 200 };
    const response = Object.assign(Readable.from([Buffer.from("fine")]), {
      statusCode: status,
      headers,
      socket: { remoteAddress: peer ?? undefined },
    });
    return {
      on: () => undefined,
      destroy: () => void destroyed++,
      end: () => queueMicrotask(() => onResponse(response)),
    };
  };
void mock.module("node:https", () => ({ request: request("https") }));
/** What the system is asked about a name: it knows two addresses, and tells the second one only to whoever asks for all. */
const lookup = async (host: string, options: { readonly all?: boolean }) =>
  [{ address: `first of ${host}` }, { address: "10.0.0.7" }].slice(0, options.all === true ? 2 : 1);
void mock.module("node:dns/promises", () => ({ lookup }));
void mock.module("node:http", () => ({ request: request("http") }));

beforeEach(() => {
  calls = [];
  lookups = [];
  made = [];
  answers = [];
  destroyed = 0;
});

const call = (url: string, addresses: readonly string[] = [PUBLIC]) =>
  waitForEnd(
    `the end of the call to ${url}`,
    guardedFetch(
      { clock: systemClock, resolve: async () => addresses },
      { url, method: "GET", headers: { authorization: "a key" } },
      { totalMs: 5_000, idleMs: 5_000, maxBytes: 1_000 },
      new AbortController().signal,
    ),
  );

test.each([
  ["https://api.example/a", "http://api.example/a", false],
  ["https://api.example/a", "http://api.example:443/a", false],
  ["https://api.example/a", "//api.example/b", true],
  ["https://api.example/a", "/b", true],
  ["http://api.example/a", "https://api.example/a", true],
  ["http://api.example/a", "http://api.example/b", true],
])("a redirect from %s to %s is followed: %p", async (from, location, followed) => {
  answers = [{ status: 302, headers: { location } }];
  const { kind } = await call(from);
  expect([kind, calls.length]).toEqual(followed ? ["answered", 2] : ["refused", 1]);
});

test.each(["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "::ffff:127.0.0.1"])(
  "an answer is not used when the connection has reached %s after all",
  async (peer) => {
    answers = [{ status: 200, peer }];
    expect(await call("https://api.example/")).toEqual({ kind: "failed", because: "unreachable" });
    expect(destroyed).toBe(1);
  },
);

test("an answer whose connection is gone already is used: it was made to the address that was judged", async () => {
  answers = [
    { status: 200, peer: null },
    { status: 200, peer: null },
  ];
  expect(await call("https://api.example/")).toMatchObject({ kind: "answered", text: "fine" });
  expect(await (await streamed("https://api.example/")).text()).toBe("fine");
});

const streamed = (url: string) =>
  waitForEnd(
    `the answer of ${url}`,
    createGuardedStream(
      { clock: systemClock, resolve: async () => [PUBLIC] },
      { trustedOrigins: [], maxBytes: 1_000, idleMs: 5_000 },
    )(url),
  );

test.each(["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "::ffff:127.0.0.1"])(
  "a stream is not read when the connection has reached %s after all",
  async (peer) => {
    answers = [{ status: 200, peer }];
    await expect(streamed("https://api.example/")).rejects.toThrow("it is on a private network");
    expect(destroyed).toBe(1);
  },
);

test.each([
  [200, 200, "fine"],
  [599, 599, "fine"],
  [204, 204, ""],
  [205, 205, ""],
  [101, 502, ""],
  [199, 502, ""],
  [304, 304, ""],
  [600, 502, ""],
  [999, 502, ""],
])("a stream that begins with status %d is one with status %d and %p", async (status, told, text) => {
  answers = [{ status }];
  const answer = await streamed("https://api.example/");
  expect([answer.status, await answer.text()]).toEqual([told, text]);
  expect(destroyed).toBe(1); // else the signal of a caller who stays keeps every call in memory
});

test.each([301, 302, 303, 307, 308])("status %d is a redirect, and what it leads to is the answer", async (status) => {
  answers = [{ status, headers: { location: "/next" } }];
  expect(await call("https://api.example/a")).toMatchObject({
    kind: "answered",
    status: 200,
    url: "https://api.example/next",
  });
  expect(calls).toEqual(["https://api.example/a", "https://api.example/next"]);
});

test.each([200, 204, 300, 304, 400, 404, 500])("status %d is an answer, whatever place it names", async (status) => {
  answers = [{ status, headers: { location: "/next" } }];
  expect(await call("https://api.example/a")).toMatchObject({ kind: "answered", status });
  expect(calls.length).toBe(1);
});

test.each([
  ["http://elsewhere.example/b", "http://elsewhere.example/b"],
  ["https://api.example:8443/b", "https://api.example:8443/b"],
  ["mailto:somebody@example.com", undefined],
  ["https://", undefined],
])("a redirect to %s that is not followed names %s as the place to open", async (location, redirect) => {
  answers = [{ status: 302, headers: { location } }];
  const because = "it answered with a redirection that is not followed";
  expect(await call("https://api.example/a")).toEqual({
    kind: "refused",
    because,
    ...(redirect === undefined ? {} : { redirect }),
  });
});

test("a redirect that is not followed is read from the address that sent it, and not from the first", async () => {
  answers = ["https://api.example/a", "//elsewhere.example/b"].map((location) => ({
    status: 302,
    headers: { location },
  }));
  expect(await call("http://api.example/a")).toMatchObject({
    kind: "refused",
    redirect: "https://elsewhere.example/b",
  });
});

test.each([
  ["http://api.example/", ["http"]],
  ["https://api.example/", ["https"]],
  ["http://api.example:443/", ["http"]],
  ["https://api.example:80/", ["https"]],
  ["http://api.example:80/", ["http"]],
])("%s is called, over %p", async (url, by) => {
  expect((await call(url)).kind).toBe("answered");
  expect(made).toEqual(by);
});

test.each([
  ["https://api.example/", [PUBLIC], PUBLIC, 4],
  ["https://api.example/", ["2606:4700::1111", PUBLIC], "2606:4700::1111", 6],
  ["https://[2606:4700::1111]/", ["127.0.0.1"], "2606:4700::1111", 6],
  ["https://8.8.8.8/", ["127.0.0.1"], "8.8.8.8", 4],
] as const)(
  "a call to %s, whose name means %p, is connected to %s (IPv%d)",
  async (url, addresses, address, family) => {
    expect((await call(url, addresses)).kind).toBe("answered");
    expect(lookups[0]?.(true)).toEqual([[{ address, family }]]);
    expect(lookups[0]?.(false)).toEqual([address, family]);
  },
);

test.each([408, 425, 429, 500, 502, 503, 599])("status %d may be over the next time", (status) => {
  expect(isTemporaryStatus(status)).toBe(true);
});

test.each([200, 301, 400, 401, 403, 404, 407, 409, 410, 422, 499])(
  "status %d is about the request itself",
  (status) => {
    expect(isTemporaryStatus(status)).toBe(false);
  },
);

test("the system is asked for every address of a name, and all of them are judged", async () => {
  expect(await systemResolver("name.example")).toEqual(["first of name.example", "10.0.0.7"]);
});
