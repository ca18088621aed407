/** The model door without pi: where calls may go, what is put in and left out, and when they end. Real HTTP on loopback. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type IncomingHttpHeaders, createServer } from "node:http";
import { checkConfigText, readEnvironment } from "../config/index.ts";
import { type ModelCall, PLACEHOLDER_KEY, type ProcessDoor } from "../contracts/model-door.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { createMux, type MuxStream } from "../kit/mux/mux.ts";
import type { Usage } from "../contracts/chat.ts";
import { secret } from "../kit/secret.ts";
import { caller } from "../testing/agent-fixture.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import { FREE_CALLS, testModelDoor } from "../testing/test-model-door.ts";
import type { CallBudget } from "./index.ts";

const KEY = "the-real-key";
const PRICES = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
const LONG_BYTES = 32 * 1024 * 1024;
const COUNTED = [
  { choices: [{ delta: { content: "hi" } }] },
  {
    choices: [],
    usage: { prompt_tokens: 1_000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 400 } },
  },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join("");
const seen: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
let sent = 0;
let hungUp = 0;
let origin = "";

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  seen.push({ path: request.url ?? "", headers: request.headers, body });
  response.on("close", () => void (response.writableEnded || hungUp++));
  if (body === "elsewhere") return void response.writeHead(307, { location: "http://127.0.0.1:1/v1/responses" }).end();
  const isReal = request.headers.authorization === `Bearer ${KEY}`;
  if (body === "only the real key" && !isReal) return void response.writeHead(401).end("no such key");
  if (body === "never") return;
  if (body === "wrong") return void response.writeHead(401, { "retry-after": "7" }).end(`no such key: ${KEY}`);
  response.writeHead(200, { "content-type": "text/event-stream", "set-cookie": "a=b", "x-request-id": "r1" });
  if (body === "count") return void response.end(COUNTED);
  if (body !== "long") return void response.end("data: hi\n\n");
  const piece = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    for (; sent < LONG_BYTES; sent += piece.length) if (!response.write(piece)) return void (sent += piece.length);
    response.end();
  };
  response.on("drain", more);
  sent = 0;
  more();
});

beforeAll(async () => {
  server.keepAliveTimeout = 600_000; // a slow test must not find the connection of the one before closed
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Process {
  readonly door: ProcessDoor;
  /** Those that have ended. */
  readonly calls: readonly ModelCall[];
  ask(path: string, body?: string, more?: AskOptions): MuxStream;
}

interface AskOptions {
  readonly headers?: [string, string][];
  readonly method?: string;
  /** Another model is asked when this one fails. */
  readonly more?: boolean;
  /** The request has no end before this. */
  readonly until?: Promise<unknown>;
}

/** A process that may call `local`, with its end of the connection. */
function processOf(
  providers: readonly string[] = ["local"],
  budget: CallBudget = FREE_CALLS,
  keys = {},
  clock: Clock = systemClock,
): Process {
  const calls: ModelCall[] = [];
  const served = { apiKey: KEY, models: [{ id: "m" }] };
  const local = { ...served, baseUrl: `${origin}/v1` };
  const gone = { ...served, baseUrl: "http://127.0.0.1:1/v1" };
  const { config } = checkConfigText(JSON.stringify({ models: { keys, providers: { local, gone } } }), () => undefined);
  if (!config) throw new Error("the test's own configuration is not valid");
  const environment = { ...readEnvironment({}), providerKeys: { OPENAI_API_KEY: secret("key-of-openai") } };
  const events = { emit: (_name: string, call: unknown) => void calls.push(call as ModelCall) };
  const deps = { log: recordingLog(), events, clock };
  const door = testModelDoor(deps, { models: config.models, environment }, budget).connect({
    providers,
    fallbackAfterMs: 60_000,
    callsItself: false,
  });
  const gateway = createMux({
    side: "even",
    write: (bytes) => {
      queueMicrotask(() => agent.push(bytes));
      return bytes.length;
    },
    opened: door.serve,
    broken: (why) => expect(why).toBe("nothing"),
  });
  const agent = createMux({
    side: "odd",
    write: (bytes) => {
      queueMicrotask(() => gateway.push(bytes));
      return bytes.length;
    },
    opened: (stream) => stream.abort("nothing is served here"),
    broken: (why) => expect(why).toBe("nothing"),
  });
  door.lease(caller("operator"));
  return {
    door,
    calls,
    ask(path, body = "hello", options = {}) {
      const {
        headers = [["authorization", `Bearer ${PLACEHOLDER_KEY}`]],
        method = "POST",
        until,
        more = false,
      } = options;
      const call = agent.open({
        method,
        url: path.startsWith("http") ? path : `${origin}${path}`,
        headers,
        model: "m",
        prices: PRICES,
        more,
      });
      void call
        .write(new TextEncoder().encode(body))
        .then(() => until)
        .then(call.end, () => undefined);
      return call;
    },
  };
}

