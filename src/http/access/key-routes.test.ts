/** Every route and every method of the socket, with every kind of key: a new one without an answer here fails. */
import { describe, expect, test } from "bun:test";
import { KEY_SCOPES, type KeyScope } from "../../contracts/api-keys.ts";
import { ERRORS } from "../../contracts/errors.ts";
import type { AgentId, SessionKey } from "../../contracts/ids.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { openWs } from "../../testing/http/ws-client.ts";
import { tableOf } from "../../testing/http/table-of.ts";

/** Scopes that open a row, besides `admin`. `all`: only a key for all agents gets there. */
const ROUTES: Readonly<Record<string, readonly (Exclude<KeyScope, "admin"> | "all")[]>> = {
  "DELETE /api/approval-rules/:id": ["all"],
  "DELETE /api/cron/jobs/:id": ["all"],
  "DELETE /api/keys/:id": ["all"],
  "DELETE /api/sessions/:key": ["chat"],
  "DELETE /mcp": ["chat", "tools", "read"],
  "DELETE /v1/responses/:id": ["chat"],
  "GET /api/activity": ["read", "all"],
  "GET /api/agents": ["read", "all"],
  "GET /api/agents/:id": ["all"],
  "GET /api/approval-rules": ["read", "all"],
  "GET /api/approvals": ["read", "all"],
  "GET /api/audit": ["read", "all"],
  "GET /api/audit/verification": ["read", "all"],
  "GET /api/channels": ["read", "all"],
  "GET /api/config": ["all"],
  "GET /api/config/settings": ["all"],
  "GET /api/doctor": ["read", "all"],
  "POST /api/doctor/fix": ["all"],
  "GET /api/logs": ["all"],
  "GET /api/notifications": ["all"],
  "POST /api/notifications": ["all"],
  "POST /api/notifications/decision": ["all"],
  "POST /api/notifications/:id/test": ["all"],
  "DELETE /api/notifications/:id": ["all"],
  "GET /api/sign-ins": ["all"],
  "DELETE /api/sign-ins/:id": ["all"],
  "POST /api/config/revert": ["all"],
  "GET /api/config/file": ["all"],
  "GET /api/models/providers": ["read", "all"],
  "POST /api/models/test": ["all"],
  "GET /docs": ["read", "all"],
  "GET /docs/:page": ["read", "all"],
  "GET /docs/:folder/:page": ["read", "all"],
  "GET /api/update": ["read", "all"],
  "POST /api/update/check": ["all"],
  "POST /api/update": ["all"],
  "GET /api/setup": ["read", "all"],
  "POST /api/setup/test": ["all"],
  "POST /api/setup": ["all"],
  "GET /api/heartbeats": ["read", "all"],
  "POST /api/heartbeats/:agent/checklist": ["all"],
  "GET /api/webhooks": ["read", "all"],
  "POST /api/webhooks/:name/test": ["all"],
  "POST /api/webhooks/:name/keys": ["all"],
  "DELETE /api/webhooks/:name/keys/:key": ["all"],
  "POST /api/webhook-targets/:name/test": ["all"],
  "POST /api/config/propose": ["all"],
  "POST /api/config/save": ["all"],
  "GET /api/cron/jobs": ["read", "all"],
  "GET /api/cron/jobs/:id": ["read", "all"],
  "GET /api/cron/jobs/:id/runs": ["read", "all"],
  "GET /api/cron/calendar": ["read", "all"],
  "GET /api/cron/preview": ["read", "all"],
  "GET /api/cron/status": ["read", "all"],
  "GET /api/keys": ["all"],
  "GET /api/mcp": ["read", "all"],
  "GET /api/metrics": ["read", "all"],
  "GET /api/outbox": ["read", "all"],
  "POST /api/outbox/:id/retry": ["all"],
  "GET /api/pairing": ["all"],
  "GET /api/plugins": ["read", "all"],
  "GET /api/questions": ["chat", "read"],
  "GET /api/search": ["read"],
  "GET /api/sessions": ["read"],
  "GET /api/sessions/:key": ["chat", "read"],
  "GET /api/sessions/:key/export": ["chat", "read"],
  "GET /api/sessions/:key/transcript": ["chat", "read"],
  "GET /api/status": ["read", "all"],
  "GET /api/tool-calls": ["read"],
  "GET /api/tools": ["tools"],
  "GET /api/turns": ["read"],
  "GET /api/turns/:id": ["chat", "read"],
  "GET /api/usage": ["read", "all"],
  "GET /api/nodes": ["read", "all"],
  "POST /api/nodes/:id/drain": ["all"],
  "GET /api/storage": ["read", "all"],
  "GET /api/people": ["read", "all"],
  "POST /api/people": ["all"],
  "GET /api/models": ["read", "all"],
  "GET /mcp": ["chat", "tools", "read"],
  "GET /metrics": ["read", "all"],
  "GET /v1/models": ["chat"],
  "GET /v1/models/:id": ["chat"],
  "GET /v1/models/:owner/:agent": ["chat"],
  "GET /v1/responses": ["chat"],
  "GET /v1/responses/:id": ["chat"],
  "GET /ws": ["chat", "tools", "read"],
  "PATCH /api/cron/jobs/:id": ["all"],
  "PATCH /api/messages/:id": ["chat"],
  "PATCH /api/sessions/:key": ["chat"],
  "POST /api/audit/verification": ["all"],
  "POST /api/approvals/:id": ["all"],
  "POST /api/chat": ["chat"],
  "POST /api/config/reload": ["all"],
  "POST /api/cron/jobs": ["all"],
  "POST /api/cron/jobs/:id/pause": ["all"],
  "POST /api/cron/jobs/:id/resume": ["all"],
  "POST /api/cron/jobs/:id/run": ["all"],
  "POST /api/cron/wake": ["all"],
  "POST /api/keys": ["all"],
  "POST /api/mcp/:name/accept": ["all"],
  "POST /api/mcp/:name/test": ["all"],
  "POST /api/mcp/:name/try": ["all"],
  "POST /api/media": ["chat"],
  "POST /api/messages/:id/cancel": ["chat"],
  "POST /api/pairing": ["all"],
  "POST /api/pairing/:id": ["all"],
  "POST /api/plugins/:id/reload": ["all"],
  "POST /api/questions/:id": ["chat"],
  "POST /api/restart": ["all"],
  "POST /api/route": ["read", "all"],
  "POST /api/sessions/:key/abort": ["chat"],
  "POST /api/sessions/:key/branch": ["chat"],
  "POST /api/sessions/:key/model": ["chat"],
  "POST /api/sessions/:key/resend": ["chat"],
  "POST /api/sessions/:key/reset": ["chat"],
  "POST /api/sign-in-links": ["all"],
  "POST /api/token/rotate": ["all"],
  "POST /api/sign-out": ["all"],
  "POST /api/tools/call": ["tools"],
  "POST /mcp": ["chat", "tools", "read"],
  "POST /v1/chat/completions": ["chat"],
  "POST /v1/responses": ["chat"],
  "POST /v1/responses/:id/cancel": ["chat"],
  "POST /v1/responses/compact": ["chat"],
};

