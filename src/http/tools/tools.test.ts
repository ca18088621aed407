/** Tools over the port, as scripts rely on them: shapes, statuses, progress, and that nobody chooses for whom they call. */
import { describe, expect, test } from "bun:test";
import type { AuditRow, ToolCallFilter } from "../../contracts/store/tool-calls.ts";
import { deferred } from "../../kit/deferred.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { openWs } from "../../testing/http/ws-client.ts";
import { policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor } from "../../testing/wait-for.ts";

const EVERYBODY = [{ agent: "default", roles: ["owner", "member", "guest"] }];

function world(...tools: Parameters<typeof toolWorld>[0]) {
  const inside = toolWorld(tools);
  const http = startHttpWorld({}, { tools: { gate: inside.gate, list: inside.list } });
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await http.postJson("/api/tools/call", body, headers);
    return {
      status: response.status,
      body: (await response.json()) as never,
      retryAfter: response.headers.get("retry-after"),
    };
  };
  return { ...inside, http, post, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}

const echo = tool(async (_id, params) => ({ ...says((params as { text: string }).text), details: { n: 1 } }), {
  limit: { calls: 5, perMs: 60_000 },
});

describe("GET /api/tools", () => {
  test("lists every tool with who brought it, its flags, its limit, and why it is quarantined", async () => {
    await using fx = world(echo, { ...echo, name: "bad", parameters: {} });
    const { tools } = (await (await fx.http.call("/api/tools")).json()) as { tools: unknown[] };
    const shared = {
      label: "Echo",
      description: "Echo",
      plugin: "test",
      flags: { idempotent: false },
      limit: { calls: 5, perMs: 60_000 },
      asks: null,
      behindSearch: [],
    };
    expect(tools).toEqual([
      { ...shared, name: "echo", parameters: echo.parameters, status: "ok", usableBy: EVERYBODY },
      { ...shared, name: "bad", parameters: {}, status: "quarantined", usableBy: [], reason: expect.any(String) },
    ]);
  });
});

describe("GET /api/tools?profile=", () => {
  const parameters = {
    type: "object",
    required: ["text"],
    additionalProperties: false,
    properties: { text: { type: "string" }, size: { type: "integer", exclusiveMinimum: 0 } },
  };
  const open = { type: "object", properties: {}, additionalProperties: { type: "string" } };

  test("gives the schemas as that family of providers takes them, and names what it cannot be told", async () => {
    await using fx = world(
      { ...echo, parameters },
      { ...echo, name: "open", parameters: open },
      { ...echo, name: "bad", parameters: {} },
    );
    const read = async (profile: string) => (await fx.http.call(`/api/tools?profile=${profile}`)).json();
    const strict = { type: "object", required: ["text", "size"], additionalProperties: false };
    expect(await read("openai-strict")).toMatchObject({
      tools: [{ name: "echo", parameters: { ...strict, properties: { size: { type: ["integer", "null"] } } } }],
      leftOut: [{ name: "open", because: expect.any(String) }],
    });
    const google = (await read("google")) as { tools: { name: string; parameters: object }[] };
    expect(google.tools.map(({ name }) => name)).toEqual(["echo", "open"]);
    expect(JSON.stringify(google.tools[0]?.parameters)).not.toContain('"additionalProperties"');
  });

  test("stays small where references multiply, says what it simplified, and leaves out a name that Google refuses", async () => {
    const names = Array.from({ length: 40 }, (_, at) => `p${at}`);
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
    await using fx = world({ ...echo, parameters: { type: "object", properties } }, { ...echo, name: "3d" });
    const text = await (await fx.http.call("/api/tools?profile=google")).text();
    expect(text.length).toBeLessThan(100_000);
    expect(JSON.parse(text)).toMatchObject({
      tools: [{ name: "echo" }],
      leftOut: [{ name: "3d", because: "its name does not begin with a letter or _" }],
      simplified: [{ name: "echo", because: expect.stringContaining("levels deep") }],
    });
  });

  test.each(["mistral", ""])("refuses %j", async (profile) => {
    await using fx = world(echo);
    expect((await fx.http.call(`/api/tools?profile=${profile}`)).status).toBe(422);
  });
});