async function textOf(call: MuxStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await call.read(); chunk !== null; chunk = await call.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

test("a call gets the key where the placeholder was, and loses what belongs to its connection", async () => {
  const headers: [string, string][] = [
    ["Authorization", `Bearer ${PLACEHOLDER_KEY}`],
    ["x-note", PLACEHOLDER_KEY],
    ["x-other", "kept"],
    ["cookie", "c=1"],
    ["proxy-authorization", "p"],
    ["host", "elsewhere.example"],
  ];
  const call = processOf().ask("/v1/chat/completions", "hello", { headers });
  expect(await call.answer).toMatchObject({ status: 200 });
  expect(await textOf(call)).toBe("data: hi\n\n");
  const got = seen.at(-1)?.headers;
  expect(got).toMatchObject({ authorization: `Bearer ${KEY}`, "x-other": "kept", "accept-encoding": "identity" });
  expect([got?.cookie, got?.["proxy-authorization"], got?.["x-note"]]).toEqual([undefined, undefined, undefined]);
  expect(got?.host).not.toBe("elsewhere.example");
});

test("a call that began in one turn is not made in the next", async () => {
  const before = seen.length;
  const { door, ask } = processOf();
  const over = Promise.withResolvers<void>();
  const call = ask("/v1/responses", "hello", { until: over.promise });
  await new Promise((resolve) => setImmediate(resolve)); // its beginning has arrived
  door.lease(caller("somebody else"));
  over.resolve();
  expect(await call.answer).toMatchObject({ status: 403 });
  expect(seen.length).toBe(before);
});

test("a call that is too large is refused, and reaches nobody", async () => {
  const before = seen.length;
  const call = processOf().ask("/v1/responses", "x".repeat(64 * 1024 * 1024 + 1));
  expect(await call.answer).toMatchObject({ status: 413 });
  expect(seen.length).toBe(before);
});

test("a model that failed is left alone until it answers somebody who has no other", async () => {
  const { ask } = processOf();
  const statusOf = async (body: string, more: boolean) => {
    const call = ask("/v1/responses", body, { more });
    const { status } = (await call.answer) as { status: number };
    await textOf(call);
    return status;
  };
  const statuses = [];
  for (const [body, more] of [
    ["wrong", true],
    ["hello", true],
    ["count", false],
    ["hello", true],
  ] as const)
    statuses.push(await statusOf(body, more));
  expect(statuses).toEqual([401, 503, 200, 200]);
});

test("a process that calls its provider itself hears of a spent budget before its next call, and not after its last answer", () => {
  const refusal = { code: "budget_spent", detail: "9 of 9", say: "It is used up." } as const;
  const models = { keys: {}, providers: {} };
  const deps = { log: recordingLog(), events: { emit: () => undefined } };
  const budget = { refusal: () => refusal, spent: () => undefined };
  const door = testModelDoor(deps, { models, environment: readEnvironment({}) }, budget).connect({
    providers: [],
    fallbackAfterMs: 60_000,
    callsItself: true,
  });
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 1 };
  expect(door.told(usage, true)).toBeNull(); // it works for nobody
  door.lease(caller("operator"));
  expect([door.told(usage, false), door.refusal()]).toEqual([null, null]);
  expect([door.told(usage, true), door.refusal()]).toEqual([refusal, refusal]);
});