const METHODS: typeof ROUTES = {
  "approvals.decide": ["all"],
  "approvals.list": ["read", "all"],
  "chat.abort": ["chat"],
  "chat.cancel": ["chat"],
  "chat.edit": ["chat"],
  "chat.react": ["all"],
  "chat.send": ["chat"],
  "chat.steer": ["chat"],
  "commands.list": ["chat"],
  "cron.add": ["all"],
  "cron.list": ["read", "all"],
  "cron.pause": ["all"],
  "cron.remove": ["all"],
  "cron.resume": ["all"],
  "cron.run": ["all"],
  "cron.runs": ["read", "all"],
  "cron.status": ["read", "all"],
  "cron.update": ["all"],
  "cron.wake": ["all"],
  "questions.answer": ["chat"],
  "questions.list": ["chat", "read"],
  "sessions.get": ["chat", "read"],
  "sessions.list": ["read"],
  "sessions.prepare": ["chat"],
  "sessions.reset": ["chat"],
  status: ["read", "all"],
  subscribe: ["chat", "read"],
  "tools.call": ["tools"],
  "tools.list": ["tools"],
};

const BEYOND = /^This key has no scope that allows this|^This is about all agents/;

const errorOf = async (response: Response): Promise<{ code: string; message: string }> =>
  ((await response.json()) as { error: { code: string; message: string } }).error;

/** Rows that need somebody to be known. */
const rowsOf = (world: HttpWorld) => tableOf(world).filter(({ auth }) => auth === "operator" || auth === "agent");

/** Whether a key got past the gate, whatever the row says then; a body that is no JSON is refused after it. */
async function reaches(world: HttpWorld, row: string, headers: Record<string, string>): Promise<boolean> {
  const [method = "", path = ""] = row.split(" ");
  const url = world.url(path.replaceAll(/:\w+/g, "some-name"));
  const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(5_000) });
  const refused = response.status === 403 && BEYOND.test((await errorOf(response)).message);
  expect([row, response.status]).not.toEqual([row, 401]);
  return !refused;
}

