import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { InboxId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { type HttpWorld, PNG, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";
import { waitFor } from "../../testing/wait-for.ts";

const problem = async (response: Response): Promise<Record<string, unknown>> => ({
  status: response.status,
  ...((await response.json()) as { error: Record<string, unknown> }).error,
});
const taken = async (world: HttpWorld, count: number) => {
  await waitFor(
    `message ${count}`,
    () => world.received.length,
    (seen) => seen >= count,
  );
};
const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const id = (text: string) => text as InboxId;
const turn = (inboxId: string) => ({ sessionKey: API_SESSION, turnId: `turn_${inboxId}` as TurnId });
const started = (world: HttpWorld, inboxId: string, sessionKey: SessionKey = API_SESSION) =>
  world.deps.events.emit("turn.started", {
    ...turn(inboxId),
    sessionKey,
    inboxIds: [id(inboxId)],
    attempt: 1,
    waitedMs: 0,
  });
const events = (text: string) =>
  [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map((found) => [found[1], JSON.parse(found[2] ?? "")]);

describe("a message by POST /api/chat", () => {
  test("is answered when its turn has ended", async () => {
    await using world = startHttpWorld();
    const asked = world.postJson("/api/chat", { text: "hi" });
    await taken(world, 1);
    world.endTurn(id("in_1"), { toolCalls: [{ callId: "c1", tool: "clock", input: {}, status: "success", ms: 3 }] });
    const response = await asked;
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      content: "hello back",
      tool_calls: [{ tool: "clock", input: {}, status: "success", ms: 3 }],
      sessionKey: API_SESSION,
      turnId: "turn_in_1",
      usage: { inputTokens: 1, outputTokens: 2, costUsd: 0 },
    });
    expect(world.received[0]).toMatchObject({
      text: "hi",
      address: { channel: "api", chat: "operator" },
      sender: { principal: "operator" },
    });
  });

  test("is answered even when the turn ends before the receipt is seen", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId) => world.endTurn(inboxId);
    expect((await world.postJson("/api/chat", { text: "hi" })).status).toBe(200);
  });

  test("is answered even when the turn ends while the store is asked whether it has", async () => {
    await using world = startHttpWorld();
    const { turns } = world.deps.store;
    const read = turns.resultOf;
    let reads = 0;
    Object.assign(turns, {
      resultOf: async (inboxId: InboxId) => {
        const result = await read(inboxId);
        if (++reads === 1) world.endTurn(inboxId);
        return result;
      },
    });
    expect((await world.postJson("/api/chat", { text: "hi" })).status).toBe(200);
  });

  test("waits for its own turn and not for another one of the session", async () => {
    await using world = startHttpWorld();
    const asked = world.postJson("/api/chat", { text: "hi" });
    await taken(world, 1);
    world.endTurn(id("in_other"), { content: "not yours" });
    await settled();
    world.endTurn(id("in_1"), { content: "yours" });
    expect(await (await asked).json()).toMatchObject({ content: "yours" });
  });

  test("goes to the session that is named, and to none that cannot be", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId, sessionKey) => world.endTurn(inboxId, { sessionKey });
    await world.postJson("/api/chat", { text: "hi", session: "work" });
    await world.postJson("/api/chat", { text: "hi", session: "agent:default:webchat:dm:abc" });
    expect(world.received.map((message) => message.address)).toMatchObject([
      { channel: "api", chat: "work" },
      { channel: "webchat", chat: "abc" },
    ]);
    for (const session of ["Not A Name", "agent:default", "../x", "x".repeat(65)]) {
      expect((await problem(await world.postJson("/api/chat", { text: "hi", session })))["code"]).toBe(
        "invalid_params",
      );
    }
  });

  test("for a conversation of another channel is refused, and says where that goes on", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", session: "agent:default:telegram:dm:5" });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining("belongs to telegram")]);
    expect(world.received).toEqual([]);
  });

  test("goes to the agent that is named, and to none when session and agent disagree", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId, sessionKey) => world.endTurn(inboxId, { sessionKey });
    await world.postJson("/api/chat", { text: "hi", agent: "research" });
    await world.postJson("/api/chat", { text: "hi", session: "work", agent: "research" });
    await world.postJson("/api/chat", { text: "hi", session: "agent:research:api:dm:work" });
    expect(world.received.map(({ agentId, address }) => [agentId, address.chat])).toEqual([
      ["research", "operator"],
      ["research", "work"],
      ["research", "work"],
    ] as never);
    const both = { text: "hi", session: "agent:default:api:dm:work", agent: "research" };
    expect(await problem(await world.postJson("/api/chat", both))).toMatchObject({ code: "invalid_params" });
    expect(await problem(await world.postJson("/api/chat", { text: "hi", agent: "Not/One" }))).toMatchObject({
      status: 422,
    });
    expect(world.received.length).toBe(3);
  });

  test("whose turn failed is answered with the error's own status and words", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId) => world.endTurn(inboxId, { outcome: "failed", errorCode: "provider_auth", content: "" });
    expect(await problem(await world.postJson("/api/chat", { text: "hi" }))).toMatchObject({
      status: 502,
      code: "provider_auth",
      message:
        "The model provider refused the API key. Check the key of this model's provider in the gateway's settings.",
    });
  });

  test("that is refused says why and when to come back", async () => {
    await using world = startHttpWorld();
    world.refuse = {
      kind: "refused",
      because: "session_full",
      say: "Twenty messages are waiting.",
      retryAfterMs: 2_500,
    };
    const response = await world.postJson("/api/chat", { text: "hi" });
    expect(response.headers.get("retry-after")).toBe("3");
    expect(await problem(response)).toMatchObject({
      status: 429,
      code: "queue_full",
      message: "Twenty messages are waiting.",
      retryAfterMs: 2_500,
    });
  });

  test("that is empty or too long never reaches the gateway", async () => {
    await using world = startHttpWorld();
    expect(await problem(await world.postJson("/api/chat", { text: "  \n" }))).toMatchObject({
      status: 422,
      code: "empty_message",
    });
    expect(await problem(await world.postJson("/api/chat", { text: "x".repeat(1_001) }))).toMatchObject({
      status: 413,
      code: "too_large",
      message: "The message has 1,001 characters; the limit is 1,000. Shorten it, or send it in parts.",
    });
    expect((await problem(await world.postJson("/api/chat", { text: "hi", extra: 1 })))["status"]).toBe(422);
    expect(world.received).toEqual([]);
  });

  test("whose sender hangs up stays with the gateway", async () => {
    await using world = startHttpWorld();
    const hangUp = new AbortController();
    const headers = { "content-type": "application/json" };
    const asked = world.call("/api/chat", { method: "POST", headers, body: '{"text":"hi"}', signal: hangUp.signal });
    await taken(world, 1);
    hangUp.abort();
    expect(asked).rejects.toThrow();
    await waitFor(
      "no open request",
      () => world.http.stats().requests,
      (open) => open === 0,
    );
    expect(world.received.length).toBe(1);
    expect(world.log.lines.filter((line) => line.level === "error")).toEqual([]);
  });
});

