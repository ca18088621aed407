import { describe, expect, test } from "bun:test";
import type { ResponseEvent } from "../../contracts/responses.ts";
import { type FakeAgent, NO_USAGE, says, waits } from "../../testing/fake-pool.ts";
import { type HttpWorld, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";
import { noCompletions } from "../../testing/http/no-completions.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { type ResponseBench, responseBench } from "../../testing/response-bench.ts";
import { waitFor } from "../../testing/wait-for.ts";

const HOUR_MS = 60 * 60_000;
const OPERATOR = { authorization: `Bearer ${TOKEN}` };

interface World extends AsyncDisposable {
  readonly http: HttpWorld;
  readonly bench: ResponseBench;
}

async function worldWith(agent: FakeAgent): Promise<World> {
  const bench = await responseBench(agent);
  const openai = { ...noCompletions(), admit: () => ({ limit: 10, remaining: 9, resetMs: 1_500 }) };
  const http = startHttpWorld({}, { messages: { responses: bench.door, openai } });
  return {
    http,
    bench,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** As a client reads it: names and data of events. */
async function eventsIn(response: Response): Promise<readonly (readonly [string, ResponseEvent])[]> {
  const blocks = (await response.text()).split("\n\n").filter((block) => block.startsWith("event: "));
  return blocks.map((block) => {
    const [name = "", data = ""] = block.split("\n");
    return [name.slice("event: ".length), JSON.parse(data.slice("data: ".length))] as const;
  });
}

const json = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe("POST /v1/responses", () => {
  test("answers with the object, and says how many requests are left", async () => {
    await using world = await worldWith(says("hello"));
    const response = await world.http.postJson("/v1/responses", { input: "hi" });
    expect([response.status, response.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "9"]);
    expect(await json(response)).toMatchObject({ object: "response", status: "completed", error: null });
  });

  test("streams each event under its own name, and ends with [DONE]", async () => {
    await using world = await worldWith(says("hel", "lo"));
    const response = await world.http.postJson("/v1/responses", { input: "hi", stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const raw = response.clone();
    const events = await eventsIn(response);
    expect(events.every(([name, { type }]) => name === type)).toBe(true);
    expect(events.map(([, { sequence_number }]) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.at(-1)?.[0]).toBe("response.completed");
    expect((await raw.text()).endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("that fails before its first words has a status, streamed as well", async () => {
    await using world = await worldWith(async function* () {
      const failed = { type: "failed", code: "provider_silent", detail: "", again: false, text: "" } as const;
      yield { ...failed, usage: NO_USAGE, model: "fake/one" };
    });
    for (const stream of [false, true]) {
      const response = await world.http.postJson("/v1/responses", { input: "hi", stream });
      expect(response.status).toBe(504);
      expect(await response.json()).toMatchObject({ error: { type: "server_error", code: "provider_silent" } });
    }
  });

  test("that hangs up stops the turn", async () => {
    await using world = await worldWith(waits);
    const leaving = new AbortController();
    const init = { method: "POST", headers: { "content-type": "application/json" }, signal: leaving.signal };
    const asked = world.http.call("/v1/responses", { ...init, body: JSON.stringify({ input: "hi" }) });
    await waitFor("the question", () => world.bench.pool.prompted.length === 1);
    leaving.abort();
    await asked.catch(() => undefined); // it was aborted on purpose
    await waitFor("a free process", () => world.bench.pool.open() === 0);
  });

  test("in the background is answered at once, polled, followed and cancelled", async () => {
    await using world = await worldWith(waits);
    const { http } = world;
    const queued = await json(await http.postJson("/v1/responses", { input: "hi", background: true }));
    expect(queued).toMatchObject({ status: "queued" });
    const path = `/v1/responses/${String(queued["id"])}`;
    await waitFor("its first words", async () => (await json(await http.call(path)))["status"] === "in_progress");
    const followed = http.call(`${path}?stream=true&starting_after=1`);
    expect(await json(await http.call(`${path}/cancel`, { method: "POST" }))).toMatchObject({ status: "cancelled" });
    const names = (await eventsIn(await followed)).map(([name]) => name);
    expect([names[0], names.at(-1)]).toEqual(["response.in_progress", "response.cancelled"]);
    expect((await http.call(`${path}?stream=true&starting_after=x`)).status).toBe(400);
  });

  test("in the background tells those who follow it, with a last event, that the gateway stops", async () => {
    await using world = await worldWith(waits);
    const { http } = world;
    const { id } = await json(await http.postJson("/v1/responses", { input: "hi", background: true }));
    const followed = await http.call(`/v1/responses/${String(id)}?stream=true`);
    const events = eventsIn(followed);
    await http.http[Symbol.asyncDispose]();
    const [name, last] = (await events).at(-1) ?? [];
    expect([name, last]).toMatchObject(["error", { type: "error", error: { code: "stopping" } }]);
    const numbers = (await events).map(([, { sequence_number }]) => sequence_number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
  });

  test("belongs to whoever asked: to others, and when it is deleted, it is not there", async () => {
    await using world = await worldWith(says("hello"));
    const { http } = world;
    const { id } = (await json(await http.postJson("/v1/responses", { input: "hi" }))) as { id: string };
    const { headers } = await makeKey(http.deps.people.keys, { scopes: ["chat"] });
    const path = `/v1/responses/${id}`;
    for (const method of ["GET", "DELETE"]) expect((await fetch(http.url(path), { method, headers })).status).toBe(404);
    expect((await fetch(http.url(`${path}/cancel`), { method: "POST", headers })).status).toBe(404);
    expect(await json(await http.call(path))).toMatchObject({ id });
    expect(await json(await http.call(path, { method: "DELETE" }))).toEqual({ id, object: "response", deleted: true });
    expect((await http.call(path)).status).toBe(404);
  });
});

describe("a WebSocket at /v1/responses", () => {
  async function socketOf({ http }: World, headers: Record<string, string> = OPERATOR) {
    const socket = new WebSocket(http.url("/v1/responses").replace("http", "ws"), { headers });
    const seen: ResponseEvent[] = [];
    let code: number | null = null;
    socket.addEventListener("message", ({ data }) => void seen.push(JSON.parse(String(data))));
    socket.addEventListener("close", (event) => void (code = event.code));
    await waitFor("an open socket", () => socket.readyState === WebSocket.OPEN);
    const next = async (what: string, ends: (event: ResponseEvent) => boolean): Promise<readonly ResponseEvent[]> => {
      await waitFor(what, () => seen.some(ends));
      return seen.splice(0);
    };
    const isEnd = ({ type }: ResponseEvent) =>
      type === "error" || type === "response.completed" || type === "response.failed";
    return {
      send: (frame: object | string) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
      end: () => next("an end", isEnd),
      closed: () => waitFor("a closed socket", () => code),
      async create(body: object) {
        socket.send(JSON.stringify({ type: "response.create", ...body }));
        const last = (await next("an end", isEnd)).at(-1);
        return last as unknown as { type: string; status?: number; response: { id: string }; error: { code: string } };
      },
      [Symbol.dispose]: () => socket.close(),
    };
  }

  test("sends the events of each response in turn, and goes on from one that is not stored", async () => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    socket.send({ type: "response.create", input: "hi", store: false });
    const events = await socket.end();
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    const { id = "" } = (events.at(-1)?.["response"] ?? {}) as { id?: string };
    const second = await socket.create({ input: "again", store: false, previous_response_id: id });
    expect(second.type).toBe("response.completed");
    expect(world.bench.pool.prompted[1]?.request.history?.map(({ text }) => text)).toEqual(["hi", "hello"]);
    using other = await socketOf(world);
    const lost = await other.create({ input: "more", store: false, previous_response_id: second.response.id });
    expect(lost).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
  });

  test("forgets a response whose continuation failed", async () => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    const { response } = await socket.create({ input: "hi", store: false });
    const on = { store: false, previous_response_id: response.id };
    const wrong = [{ type: "function_call_output", call_id: "c9", output: "?" }];
    expect(await socket.create({ ...on, input: wrong })).toMatchObject({ type: "error", status: 400 });
    expect(await socket.create({ ...on, input: "hi" })).toMatchObject({
      error: { code: "previous_response_not_found" },
    });
  });

  test("remembers no more than its share of all connections of one person, until others are closed", async () => {
    await using world = await worldWith(says("hello"));
    const sockets = await Promise.all([1, 2, 3, 4].map(() => socketOf(world)));
    const input = "x".repeat(9 * 1024 * 1024);
    const goOn = async (socket: (typeof sockets)[number] | undefined) => {
      const first = await socket?.create({ input, store: false });
      return socket?.create({ input: "more", store: false, previous_response_id: first?.response.id });
    };
    const ends: unknown[] = [];
    for (const socket of sockets) ends.push((await goOn(socket))?.type);
    expect(ends).toEqual(["response.completed", "response.completed", "response.completed", "error"]);
    sockets[0]?.[Symbol.dispose]();
    await sockets[0]?.closed();
    expect((await goOn(sockets[3]))?.type).toBe("response.completed");
    for (const socket of sockets) socket[Symbol.dispose]();
  });

  test("goes on from a stored response of any connection", async () => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    const { response } = await socket.create({ input: "hi" });
    using other = await socketOf(world);
    const second = await other.create({ input: "again", previous_response_id: response.id });
    expect(second.type).toBe("response.completed");
    using third = await socketOf(world);
    const on = { input: "more", previous_response_id: second.response.id };
    expect((await third.create({ ...on, store: false })).error.code).toBe("previous_response_not_found");
    expect((await third.create(on)).type).toBe("response.completed");
  });

  test("stores what it alone remembered with the first response that is kept", async () => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    const { response } = await socket.create({ input: "hi", store: false });
    const kept = await socket.create({ input: "keep this", previous_response_id: response.id });
    const answer = await world.http.postJson("/v1/responses", {
      input: "more",
      previous_response_id: kept.response.id,
    });
    expect(answer.status).toBe(200);
    const told = world.bench.pool.prompted[2]?.request.history?.map(({ text }) => text);
    expect(told).toEqual(["hi", "hello", "keep this", "hello"]);
  });

  test("lets sixteen responses wait, and refuses the next", async () => {
    await using world = await worldWith(waits);
    using socket = await socketOf(world);
    for (let count = 0; count <= 16; count++) socket.send({ type: "response.create", input: "hi" });
    const refused = (await socket.end()).find(({ type }) => type === "error");
    expect(refused).toMatchObject({ status: 429, error: { code: "queue_full" } });
  });

  test.each<[string, object | string]>([
    ["no JSON", "{"],
    ["another type", { type: "session.update" }],
    ["a field of HTTP", { type: "response.create", input: "hi", stream: true }],
    ["the background", { type: "response.create", input: "hi", background: true }],
    ["no such model", { type: "response.create", input: "hi", model: "gpt-9" }],
  ])("answers a frame with %s by an error, and stays open", async (_what, frame) => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    socket.send(frame);
    const [error] = await socket.end();
    expect(error).toMatchObject({ type: "error", status: expect.any(Number), error: { code: expect.any(String) } });
    expect((await socket.create({ input: "hi" })).type).toBe("response.completed");
  });

  test("counts each frame as a request of its key when it comes, also while another is being answered", async () => {
    await using world = await worldWith(waits);
    const { headers } = await makeKey(world.http.deps.people.keys, { scopes: ["chat"], requestsPerMinute: 2 });
    using socket = await socketOf(world, headers); // the first request
    socket.send({ type: "response.create", input: "hi" });
    await waitFor("the question", () => world.bench.pool.prompted.length === 1);
    socket.send({ type: "response.create", input: "too much" });
    expect((await socket.end()).at(-1)).toMatchObject({ type: "error", status: 429 });
    expect(world.bench.pool.open()).toBe(1);
  });

  test("lasts an hour, says so, and closes", async () => {
    await using world = await worldWith(says("hello"));
    using socket = await socketOf(world);
    await waitFor("the timer", () => world.http.clock.pending() > 0);
    await world.http.clock.advance(HOUR_MS);
    expect(await socket.end()).toMatchObject([{ error: { code: "websocket_connection_limit_reached" } }]);
    expect(await socket.closed()).toBe(1000);
  });

  test("that is closed stops its turn, and leaves no timer behind", async () => {
    await using world = await worldWith(waits);
    {
      using socket = await socketOf(world);
      socket.send({ type: "response.create", input: "hi" });
      await waitFor("the question", () => world.bench.pool.prompted.length === 1);
    }
    await waitFor("a free process", () => world.bench.pool.open() === 0);
    await waitFor("no timer", () => world.http.clock.pending() === 0);
  });
});