describe("every route", () => {
  test("says what a key needs for it, and is listed here", async () => {
    await using world = startHttpWorld();
    const rows = rowsOf(world).map(({ method, path }) => `${method} ${path}`);
    expect(rows.sort()).toEqual(Object.keys(ROUTES).sort());
    for (const row of tableOf(world))
      if (row.auth !== "operator" && row.auth !== "agent") expect([row.path, row.scope]).toEqual([row.path, "open"]);
  });

  test.each(KEY_SCOPES)("opens to a key with the scope %s alone where it says so, and nowhere else", async (scope) => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: [scope] });
    for (const [row, open] of Object.entries(ROUTES)) {
      const may = scope === "admin" || open.includes(scope);
      expect([row, await reaches(world, row, headers)]).toEqual([row, may]);
    }
  });

  test("about all agents stays closed to a key that is for some of them", async () => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: [...KEY_SCOPES], agents: ["helper"] });
    for (const [row, open] of Object.entries(ROUTES))
      expect([row, await reaches(world, row, headers)]).toEqual([row, !open.includes("all")]);
  });

  test("gives a sign-in link to the operator, and to no key: whoever signs in with it is the operator", async () => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: [...KEY_SCOPES] });
    const refused = await fetch(world.url("/api/sign-in-links"), { method: "POST", headers });
    expect([refused.status, (await errorOf(refused)).message]).toEqual([
      403,
      expect.stringContaining("A key makes no sign-in links"),
    ]);
    const made = await world.call("/api/sign-in-links", { method: "POST" });
    expect([made.status, await made.json()]).toEqual([201, { code: expect.any(String), expiresInMs: 600_000 }]);
  });

  test("answers an unknown, an expired and a revoked key with the same 401", async () => {
    await using world = startHttpWorld();
    const { keys } = world.deps.people;
    const expired = await makeKey(keys, { scopes: [...KEY_SCOPES], expiresAt: world.clock.now() + 1_000 });
    const revoked = await makeKey(keys, { scopes: [...KEY_SCOPES] });
    await keys.revoke(revoked.key.id, revoked.key.createdBy);
    await world.clock.advance(1_000);
    const unknown = { authorization: `Bearer pgw_${"a".repeat(43)}` };
    for (const row of Object.keys(ROUTES)) {
      const [method = "", path = ""] = row.split(" ");
      const answers: unknown[] = [];
      for (const headers of [unknown, expired.headers, revoked.headers]) {
        await world.clock.advance(20 * 60_000); // locks after many wrong attempts are another test
        const response = await fetch(world.url(path.replaceAll(/:\w+/g, "some-name")), { method, headers });
        const error = await errorOf(response);
        answers.push([row, response.status, error.code, error.message, response.headers.get("www-authenticate")]);
      }
      expect(answers).toEqual([answers[0], answers[0], answers[0]]);
      expect(answers[0]).toEqual([row, 401, "unauthorized", ERRORS.unauthorized.say, "Bearer"]);
    }
  });
});

describe("every method of the socket", () => {
  const ask = async (world: HttpWorld, headers: Record<string, string>): Promise<Record<string, boolean>> => {
    using ws = await openWs(world, headers);
    const reached: Record<string, boolean> = {};
    for (const method of Object.keys(METHODS)) {
      const { error } = (await ws.askRaw(JSON.stringify({ id: method, method, params: { no: 1 } }))) as {
        error?: { code: string; message: string };
      };
      expect([method, error?.code === "not_found"]).toEqual([method, false]);
      reached[method] = !(error?.code === "forbidden" && BEYOND.test(error.message));
    }
    return reached;
  };

  test.each(KEY_SCOPES)("opens to a key with the scope %s alone where it says so, and nowhere else", async (scope) => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: [scope] });
    const may = Object.entries(METHODS).map(([name, open]) => [name, scope === "admin" || open.includes(scope)]);
    expect(await ask(world, headers)).toEqual(Object.fromEntries(may));
  });

  test("about all agents stays closed to a key that is for some of them", async () => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: [...KEY_SCOPES], agents: ["helper"] });
    const may = Object.entries(METHODS).map(([name, open]) => [name, !open.includes("all")]);
    expect(await ask(world, headers)).toEqual(Object.fromEntries(may));
  });
});