describe("an Idempotency-Key", () => {
  const key = { "idempotency-key": "order-66" };

  test("used again with the same body gives the same turn's answer, during the turn and after it", async () => {
    await using world = startHttpWorld();
    const both = [world.postJson("/api/chat", { text: "hi" }, key), world.postJson("/api/chat", { text: "hi" }, key)];
    await taken(world, 1);
    await settled();
    world.endTurn(id("in_1"));
    both.push(world.postJson("/api/chat", { text: "hi" }, key));
    const answers = await Promise.all((await Promise.all(both)).map((response) => response.json()));
    expect(answers.map((answer) => (answer as { turnId: string }).turnId)).toEqual([
      "turn_in_1",
      "turn_in_1",
      "turn_in_1",
    ]);
    expect(world.received.length).toBe(1);
  });

  test("used again with another text, session or picture is refused", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId) => world.endTurn(inboxId);
    const picture = (byte: number) => [
      { name: "a.png", mimeType: "image/png", data: Buffer.from([...PNG, byte]).toString("base64") },
    ];
    await world.postJson("/api/chat", { text: "hi", attachments: picture(1) }, key);
    const others = [
      { text: "ho", attachments: picture(1) },
      { text: "hi", attachments: picture(2) },
      { text: "hi" },
      { text: "hi", session: "b", attachments: picture(1) },
    ];
    for (const body of others) {
      expect(await problem(await world.postJson("/api/chat", body, key))).toMatchObject({
        status: 422,
        code: "key_reused",
      });
    }
    expect((await world.postJson("/api/chat", { text: "hi", attachments: picture(1) }, key)).status).toBe(200);
  });

  test("has to be short and printable", async () => {
    await using world = startHttpWorld();
    for (const bad of ["a b", "x".repeat(201)]) {
      expect((await world.postJson("/api/chat", { text: "hi" }, { "idempotency-key": bad })).status).toBe(422);
    }
  });
});