test("an answer that came through the door is not counted again when pi tells of it", () => {
  const spent: Usage[] = [];
  const { door } = processOf(["local"], { refusal: () => null, spent: (_caller, usage) => void spent.push(usage) });
  expect(door.told({ inputTokens: 1, outputTokens: 1, costUsd: 1 }, true)).toBeNull();
  expect(spent).toEqual([]);
});

test("an answer keeps its headers, but for cookies and those of the connection", async () => {
  const head = (await processOf().ask("/v1/responses").answer) as { headers: [string, string][] };
  const names = head.headers.map(([name]) => name);
  expect(names).toContain("x-request-id");
  expect(names.filter((name) => ["set-cookie", "connection", "transfer-encoding"].includes(name))).toEqual([]);
});

describe("a call that is refused reaches nobody", () => {
  test.each([
    ["to another host", "https://evil.example/v1/chat/completions", "POST"],
    ["to another port of the same host", "http://127.0.0.1:1/v1/chat/completions", "POST"],
    ["to a provider that is not the process's own", "https://api.openai.com/v1/responses", "POST"],
    ["above the base address", "/chat/completions", "POST"],
    ["beside the base address", "/v10/chat/completions", "POST"],
    ["out of the base address", "/v1/../admin/chat/completions", "POST"],
    ["that is no model call", "/v1/files", "POST"],
    ["that is no model call by its method", "/v1/responses", "DELETE"],
  ])("%s", async (_name, path, method) => {
    const before = seen.length;
    const call = processOf().ask(path, "hello", { method });
    expect(await call.answer).toMatchObject({ status: 403 });
    expect(JSON.parse(await textOf(call)).error.message).toMatch(/Only model calls|not an address/);
    expect(seen.length).toBe(before);
  });

  test("without a lease", async () => {
    const { door, ask } = processOf();
    door.lease(null);
    const before = seen.length;
    expect(await ask("/v1/responses").answer).toMatchObject({ status: 403 });
    expect(seen.length).toBe(before);
  });

  test("that cannot be understood", async () => {
    const call = processOf().ask("/v1/responses", "hello", { headers: "none" as never });
    expect(await call.answer).toMatchObject({ status: 400 });
  });
});

test("a redirect is handed on and not followed, so that the key goes nowhere else", async () => {
  const before = seen.length;
  expect(await processOf().ask("/v1/responses", "elsewhere").answer).toMatchObject({ status: 307 });
  expect(seen.length).toBe(before + 1);
});

test("an error of the provider loses the key that it repeats, and keeps its headers", async () => {
  const call = processOf().ask("/v1/responses", "wrong");
  const head = (await call.answer) as { status: number; headers: [string, string][] };
  expect([head.status, Object.fromEntries(head.headers)["retry-after"]]).toEqual([401, "7"]);
  expect(await textOf(call)).toBe("no such key: [redacted]");
});

test("a call that runs ends with the lease, at the provider too", async () => {
  const { door, ask } = processOf();
  const call = ask("/v1/responses", "never");
  const before = hungUp;
  await waitFor("the call to arrive", () => seen.at(-1)?.body === "never");
  door.lease(null);
  await expect(call.answer).rejects.toThrow("the turn is over");
  await waitFor("the provider to notice", () => hungUp === before + 1);
});

test("a call that the process gives up ends at the provider", async () => {
  const call = processOf().ask("/v1/responses", "never");
  const [before, arrived] = [hungUp, seen.length];
  await waitFor("the call to arrive", () => seen.length > arrived);
  call.abort("stopped");
  await waitFor("the provider to notice", () => hungUp === before + 1);
});

test.each([
  [true, 1],
  [false, 0],
])(
  "a call that stays silent is given up after a minute where another model can answer (%p), and only there",
  async (more, limits) => {
    const clock = createFakeClock();
    const call = processOf(["local"], FREE_CALLS, {}, clock).ask("/v1/responses", "never", { more });
    const arrived = seen.length;
    await waitFor("the call to arrive", () => seen.length > arrived);
    expect(clock.pending()).toBe(limits);
    if (more) {
      await clock.advance(60_000);
      await expect(call.answer).rejects.toThrow("no word within 60 s");
    }
    call.abort("stopped");
  },
);

