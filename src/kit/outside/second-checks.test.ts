/** Checks behind the first check, on a network that is played here: what reaches the wire over https, and who is at the other end. */
import { beforeEach, expect, mock, test } from "bun:test";
import { Readable } from "node:stream";
import { waitForEnd } from "../../testing/wait-for.ts";
import { systemClock } from "../clock.ts";
import { guardedFetch } from "./guarded-fetch.ts";

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: string;
}

const PUBLIC = "93.184.216.34";
let calls: string[] = [];
let answers: Answer[] = [];

/** `request` of node:http and node:https: notes the call and plays the next answer. */
function request(url: URL, _options: unknown, onResponse: (response: unknown) => void) {
  calls.push(url.href);
  const { status, headers = {}, peer = PUBLIC } = answers.shift() ?? { status: 200 };
  const response = Object.assign(Readable.from([Buffer.from("fine")]), {
    ...{ statusCode: status, headers, socket: { remoteAddress: peer } },
  });
  return { on: () => undefined, destroy: () => undefined, end: () => queueMicrotask(() => onResponse(response)) };
}
void mock.module("node:https", () => ({ request }));
void mock.module("node:http", () => ({ request }));

beforeEach(() => {
  calls = [];
  answers = [];
});

const call = (url: string) =>
  waitForEnd(
    `the end of the call to ${url}`,
    guardedFetch(
      { clock: systemClock, resolve: async () => [PUBLIC] },
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
  },
);