describe("a streamed answer", () => {
  test("shows acceptance, words, tools and the end, of its own turn only", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", stream: true });
    const { events: bus } = world.deps;
    started(world, "in_1");
    bus.emit("turn.delta", { ...turn("in_1"), text: "hel" });
    bus.emit("turn.delta", { ...turn("in_9"), text: "someone else's" });
    bus.emit("turn.tool", { ...turn("in_1"), callId: "c1", tool: "clock", status: "running", input: { private: 1 } });
    bus.emit("turn.tool", { ...turn("in_1"), callId: "c1", tool: "clock", status: "running", progress: "tick" });
    bus.emit("turn.tool", { ...turn("in_1"), callId: "c1", tool: "clock", status: "success", ms: 4 });
    const question = { kind: "confirm", title: "Sure?" } as const;
    const asked = { question, principal: "operator" as Principal, askedAt: 1, expiresAt: 2, end: null };
    bus.emit("question", { ...turn("in_1"), ...asked, id: "q1" });
    bus.emit("question", { ...turn("in_9"), ...asked, id: "q9" });
    bus.emit("turn.delta", { ...turn("in_1"), text: "lo" });
    world.endTurn(id("in_1"), { content: "hello" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(events(await response.text())).toEqual([
      ["accepted", { id: "in_1" }],
      ["delta", { text: "hel" }],
      ["tool", { callId: "c1", tool: "clock", status: "running" }],
      ["tool", { callId: "c1", tool: "clock", status: "running", progress: "tick" }],
      ["tool", { callId: "c1", tool: "clock", status: "success", ms: 4 }],
      ["question", { id: "q1", question, expiresAt: 2, end: null }],
      ["delta", { text: "lo" }],
      ["done", expect.objectContaining({ content: "hello", turnId: "turn_in_1" })],
    ]);
  });

  test("shows the words of a turn that its message joined, from there on", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", stream: true });
    const { events: bus } = world.deps;
    bus.emit("turn.delta", { ...turn("in_9"), text: "before" });
    bus.emit("turn.joined", { ...turn("in_9"), inboxIds: [id("in_1")] });
    bus.emit("turn.delta", { ...turn("in_9"), text: "after" });
    world.endTurn(id("in_1"), { content: "both" });
    expect(events(await response.text()).map(([name, data]) => [name, data.text ?? data.content])).toEqual([
      ["accepted", undefined],
      ["delta", "after"],
      ["done", "both"],
    ]);
  });

  test("misses nothing of a turn that starts before the receipt is seen", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId) => {
      started(world, inboxId);
      world.deps.events.emit("turn.delta", { ...turn(inboxId), text: "early" });
      world.endTurn(inboxId);
    };
    const response = await world.postJson("/api/chat", { text: "hi" }, { accept: "text/event-stream" });
    expect(events(await response.text()).map(([name]) => name)).toEqual(["accepted", "delta", "done"]);
  });

  test("joined in the middle begins with what was said so far", async () => {
    await using world = startHttpWorld();
    const key = { "idempotency-key": "k" };
    const first = world.postJson("/api/chat", { text: "hi" }, key);
    await taken(world, 1);
    const tools = [{ callId: "c1", tool: "clock", status: "running" as const, progress: "tock" }];
    world.live.set(API_SESSION, {
      turnId: turn("in_1").turnId,
      inboxIds: [id("in_1")],
      startedAt: 1,
      text: "so far",
      tools,
    });
    const second = await world.postJson("/api/chat", { text: "hi", stream: true }, key);
    world.deps.events.emit("turn.delta", { ...turn("in_1"), text: ", and on" });
    world.endTurn(id("in_1"));
    expect(events(await second.text()).slice(0, 4)).toEqual([
      ["accepted", { id: "in_1" }],
      ["delta", { text: "so far" }],
      ["tool", { callId: "c1", tool: "clock", status: "running", progress: "tock" }],
      ["delta", { text: ", and on" }],
    ]);
    expect((await first).status).toBe(200);
  });

  test("of a failed turn ends with the error", async () => {
    await using world = startHttpWorld();
    world.onTaken = (inboxId) => world.endTurn(inboxId, { outcome: "failed", errorCode: "agent_timeout" });
    const shown = events(await (await world.postJson("/api/chat", { text: "hi", stream: true })).text());
    expect(shown.at(-1)).toEqual([
      "error",
      expect.objectContaining({
        code: "agent_timeout",
        message: "The assistant took too long, so the gateway stopped it.",
      }),
    ]);
  });

  test("is kept open by a sign of life every fifteen seconds", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", stream: true });
    await world.clock.advance(30_000);
    world.endTurn(id("in_1"));
    expect((await response.text()).split(": still here\n\n").length - 1).toBe(2);
    expect(world.clock.pending()).toBe(0);
  });

  test("is cut off when its reader stops reading, instead of filling memory", async () => {
    await using world = startHttpWorld();
    const body = '{"text":"hi","stream":true}';
    const lines = ["POST /api/chat HTTP/1.1", `Host: 127.0.0.1:${world.http.port}`, `Authorization: Bearer ${TOKEN}`];
    lines.push("Content-Type: application/json", `Content-Length: ${body.length}`, "", body);
    const { promise: connected, resolve } = Promise.withResolvers<void>();
    const socket = connect(world.http.port, "127.0.0.1", () => {
      socket.pause();
      socket.write(lines.join("\r\n"), () => resolve());
    });
    await connected;
    await waitFor("the timer of the keep-alive comment", () => world.clock.pending() > 0);
    await settled();
    started(world, "in_1");
    const text = "x".repeat(256 * 1024);
    for (let sent = 0; sent < 200 && world.clock.pending() > 0; sent++) {
      world.deps.events.emit("turn.delta", { ...turn("in_1"), text });
      await settled();
    }
    expect(world.clock.pending()).toBe(0);
    expect(world.log.lines.filter((line) => line.level === "error")).toEqual([]);
    socket.destroy();
  });

  test("leaves nothing behind when its reader goes away", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await waitFor(
      "no timer",
      () => world.clock.pending(),
      (count) => count === 0,
    );
    started(world, "in_1");
    world.endTurn(id("in_1"));
    expect(world.log.lines.filter((line) => line.level === "error")).toEqual([]);
  });
});

describe("sessions over HTTP", () => {
  test("are listed, read, stopped and reset by key or short name", async () => {
    await using world = startHttpWorld();
    world.say({ id: "m1" });
    const key = encodeURIComponent(API_SESSION);
    const read = async (path: string, method = "GET") => (await world.call(path, { method })).json();
    expect(await read("/api/sessions?limit=1")).toMatchObject({ items: [{ key: API_SESSION }] });
    expect(await read(`/api/sessions/${key}`)).toMatchObject({ session: { key: API_SESSION }, live: null });
    expect(await read("/api/sessions/operator/transcript")).toMatchObject({ items: [{ id: "m1", text: "words" }] });
    expect(await read("/api/sessions/operator/abort", "POST")).toEqual({ aborted: false });
    expect(await read("/api/sessions/operator/reset", "POST")).toEqual({ reset: true });
    for (const path of ["/api/sessions/missing", "/api/sessions/missing/transcript"])
      expect((await world.call(path)).status).toBe(404);
    for (const bad of ["limit=0", "limit=201", "limit=x", "page=2"])
      expect((await world.call(`/api/sessions?${bad}`)).status).toBe(422);
  });
});