test("an answer that nobody reads holds the provider up, and is not kept in memory", async () => {
  const call = processOf().ask("/v1/responses", "long");
  expect(await call.answer).toMatchObject({ status: 200 });
  let [last, looks] = [-1, 0];
  await waitFor("the provider to be held up", () => {
    looks = sent === last && sent > 0 ? looks + 1 : 0;
    last = sent;
    return looks > 60; // the last of them are milliseconds apart
  });
  expect(sent).toBeLessThan(LONG_BYTES / 2);
  expect((await textOf(call)).length).toBe(LONG_BYTES);
});

test("a provider that cannot be reached ends the call with a reason", async () => {
  const call = processOf(["gone"]).ask("http://127.0.0.1:1/v1/responses");
  await expect(call.answer).rejects.toThrow(/connect/i);
});

test("a call is measured: its model, its first word, its tokens and what they cost", async () => {
  const spent: Usage[] = [];
  const budget: CallBudget = { refusal: () => null, spent: (_caller, usage) => void spent.push(usage) };
  const { ask, calls } = processOf(["local"], budget);
  const call = ask("/v1/chat/completions", "count");
  await textOf(call);
  await waitFor("the call to be measured", () => calls.length === 1);
  const usage = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 50, costUsd: 0.0007 };
  expect(calls[0]).toMatchObject({ model: "local/m", provider: "local", outcome: "answered", status: 200, usage });
  expect(calls[0]?.firstTokenMs).toBeGreaterThanOrEqual(0);
  expect(calls[0]?.ms).toBeGreaterThanOrEqual(calls[0]?.firstTokenMs ?? Infinity);
  expect(spent).toEqual([usage]);
});

test("a call that the budget does not allow is refused with its sentence, and reaches nobody", async () => {
  const refusal = { code: "budget_spent", detail: "9 of 9", say: "The daily budget is used up." } as const;
  const { ask, door, calls } = processOf(["local"], { refusal: () => refusal, spent: () => undefined });
  const before = seen.length;
  const call = ask("/v1/responses");
  expect(await call.answer).toMatchObject({ status: 402 });
  expect(await textOf(call)).toContain("The daily budget is used up.");
  expect(door.refusal()).toEqual(refusal);
  expect([seen.length, calls[0]?.outcome]).toEqual([before, "refused"]);
  door.lease(caller("operator"));
  expect(door.refusal()).toBeNull(); // the next turn begins without it
});

test("a call whose key is refused goes out again with the next key, and says so in its measure", async () => {
  const { ask, calls } = processOf(["local"], FREE_CALLS, { local: [{ value: "bad-key" }, { value: KEY }] });
  const call = ask("/v1/responses", "only the real key");
  expect(await call.answer).toMatchObject({ status: 200 });
  await textOf(call);
  await waitFor("the call to be measured", () => calls.length === 1);
  expect(calls[0]).toMatchObject({ outcome: "answered", retries: 1 });
  expect(seen.slice(-2).map(({ headers }) => headers.authorization)).toEqual(["Bearer bad-key", `Bearer ${KEY}`]);
});

test("a call for which no key can be read is refused, and reaches nobody", async () => {
  const before = seen.length;
  const call = processOf(["local"], FREE_CALLS, { local: [{ file: "/nowhere/key" }] }).ask("/v1/responses");
  expect(await call.answer).toMatchObject({ status: 401 });
  expect(await textOf(call)).toContain("The gateway has no key of local that can be used now.");
  expect(seen.length).toBe(before);
});

test("a refused call is read to its end, however much it sends, so that its sender hears the answer", async () => {
  const refusal = { code: "budget_spent", detail: "9 of 9", say: "The daily budget is used up." } as const;
  const { door, ask } = processOf(["local"], { refusal: () => refusal, spent: () => undefined });
  const large = "x".repeat(1024 * 1024);
  const statuses = new Set<unknown>();
  for (let count = 0; count < 70; count++) {
    if (count === 60) door.lease(null);
    const call = ask(count % 2 === 0 ? "/v1/responses" : "https://evil.example/v1/responses", large);
    statuses.add(((await call.answer) as { status: number }).status);
    await textOf(call);
  }
  expect([...statuses].sort()).toEqual([402, 403]); // all of them, although only 64 may be open at the same time
});