describe("POST /api/tools/call", () => {
  test("answers with the result and the id of the call", async () => {
    await using fx = world(echo);
    expect(await fx.post({ tool: "echo", params: { text: "hi" }, callId: "c-1" })).toMatchObject({
      status: 200,
      body: { ok: true, result: { ...says("hi"), details: { n: 1 } }, callId: "c-1" },
    });
    expect(fx.last()?.intent).toMatchObject({
      origin: "api",
      path: "http",
      principal: "operator",
      scope: "principal:operator",
    });
  });

  const failing = tool(() => Promise.reject(new Error("no such city")), { name: "failing" });
  const asking = tool(async () => says("done"), { name: "asking", approval: true });
  const hanging = tool(() => new Promise(() => undefined), { name: "hanging", timeoutMs: 100 });
  const CASES = [
    ["unknown_tool", 404, { tool: "nothing" }, "error"],
    ["not_allowed", 403, { tool: "forbidden" }, "blocked"],
    ["invalid_params", 422, { tool: "echo", params: { text: true } }, "error"],
    ["rate_limited", 429, { tool: "limited", params: { text: "x" } }, "blocked"],
    ["approval_denied", 403, { tool: "asking", params: { text: "x" } }, "blocked"],
    ["call_conflict", 409, { tool: "echo", params: { text: "other" }, callId: "used" }, "error"],
    ["outcome_unknown", 409, { tool: "echo", params: { text: "x" }, callId: "crashed" }, "error"],
    ["tool_timeout", 504, { tool: "hanging", params: { text: "x" } }, "error"],
    ["tool_failed", 200, { tool: "failing", params: { text: "x" } }, "error"],
  ] as const;
  test.each(CASES)("answers %s with %d, in words for programs and for models", async (code, status, body, envelope) => {
    const limited = { ...echo, name: "limited", limit: { calls: 1, perMs: 60_000 } };
    await using fx = world(echo, failing, asking, hanging, limited, { ...echo, name: "forbidden" });
    fx.rules.now = policy({ deny: ["forbidden"] });
    await fx.post({ tool: "limited", params: { text: "x" } });
    await fx.post({ tool: "echo", params: { text: "x" }, callId: "used" });
    await fx.post({ tool: "echo", params: { text: "x" }, callId: "crashed" });
    const crashed = fx.last();
    if (crashed) crashed.end = { status: "unknown", output: "", ms: 0 };
    const answer = fx.post(body);
    if (code === "tool_timeout") await waitFor("the time limit of the call", () => fx.clock.pending() > 0);
    if (code === "tool_timeout") await fx.clock.advance(1_000);
    const { status: seen, body: said, retryAfter } = await answer;
    expect([seen, said]).toMatchObject([
      status,
      {
        ok: false,
        error: { code, message: expect.any(String), requestId: expect.any(String) },
        envelope: { status: envelope, tool: body.tool },
      },
    ]);
    expect(retryAfter).toBe(code === "rate_limited" ? "60" : null);
  });

  test("answers 202 while the owner has not spoken, and with the result when asked again afterwards", async () => {
    await using fx = world(asking);
    const word = deferred<"once">();
    fx.approvals.answer = word.promise;
    const body = { tool: "asking", params: { text: "x" }, callId: "c" };
    const first = fx.post(body);
    await waitFor("the open approval", () => fx.approvals.asked.length > 0);
    await fx.clock.advance(50);
    expect(await first).toMatchObject({
      status: 202,
      body: {
        ok: false,
        error: { code: "approval_pending" },
        envelope: { status: "pending", tool: "asking" },
        callId: "c",
      },
    });
    word.resolve("once");
    await fx.clock.advance(1);
    expect(await fx.post(body)).toMatchObject({ status: 200, body: { ok: true } });
  });

  test.each(["deny", "expired"] as const)(
    "answers 403 when asked again after the owner's answer was %s, and does not ask a second time",
    async (decision) => {
      await using fx = world(asking);
      const word = deferred<"deny" | "expired">();
      fx.approvals.answer = word.promise;
      const body = { tool: "asking", params: { text: "x" }, callId: "c" };
      const first = fx.post(body);
      await waitFor("the open approval", () => fx.approvals.asked.length > 0);
      await fx.clock.advance(50);
      expect((await first).status).toBe(202);
      word.resolve(decision);
      await fx.clock.advance(1);
      for (let again = 0; again < 2; again++)
        expect(await fx.post(body)).toMatchObject({
          status: 403,
          body: { ok: false, error: { code: "approval_denied" }, envelope: { status: "blocked", tool: "asking" } },
        });
      expect(fx.approvals.asked).toHaveLength(1);
      fx.approvals.answer = "once";
      expect(await fx.post({ ...body, callId: "another" })).toMatchObject({ status: 200 });
      expect(await fx.post({ ...body, params: { text: "other" } })).toMatchObject({ status: 200 });
    },
  );

  test.each([{ pid: 1 }, { sessionKey: "agent:default:webchat:dm:1" }])("refuses a body with %p", async (more) => {
    await using fx = world(echo);
    const { status, body } = await fx.post({ tool: "echo", params: { text: "x" }, ...more });
    expect([status, body]).toMatchObject([400, { error: { code: "bad_request" } }]);
    expect(fx.rows).toMatchObject([
      { intent: { tool: "echo", principal: "operator", path: "http" }, end: { status: "error" } },
    ]);
  });

  test.each([...[{}, { tool: "" }, { tool: 7 }, { tool: "echo", more: 1 }, { tool: "echo", callId: "has space" }]])(
    "refuses the body %p as not valid",
    async (body) => {
      await using fx = world(echo);
      expect((await fx.post(body)).status).toBe(422);
      expect(fx.rows).toMatchObject([{ intent: { path: "http" }, end: { status: "error" } }]);
    },
  );

  test.each([[null], [[]], ["x"], [7]])("refuses parameters that are no object: %p", async (params) => {
    const free = tool(async () => says("ran"), { parameters: { type: "object", properties: {} } });
    await using fx = world(free);
    const { status, body } = await fx.post({ tool: free.name, params });
    expect([status, body]).toMatchObject([
      422,
      { ok: false, error: { code: "invalid_params" }, envelope: { status: "error", tool: free.name } },
    ]);
    expect((await fx.post({ tool: free.name })).status).toBe(200);
  });

  test("takes an Idempotency-Key as the id of the call", async () => {
    let effects = 0;
    await using fx = world(tool(async () => says(`${++effects}`)));
    const body = { tool: "echo", params: { text: "x" } };
    const one = await fx.post(body, { "idempotency-key": "k-1" });
    expect(await fx.post(body, { "idempotency-key": "k-1" })).toEqual(one);
    expect((await fx.post({ ...body, params: { text: "y" } }, { "idempotency-key": "k-1" })).status).toBe(409);
    expect(effects).toBe(1);
  });

  test("fifty calls with one id at once are one effect", async () => {
    let effects = 0;
    const open = deferred<void>();
    await using fx = world(
      tool(async () => {
        effects++;
        await open.promise;
        return says("done");
      }),
    );
    const all = Array.from({ length: 50 }, () => fx.post({ tool: "echo", params: { text: "x" }, callId: "same" }));
    await waitFor("the tool has run", () => effects > 0);
    open.resolve();
    expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
    expect([effects, fx.rows.length]).toEqual([1, 1]);
  });

  test("streams progress as lines and ends with the outcome", async () => {
    await using fx = world(tool(async (_id, _params, _signal, onUpdate) => (onUpdate(says("half")), says("done"))));
    const accept = { accept: "application/x-ndjson" };
    const response = await fx.http.postJson(
      "/api/tools/call",
      { tool: "echo", params: { text: "x" }, callId: "c" },
      accept,
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    const lines = (await response.text()).trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { progress: says("half") },
      { final: { ok: true, result: { ...says("done"), details: null }, callId: "c" } },
    ]);
    const refused = await fx.http.postJson("/api/tools/call", { tool: "nothing" }, accept);
    expect(JSON.parse(await refused.text())).toMatchObject({ final: { ok: false, error: { code: "unknown_tool" } } });
  });

  test("tells the tool at once when the client has gone", async () => {
    const told = deferred<void>();
    const started = deferred<void>();
    await using fx = world(
      tool((_id, _params, signal) => {
        started.resolve();
        signal.addEventListener("abort", () => told.resolve());
        return new Promise(() => undefined);
      }),
    );
    const client = new AbortController();
    const init = {
      method: "POST",
      signal: client.signal,
      body: JSON.stringify({ tool: "echo", params: { text: "x" } }),
    };
    void fx.http
      .call("/api/tools/call", { ...init, headers: { "content-type": "application/json" } })
      .catch(() => undefined);
    await started.promise;
    client.abort();
    await told.promise;
    await fx.clock.advance(250);
    expect(fx.last()?.end).toMatchObject({ status: "error" });
  });
});

