/** The relay of `pi-gw mcp serve`: what it makes of a client's lines, and of a gateway that refuses, breaks off or is away. */
import { afterEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { type Message, modernHeaders } from "./mcp-messages.ts";
import { createRelay, type Relay } from "./mcp-relay.ts";

type Handler = (request: Request, body: Message) => Response | Promise<Response>;

const open: { relay: Relay; stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const { relay, stop } of open.splice(0)) {
    await relay.close();
    await stop();
  }
});

function start(handle: Handler, away = false) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => handle(request, request.method === "POST" ? ((await request.json()) as Message) : {}),
  });
  const written: Message[] = [];
  const clock = createFakeClock();
  const relay = createRelay({
    clock,
    async target() {
      if (away) throw new GatewayError("not_found", "away", { say: "No gateway is running." });
      return { url: `http://127.0.0.1:${server.port}`, token: "the-token" };
    },
    write: (message) => void written.push(message),
  });
  open.push({ relay, stop: async () => void (await server.stop(true)) });
  const answer = async (count = 1) => {
    await waitFor("an answer on stdout", () => written.length >= count);
    return written.at(-1);
  };
  const take = (message: unknown): void => relay.take(JSON.stringify(message));
  return { take, relay, written, answer, clock };
}

const META = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
const call = (id: number, params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "echo", ...params, ...META },
});
const events = (...messages: readonly unknown[]) =>
  new Response(messages.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

describe("a request", () => {
  test("goes to the gateway with the credential and the headers of its revision, and its answer comes back", async () => {
    let seen: Headers | null = null;
    const { take, answer } = start((request, { id }) => {
      seen = request.headers;
      return Response.json({ jsonrpc: "2.0", id, result: { ok: true } });
    });
    take(call(1));
    expect(await answer()).toEqual({ jsonrpc: "2.0", id: 1, result: { ok: true } });
    const sent = seen as unknown as Headers;
    expect(
      Object.fromEntries(
        ["authorization", "mcp-method", "mcp-name", "mcp-protocol-version"].map((name) => [name, sent.get(name)]),
      ),
    ).toEqual({
      authorization: "Bearer the-token",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      "mcp-protocol-version": "2026-07-28",
    });
  });

  test("is answered by a stream message by message", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
    const { take, answer, written } = start((_request, { id }) => events(progress, { jsonrpc: "2.0", id, result: {} }));
    take(call(1));
    expect(await answer(2)).toMatchObject({ id: 1 });
    expect(written[0]).toEqual(progress);
  });

  test.each<readonly [string, Handler, string]>([
    [
      "refused by the port",
      () => Response.json({ error: { message: "This key is not valid." } }, { status: 401 }),
      "This key is not valid.",
    ],
    ["answered with something else", () => new Response("<html>", { status: 502 }), "status 502"],
    [
      "left without an answer",
      () => events({ jsonrpc: "2.0", method: "notifications/progress" }),
      "went away in the middle",
    ],
  ])("that is %s is told why", async (_what, handle, because) => {
    const { take, written } = start(handle);
    take(call(7));
    await waitFor("the failure", () => written.some((one) => one["error"] !== undefined));
    expect(written.at(-1)).toMatchObject({ id: 7, error: { message: expect.stringContaining(because) } });
  });

  test("without a gateway is told that none runs", async () => {
    const { take, answer } = start(() => new Response(), true);
    take(call(1));
    expect(await answer()).toMatchObject({ id: 1, error: { message: "No gateway is running." } });
  });

  test("that is cancelled is hung up on, and nothing is written for it", async () => {
    const gone = Promise.withResolvers<void>();
    const here = Promise.withResolvers<void>();
    const { take, written } = start((request) => {
      request.signal.addEventListener("abort", () => gone.resolve());
      here.resolve();
      return new Promise(() => undefined);
    });
    take(call(3));
    await here.promise;
    take({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3, ...META } });
    await waitForEnd("the end of the request", gone.promise, { withinMs: 2_000 });
    expect(written).toEqual([]);
  });

  test.each(["no JSON", "[]", "1"])("that is %p is answered as unreadable", async (line) => {
    const { relay, written } = start(() => new Response());
    relay.take(line);
    expect(written).toMatchObject([{ id: null, error: { code: -32_700 } }]);
  });
});

test("a session that the gateway has forgotten is begun anew, without the client noticing", async () => {
  const seen: string[] = [];
  let sessions = 0;
  const { take, answer } = start((request, { id, method }) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const session = request.headers.get("mcp-session-id");
    seen.push(`${String(method)} ${session ?? "-"}`);
    if (method === "initialize") {
      const headers = { "mcp-session-id": `s${++sessions}` };
      return Response.json({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } }, { headers });
    }
    if (session === "s1" && method === "ping") return new Response(null, { status: 404 });
    return id === undefined ? new Response(null, { status: 202 }) : Response.json({ jsonrpc: "2.0", id, result: {} });
  });
  take({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
  await answer();
  take({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await answer(2)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  expect(seen).toEqual(["initialize -", "ping s1", "initialize -", "notifications/initialized s2", "ping s2"]);
});

test("the stream of an older session is opened again after pauses that grow, and begin anew once it was open", async () => {
  const answers = [500, 500, 500, 200, 500];
  let asked = 0;
  const { take, answer, clock } = start((request, { id, method }) => {
    if (request.method === "DELETE") return new Response(null, { status: 200 });
    if (request.method === "GET") {
      const status = answers[asked++] ?? 500;
      return new Response("", { status, headers: { "content-type": "text/event-stream" } });
    }
    if (method === "notifications/initialized") return new Response(null, { status: 202 });
    const result = { protocolVersion: "2025-11-25" };
    return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s1" } });
  });
  take({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
  await answer();
  take({ jsonrpc: "2.0", method: "notifications/initialized" });
  for (const [tries, pauseMs] of [500, 1_000, 2_000, 500, 1_000].entries()) {
    await waitFor(`attempt ${tries + 1}, and the pause after it`, () => asked === tries + 1 && clock.pending() > 0);
    await clock.advance(pauseMs - 1);
    expect([pauseMs, clock.pending()]).toEqual([pauseMs, 1]);
    await clock.advance(1);
  }
  await waitFor("another attempt", () => asked === 6);
});

test.each([
  ["echo", "echo"],
  ["für alle", "=?base64?ZsO8ciBhbGxl?="],
  [" spaced ", "=?base64?IHNwYWNlZCA=?="],
  ["=?x?=", "=?base64?PT94Pz0=?="],
])("the name %p travels as the header %p", (name, header) => {
  expect(modernHeaders({ method: "tools/call", params: { name } }, "2026-07-28")["mcp-name"]).toBe(header);
});