describe("a key for one agent", () => {
  const elsewhere = "agent:default:api:dm:key-000001.main";
  const own = "agent:helper:api:dm:key-000001.main";
  const CALLS = [
    ["POST", "/api/chat", { text: "hi", agent: "default" }],
    ["POST", "/api/chat", { text: "hi", session: elsewhere }],
    ["GET", `/api/sessions/${elsewhere}`, null],
    ["GET", `/api/sessions/${elsewhere}/transcript`, null],
    ["GET", `/api/turns?session=${elsewhere}`, null],
    ["GET", `/api/tool-calls?session=${elsewhere}`, null],
    ["POST", `/api/sessions/${elsewhere}/abort`, null],
    ["POST", `/api/sessions/${elsewhere}/reset`, null],
    ["POST", `/api/sessions/${elsewhere}/branch`, { message: "in_1" }],
    ["POST", `/api/sessions/${elsewhere}/resend`, { message: "in_1" }],
    ["POST", `/api/sessions/${elsewhere}/model`, { model: "default" }],
    ["PATCH", `/api/sessions/${elsewhere}`, { name: "x" }],
  ] as readonly (readonly [string, string, object | null])[];

  test.each(CALLS)("gets nothing of another agent: %s %s", async (method, path, body) => {
    await using world = startHttpWorld();
    world.onTaken = (id) => queueMicrotask(() => world.endTurn(id));
    const { headers } = await makeKey(world.deps.people.keys, { scopes: ["chat", "read"], agents: ["helper"] });
    const json = { ...headers, "content-type": "application/json" };
    const asked = { method, headers: json, ...(body === null ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(world.url(path), asked);
    expect([response.status, (await errorOf(response)).message]).toEqual([
      403,
      "This key is not for the agent default.",
    ]);
    expect(world.received).toEqual([]);
  });

  test.each<[string, object]>([
    ["chat.send", { session: elsewhere, text: "hi", clientId: "c1" }],
    ["chat.send", { session: "main", agent: "default", text: "hi", clientId: "c1" }],
    ["chat.steer", { session: elsewhere, text: "hi", clientId: "c1" }],
    ["chat.steer", { session: "main", agent: "default", text: "hi", clientId: "c1" }],
    ["commands.list", { session: elsewhere }],
    ["commands.list", { session: "main", agent: "default" }],
    ["chat.abort", { session: elsewhere }],
    ["sessions.get", { session: elsewhere }],
    ["sessions.prepare", { session: elsewhere }],
    ["sessions.prepare", { session: "main", agent: "default" }],
    ["sessions.reset", { session: elsewhere }],
  ])("gets nothing of another agent over the socket: %s", async (method, params) => {
    await using world = startHttpWorld();
    const { headers } = await makeKey(world.deps.people.keys, { scopes: ["chat", "read"], agents: ["helper"] });
    using ws = await openWs(world, headers);
    const answer = await ws.askRaw(JSON.stringify({ id: "1", method, params }));
    expect(answer).toMatchObject({ ok: false, error: { code: "forbidden" } });
    expect([world.received, world.hinted]).toEqual([[], []]);
  });

  test("speaks over the socket with the agent it names, and is shown the commands that it may use", async () => {
    await using world = startHttpWorld();
    const { headers, key } = await makeKey(world.deps.people.keys, { scopes: ["chat"], agents: ["first", "helper"] });
    using ws = await openWs(world, headers);
    const named = { session: "notes", agent: "helper" };
    const sessionKey = `agent:helper:api:dm:${key.id}.notes`;
    const items = [{ name: "stop", help: "ends it" }];
    expect(await ws.ask("commands.list", named)).toEqual({ sessionKey, items });
    await ws.ask("chat.send", { ...named, text: "hi", clientId: "c1" });
    await ws.ask("chat.steer", { ...named, text: "hi", clientId: "c2" });
    expect(world.received.map(({ agentId }) => agentId)).toEqual(["helper" as AgentId, "helper" as AgentId]);
    using operator = await openWs(world);
    expect(await operator.ask("commands.list", named)).toEqual({
      sessionKey: "agent:helper:api:dm:notes",
      items: [{ name: "restart", help: "ends it" }],
    });
  });

  test("lists sessions, turns and calls of that agent and of no other", async () => {
    const summaries = [elsewhere, own].map((key) => ({ key: key as SessionKey }));
    await using world = startHttpWorld();
    Object.assign(world.deps.store.sessions, { list: async () => ({ items: summaries }) });
    Object.assign(world.deps.store.turns, {
      list: async () => ({ items: [elsewhere, own].map((sessionKey) => ({ turn: { sessionKey } })) }),
    });
    Object.assign(world.deps.store.toolCalls, {
      list: async () => ({ items: [elsewhere, own].map((sessionKey) => ({ sessionKey })) }),
    });
    const { headers } = await makeKey(world.deps.people.keys, { scopes: ["read"], agents: ["helper"] });
    for (const path of ["/api/sessions", "/api/turns", "/api/tool-calls"]) {
      const text = await (await fetch(world.url(path), { headers })).text();
      expect([path, text.includes("agent:helper"), text.includes("agent:default")]).toEqual([path, true, false]);
    }
  });
});