describe("a request to call a tool that never becomes a call", () => {
  const JSON_TYPE = { "content-type": "application/json" };
  const deep = `${"[".repeat(100)}${"]".repeat(100)}`;

  test.each([
    ["no JSON", "{tool: echo}", JSON_TYPE, 400, "not valid JSON"],
    ["nothing", "", JSON_TYPE, 400, "not valid JSON"],
    ["no text", new Uint8Array([0xff, 0xfe, 0x7b]), JSON_TYPE, 400, "not valid UTF-8"],
    ["too deep", deep, JSON_TYPE, 400, "nested deeper"],
    ["too large", `"${"x".repeat(1_100_000)}"`, JSON_TYPE, 413, "larger than this route accepts"],
    ["of another type", '{"tool":"echo"}', { "content-type": "text/plain" }, 415, "application/json"],
  ] as const)("because its body is %s leaves a row with who asked and why it was refused", async (...given) => {
    const [, body, headers, status, because] = given;
    await using fx = world(echo);
    const response = await fx.http.call("/api/tools/call", { method: "POST", body, headers });
    expect(response.status).toBe(status);
    expect(fx.rows).toMatchObject([
      {
        intent: { tool: "(unreadable)", path: "http", principal: "operator", origin: "api" },
        end: { status: "error", output: expect.stringContaining(because) },
      },
    ]);
  });

  test("because nobody known asks leaves one row a minute and a number, however many there are", async () => {
    await using fx = world(echo);
    for (const authorization of ["", "Bearer wrong", ""])
      expect((await fx.post({ tool: "echo" }, { authorization })).status).toBe(401);
    expect(fx.rows).toMatchObject([
      { intent: { tool: "(unreadable)", principal: "nobody" }, end: { status: "blocked", output: expect.any(String) } },
    ]);
    await fx.clock.advance(60_000);
    expect(fx.rows.at(-1)?.end?.output).toStartWith("2 more calls were rejected within 60 s");
  });

  test("because its agent works for nobody leaves a row", async () => {
    const inside = toolWorld([echo]);
    const tools = { gate: inside.gate, list: inside.list };
    const agentTokens = { resolve: () => null, known: (token: string) => token === "old" };
    await using http = startHttpWorld({}, { tools: { ...tools, agentTokens } });
    const headers = { authorization: "Bearer old" };
    expect((await http.postJson("/api/tools/call", { tool: "echo" }, headers)).status).toBe(403);
    expect(inside.rows).toMatchObject([
      { intent: { principal: "nobody" }, end: { output: "This token speaks only while its agent works on a turn." } },
    ]);
  });

  test("is no row when it was about something else", async () => {
    await using fx = world(echo);
    expect((await fx.http.call("/api/tools", { headers: { authorization: "" } })).status).toBe(401);
    expect((await fx.http.postJson("/api/chat", "{")).status).toBe(400);
    expect(fx.rows).toEqual([]);
  });
});

describe("GET /api/tool-calls", () => {
  const item = { id: "call_1", status: "success" } as AuditRow;

  function listing() {
    const asked: { filter: ToolCallFilter; page: unknown }[] = [];
    const list = async (filter: ToolCallFilter, page: unknown) => {
      asked.push({ filter, page });
      return { items: [item], next: "more" };
    };
    return { asked, list };
  }

  test("hands filters and pages on, times as numbers or dates", async () => {
    const { asked, list } = listing();
    const base = startHttpWorld();
    await using http = startHttpWorld({}, { store: { toolCalls: { list } } });
    await base[Symbol.asyncDispose]();
    const query = "session=work&tool=echo&status=error&since=1000&until=1970-01-01T00:00:02Z&limit=7&cursor=abc";
    expect(await (await http.call(`/api/tool-calls?${query}`)).json()).toEqual({ items: [item], next: "more" });
    const filter = {
      within: null,
      sessionKey: "agent:default:api:dm:work",
      tool: "echo",
      status: "error",
      since: 1_000,
      until: 2_000,
    };
    expect(asked).toEqual([{ filter, page: { limit: 7, cursor: "abc" } }] as never);
  });

  test.each(["status=done", "since=yesterday", "limit=0", "limit=x", "more=1"])("refuses ?%s", async (query) => {
    await using http = startHttpWorld();
    expect((await http.call(`/api/tool-calls?${query}`)).status).toBe(422);
  });
});

describe("over the socket", () => {
  test("tools are listed and called, and a refusal is an error with its code", async () => {
    await using fx = world(echo);
    using socket = await openWs(fx.http);
    expect(await socket.ask("tools.list", {})).toMatchObject({ tools: [{ name: "echo" }] });
    expect(await socket.ask("tools.call", { tool: "echo", params: { text: "hi" }, callId: "c" })).toMatchObject({
      result: says("hi"),
      callId: "c",
    });
    expect(fx.last()?.intent).toMatchObject({ path: "socket", origin: "api" });
    for (const [params, code] of [
      [{ tool: "nothing" }, "unknown_tool"],
      [{ tool: "echo", params: {}, sessionKey: "x" }, "bad_request"],
      [{ tool: "echo", params: { text: "other" }, callId: "c" }, "call_conflict"],
    ] as const)
      expect(await socket.askRaw(JSON.stringify({ id: "x", method: "tools.call", params }))).toMatchObject({
        ok: false,
        error: { code, requestId: expect.any(String) },
      });
  });

  test("a call ends when its connection is closed", async () => {
    const begun = deferred<void>();
    const ended = deferred<string>();
    await using fx = world(
      tool(async (_id, _params, signal) => {
        signal.addEventListener("abort", () => ended.resolve("aborted"));
        begun.resolve();
        await ended.promise;
        return says("late");
      }),
    );
    const socket = await openWs(fx.http);
    socket.socket.send(
      JSON.stringify({ id: "a", method: "tools.call", params: { tool: "echo", params: { text: "x" } } }),
    );
    await begun.promise;
    socket.socket.close();
    expect(await ended.promise).toBe("aborted");
  });
});
