/** The client against the server's own routes: every JSON route has a name there, and what it sends is taken. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { WireEvent } from "../contracts/wire.ts";
import { TOKEN, type HttpWorld, startHttpWorld } from "../testing/http/http-fixture.ts";
import { tableOf } from "../testing/http/table-of.ts";
import {
  createGatewayClient,
  type GatewayClient,
  type GatewayRequestError,
  isGatewayRequestError,
  type RouteName,
} from "./client.ts";

const SOURCE = join(import.meta.dir, "..");

/** Rows that answer with something else than one JSON value, or are for browsers: the client has methods of their own for them, or none. */
const OTHER_ROWS = ["POST /api/chat", "POST /api/media", "POST /api/sign-in", "POST /api/sign-out"];

async function routeNames(): Promise<readonly string[]> {
  const files = ["http-api", "notifications-api", "extensions-api"].map((name) => `contracts/${name}.ts`);
  const text = (await Promise.all(files.map((file) => Bun.file(join(SOURCE, file)).text()))).join("\n");
  return [...text.matchAll(/^ {2}"((?:GET|POST|PATCH|DELETE) \/[^"]+)":/gm)].map(([, name = ""]) => name);
}

const clientOf = (world: HttpWorld, token = TOKEN) => createGatewayClient({ url: world.url(""), token });

/** Null: it was not refused. */
async function refusalOf(work: Promise<unknown>): Promise<GatewayRequestError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (isGatewayRequestError(error)) return error;
    throw error;
  }
}

describe("the names of routes", () => {
  test("are those of the route table below /api, and each route answers by its own", async () => {
    await using world = startHttpWorld();
    const rows = tableOf(world).map(({ method, path }) => `${method} ${path}`);
    const names = await routeNames();
    const expected = rows.filter((row) => row.includes(" /api/") && !OTHER_ROWS.includes(row));
    expect(names.toSorted()).toEqual(expected.toSorted());
    const files = [...new Bun.Glob("http/routes/*.ts").scanSync(SOURCE)].filter((file) => !file.endsWith(".test.ts"));
    const routes = (await Promise.all(files.map((file) => Bun.file(join(SOURCE, file)).text()))).join("\n");
    const answers = new Set([...routes.matchAll(/jsonOf<["`]([^"`]+)["`]>/g)].map(([, name]) => name));
    const both = (name: string) =>
      answers.has(name) || answers.has(name.replace(/(?:pause|resume)$/, "${typeof action}"));
    expect(names.filter((name) => !both(name))).toEqual([]);
  });

  test("lead to their rows: whatever is asked for with them is found and its form is taken", async () => {
    await using world = startHttpWorld();
    const client = clientOf(world);
    const formRefused = new Set(["bad_request", "invalid_params", "method_not_allowed", "wrong_type", "unauthorized"]);
    for (const [route, ask] of EXAMPLES) {
      const refusal = await refusalOf(ask(client));
      expect([route, formRefused.has(refusal?.code ?? "") ? refusal?.message : "taken"]).toEqual([route, "taken"]);
    }
    expect(EXAMPLES.map(([route]) => route).toSorted()).toEqual((await routeNames()).toSorted() as RouteName[]);
  });
});

type Example = readonly [RouteName, (client: GatewayClient) => Promise<unknown>];
const key = { key: "agent:default:api:dm:operator" };
const id = { id: "x1" };
const page = { limit: 5 };
const JOB = { id: "x1", schedule: { kind: "every", expr: "1h" }, task: "look" } as const;
const PEER = {
  channel: "telegram",
  account: "default",
  chat: "1",
  peer: "telegram:user:1",
  scope: "dm",
  mentioned: true,
} as const;

/** Each with everything it takes; the types are the check that they are what the contract says. */
const EXAMPLES: readonly Example[] = [
  ["GET /api/status", (c) => c.request("GET /api/status")],
  ["GET /api/metrics", (c) => c.request("GET /api/metrics")],
  ["GET /api/people", (c) => c.request("GET /api/people")],
  [
    "POST /api/people",
    (c) => c.request("POST /api/people", { body: { principal: "telegram:user:1", role: "member" } }),
  ],
  ["GET /api/models", (c) => c.request("GET /api/models", { query: { agent: "default" } })],
  ["GET /api/nodes", (c) => c.request("GET /api/nodes")],
  ["POST /api/nodes/:id/drain", (c) => c.request("POST /api/nodes/:id/drain", { path: id })],
  ["GET /api/storage", (c) => c.request("GET /api/storage")],
  ["GET /api/config", (c) => c.request("GET /api/config")],
  ["POST /api/config/reload", (c) => c.request("POST /api/config/reload")],
  ["POST /api/sign-in-links", (c) => c.request("POST /api/sign-in-links")],
  ["POST /api/token/rotate", (c) => c.request("POST /api/token/rotate")],
  ["POST /api/restart", (c) => c.request("POST /api/restart")],
  ["POST /api/messages/:id/cancel", (c) => c.request("POST /api/messages/:id/cancel", { path: id })],
  ["PATCH /api/messages/:id", (c) => c.request("PATCH /api/messages/:id", { path: id, body: { text: "x" } })],
  ["GET /api/sessions", (c) => c.request("GET /api/sessions", { query: { ...page, search: "a", channel: "api" } })],
  ["GET /api/sessions/:key", (c) => c.request("GET /api/sessions/:key", { path: key })],
  [
    "GET /api/sessions/:key/transcript",
    (c) => c.request("GET /api/sessions/:key/transcript", { path: key, query: page }),
  ],
  ["POST /api/sessions/:key/abort", (c) => c.request("POST /api/sessions/:key/abort", { path: key })],
  ["POST /api/sessions/:key/reset", (c) => c.request("POST /api/sessions/:key/reset", { path: key })],
  [
    "POST /api/sessions/:key/model",
    (c) => c.request("POST /api/sessions/:key/model", { path: key, body: { model: null, thinking: null } }),
  ],
  [
    "PATCH /api/sessions/:key",
    (c) => c.request("PATCH /api/sessions/:key", { path: key, body: { name: "n", pinned: true, archived: false } }),
  ],
  [
    "GET /api/search",
    (c) => c.request("GET /api/search", { query: { ...page, q: "a", session: "s", channel: "api" } }),
  ],
  [
    "GET /api/sessions/:key/export",
    (c) => c.request("GET /api/sessions/:key/export", { path: key, query: { format: "html" } }),
  ],
  [
    "POST /api/sessions/:key/branch",
    (c) => c.request("POST /api/sessions/:key/branch", { path: key, body: { message: "in_1", session: "other" } }),
  ],
  [
    "POST /api/sessions/:key/resend",
    (c) => c.request("POST /api/sessions/:key/resend", { path: key, body: { message: "in_1" } }),
  ],
  ["DELETE /api/sessions/:key", (c) => c.request("DELETE /api/sessions/:key", { path: key })],
  ["GET /api/turns", (c) => c.request("GET /api/turns", { query: { ...page, session: "a", outcome: "done" } })],
  ["GET /api/turns/:id", (c) => c.request("GET /api/turns/:id", { path: id })],
  ["GET /api/tools", (c) => c.request("GET /api/tools", { query: { callable: "true" } })],
  ["POST /api/tools/call", (c) => c.request("POST /api/tools/call", { body: { tool: "x", params: {}, callId: "c" } })],
  [
    "GET /api/activity",
    (c) =>
      c.request("GET /api/activity", {
        query: {
          ...page,
          kind: "tool",
          outcome: "failed",
          agent: "default",
          person: "operator",
          channel: "api",
          q: "x",
        },
      }),
  ],
  ["GET /api/agents", (c) => c.request("GET /api/agents")],
  ["GET /api/agents/:id", (c) => c.request("GET /api/agents/:id", { path: id, query: { role: "guest" } })],
  ["GET /api/channels", (c) => c.request("GET /api/channels")],
  ["GET /api/sign-ins", (c) => c.request("GET /api/sign-ins")],
  ["DELETE /api/sign-ins/:id", (c) => c.request("DELETE /api/sign-ins/:id", { path: id })],
  ["GET /api/doctor", (c) => c.request("GET /api/doctor")],
  ["POST /api/doctor/fix", (c) => c.request("POST /api/doctor/fix", { body: { fix: "audit" } })],
  ["GET /api/config/settings", (c) => c.request("GET /api/config/settings")],
  ["GET /api/config/file", (c) => c.request("GET /api/config/file")],
  [
    "POST /api/config/propose",
    (c) => c.request("POST /api/config/propose", { body: { version: "v", edits: [{ path: ["logging", "level"] }] } }),
  ],
  ["POST /api/config/save", (c) => c.request("POST /api/config/save", { body: { version: "v", text: "{}" } })],
  ["POST /api/config/revert", (c) => c.request("POST /api/config/revert")],
  ["GET /api/logs", (c) => c.request("GET /api/logs", { query: { limit: 5, level: "warn", module: "http", q: "x" } })],
  ["GET /api/audit/verification", (c) => c.request("GET /api/audit/verification")],
  ["POST /api/audit/verification", (c) => c.request("POST /api/audit/verification")],
  [
    "GET /api/tool-calls",
    (c) =>
      c.request("GET /api/tool-calls", {
        query: { ...page, session: "a", tool: "x", status: "error", since: 1, until: "2026-01-31" },
      }),
  ],
  ["GET /api/audit", (c) => c.request("GET /api/audit", { query: { ...page, kind: "role.given" } })],
  ["GET /api/outbox", (c) => c.request("GET /api/outbox", { query: { ...page, state: "dead" } })],
  [
    "POST /api/outbox/:id/retry",
    (c) => c.request("POST /api/outbox/:id/retry", { path: id, query: { mayRepeat: "true" } }),
  ],
  ["GET /api/approvals", (c) => c.request("GET /api/approvals", { query: { ...page, state: "ended" } })],
  ["GET /api/approval-rules", (c) => c.request("GET /api/approval-rules", { query: page })],
  ["DELETE /api/approval-rules/:id", (c) => c.request("DELETE /api/approval-rules/:id", { path: id })],
  ["POST /api/approvals/:id", (c) => c.request("POST /api/approvals/:id", { path: id, body: { decision: "once" } })],
  ["GET /api/notifications", (c) => c.request("GET /api/notifications")],
  ["DELETE /api/notifications/:id", (c) => c.request("DELETE /api/notifications/:id", { path: id })],
  ["POST /api/notifications/:id/test", (c) => c.request("POST /api/notifications/:id/test", { path: id })],
  [
    "POST /api/notifications",
    (c) =>
      c.request("POST /api/notifications", {
        body: {
          endpoint: "https://push.example",
          keys: { p256dh: "k".repeat(87), auth: "a".repeat(22) },
          browser: "x",
        },
      }),
  ],
  [
    "POST /api/notifications/decision",
    (c) => c.request("POST /api/notifications/decision", { body: { approval: "x", decision: "deny", token: "x" } }),
  ],
  ["GET /api/questions", (c) => c.request("GET /api/questions")],
  ["POST /api/questions/:id", (c) => c.request("POST /api/questions/:id", { path: id, body: { answer: true } })],
  ["GET /api/plugins", (c) => c.request("GET /api/plugins")],
  ["POST /api/plugins/:id/reload", (c) => c.request("POST /api/plugins/:id/reload", { path: id })],
  ["GET /api/mcp", (c) => c.request("GET /api/mcp")],
  ["POST /api/mcp/:name/test", (c) => c.request("POST /api/mcp/:name/test", { path: { name: "x" } })],
  [
    "POST /api/mcp/:name/try",
    (c) =>
      c.request("POST /api/mcp/:name/try", {
        path: { name: "x" },
        body: { edits: [{ path: ["mcp", "servers", "x"], value: { command: "x" } }] },
      }),
  ],
  ["POST /api/mcp/:name/accept", (c) => c.request("POST /api/mcp/:name/accept", { path: { name: "x" } })],
  ["GET /api/cron/jobs", (c) => c.request("GET /api/cron/jobs", { query: page })],
  ["POST /api/cron/jobs", (c) => c.request("POST /api/cron/jobs", { body: JOB })],
  ["GET /api/cron/jobs/:id", (c) => c.request("GET /api/cron/jobs/:id", { path: id })],
  ["PATCH /api/cron/jobs/:id", (c) => c.request("PATCH /api/cron/jobs/:id", { path: id, body: { task: "x" } })],
  ["DELETE /api/cron/jobs/:id", (c) => c.request("DELETE /api/cron/jobs/:id", { path: id })],
  ["POST /api/cron/jobs/:id/pause", (c) => c.request("POST /api/cron/jobs/:id/pause", { path: id })],
  ["POST /api/cron/jobs/:id/resume", (c) => c.request("POST /api/cron/jobs/:id/resume", { path: id })],
  ["POST /api/cron/jobs/:id/run", (c) => c.request("POST /api/cron/jobs/:id/run", { path: id })],
  ["GET /api/cron/jobs/:id/runs", (c) => c.request("GET /api/cron/jobs/:id/runs", { path: id, query: page })],
  ["POST /api/cron/wake", (c) => c.request("POST /api/cron/wake", { body: { text: "x", mode: "now" } })],
  ["GET /api/cron/preview", (c) => c.request("GET /api/cron/preview", { query: { words: "every weekday at 9" } })],
  [
    "GET /api/cron/calendar",
    (c) => c.request("GET /api/cron/calendar", { query: { from: "2026-11-01", days: 30, timezone: "UTC" } }),
  ],
  ["GET /api/models/providers", (c) => c.request("GET /api/models/providers")],
  ["GET /api/update", (c) => c.request("GET /api/update")],
  ["POST /api/update/check", (c) => c.request("POST /api/update/check")],
  ["POST /api/update", (c) => c.request("POST /api/update")],
  ["GET /api/setup", (c) => c.request("GET /api/setup")],
  ["POST /api/setup/test", (c) => c.request("POST /api/setup/test", { body: { model: { kind: "demo" } } })],
  ["POST /api/setup", (c) => c.request("POST /api/setup", { body: { owners: ["telegram:user:1"], backup: true } })],
  ["POST /api/models/test", (c) => c.request("POST /api/models/test", { body: { provider: "openai", key: "k" } })],
  ["GET /api/heartbeats", (c) => c.request("GET /api/heartbeats")],
  [
    "POST /api/heartbeats/:agent/checklist",
    (c) =>
      c.request("POST /api/heartbeats/:agent/checklist", { path: { agent: "a" }, body: { text: "x", before: null } }),
  ],
  ["GET /api/webhooks", (c) => c.request("GET /api/webhooks")],
  [
    "POST /api/webhooks/:name/test",
    (c) => c.request("POST /api/webhooks/:name/test", { path: { name: "a" }, body: { body: "{}" } }),
  ],
  ["POST /api/webhooks/:name/keys", (c) => c.request("POST /api/webhooks/:name/keys", { path: { name: "a" } })],
  [
    "DELETE /api/webhooks/:name/keys/:key",
    (c) => c.request("DELETE /api/webhooks/:name/keys/:key", { path: { name: "a", key: "k" } }),
  ],
  [
    "POST /api/webhook-targets/:name/test",
    (c) => c.request("POST /api/webhook-targets/:name/test", { path: { name: "a" } }),
  ],
  ["GET /api/cron/status", (c) => c.request("GET /api/cron/status")],
  ["GET /api/pairing", (c) => c.request("GET /api/pairing")],
  ["POST /api/pairing", (c) => c.request("POST /api/pairing", { body: { code: "c", role: "member" } })],
  ["POST /api/pairing/:id", (c) => c.request("POST /api/pairing/:id", { path: id, body: { decision: "undo" } })],
  ["POST /api/route", (c) => c.request("POST /api/route", { body: { ...PEER, thread: "1" } })],
  [
    "GET /api/usage",
    (c) => c.request("GET /api/usage", { query: { from: "2026-01-01", to: "2026-01-31", by: "day" } }),
  ],
  ["GET /api/keys", (c) => c.request("GET /api/keys")],
  ["POST /api/keys", (c) => c.request("POST /api/keys", { body: { name: "n", scopes: ["read"], expiresIn: "90d" } })],
  ["DELETE /api/keys/:id", (c) => c.request("DELETE /api/keys/:id", { path: id })],
];

describe("the client", () => {
  test("gives a refusal as an error with status, code and sentence, and says when nobody answers", async () => {
    await using world = startHttpWorld();
    expect(await refusalOf(clientOf(world).request("GET /api/turns/:id", { path: id }))).toMatchObject({
      status: 404,
      code: "not_found",
      message: "There is no such turn.",
      requestId: expect.stringMatching(/./),
    });
    const stranger = clientOf(world, "wrong-token-0123456789").request("GET /api/status");
    expect((await refusalOf(stranger))?.code).toBe("unauthorized");
    const nobody = createGatewayClient({ url: "http://127.0.0.1:9", token: TOKEN });
    const message = "No gateway answers at http://127.0.0.1:9.";
    expect(await refusalOf(nobody.request("GET /api/status"))).toMatchObject({
      status: 0,
      code: "unreachable",
      message,
    });
  });

  test("puts path and query into the address as they are, and misses nothing silently", async () => {
    const asked: string[] = [];
    const client = createGatewayClient({
      url: "http://gateway",
      token: "t",
      fetch: async (url) => (asked.push(url), Response.json({ items: [] })),
    });
    await client.request("GET /api/sessions/:key", { path: { key: "agent:a/b?c" } });
    await client.request("GET /api/sessions", { query: { search: "ä&b", limit: 3 } });
    expect(asked).toEqual([
      "http://gateway/api/sessions/agent%3Aa%2Fb%3Fc",
      "http://gateway/api/sessions?search=%C3%A4%26b&limit=3",
    ]);
    const missing = client.request("GET /api/turns/:id", { path: { id: "" } });
    expect((await refusalOf(missing))?.message).toBe("path.id is missing.");
  });

  test("ends with the signal of its caller", async () => {
    await using world = startHttpWorld();
    const stopped = AbortSignal.abort(new Error("enough"));
    await expect(clientOf(world).request("GET /api/status", { signal: stopped })).rejects.toThrow("enough");
    await expect(clientOf(world).connect(stopped)).rejects.toThrow("enough");
  });
});

describe("the socket", () => {
  const SESSION = "agent:default:webchat:dm:1" as SessionKey;
  const delta = (text: string) => ({ sessionKey: SESSION, turnId: "turn_1" as TurnId, text });

  test("answers methods, and refuses with the gateway's code", async () => {
    await using world = startHttpWorld();
    using socket = await clientOf(world).connect();
    expect((await socket.call("status", {})).version).toBe((await clientOf(world).request("GET /api/status")).version);
    expect((await refusalOf(socket.call("chat.cancel", { id: "nothing" })))?.code).toBe("not_found");
  });

  test("tells each of several loops what it asked for, from where it began", async () => {
    await using world = startHttpWorld();
    const { events } = world.deps;
    const [first, second] = [await clientOf(world).connect(), await clientOf(world).connect()];
    const settled = () => Promise.all([first.call("status", {}), second.call("status", {})]); // answered in order
    const collect = async (loop: AsyncIterable<WireEvent>) =>
      (await Array.fromAsync(loop)).map((one) => (one.event === "turn.delta" ? one.data.text : one.event));
    const { seq } = await first.call("subscribe", { events: [] });
    events.emit("turn.delta", delta("before"));
    const deltas = collect(first.events(["turn.delta"]));
    await settled();
    events.emit("turn.delta", delta("one"));
    const changes = collect(first.events(["status"]));
    const earlier = collect(second.events(["turn.delta"], seq));
    await settled();
    events.emit("status", { what: "config" });
    events.emit("turn.delta", delta("two"));
    await settled();
    for (const socket of [first, second]) socket[Symbol.dispose]();
    expect(await Promise.all([deltas, changes, earlier])).toEqual([
      ["one", "two"],
      ["status"],
      ["before", "one", "two"],
    ]);
  });

  test("tells whoever waits that the connection is gone", async () => {
    await using world = startHttpWorld();
    const socket = await clientOf(world).connect();
    const loop = Array.fromAsync(socket.events(["status"]));
    await socket.call("status", {});
    const pending = refusalOf(socket.call("status", {}));
    socket[Symbol.dispose]();
    expect(["closed", undefined]).toContain((await pending)?.code); // the answer may have come first
    expect(await loop).toEqual([]);
    expect(await socket.closed).toBeNumber();
    expect((await refusalOf(socket.call("status", {})))?.code).toBe("closed");
  });

  test("tells a call that is never answered when the connection ends", async () => {
    using server = Bun.serve({
      port: 0,
      fetch: (request, own) => (own.upgrade(request) ? undefined : new Response(null, { status: 400 })),
      websocket: { message: (socket) => socket.close(1001) },
    });
    using socket = await createGatewayClient({ url: `http://127.0.0.1:${server.port}`, token: TOKEN }).connect();
    expect((await refusalOf(socket.call("status", {})))?.message).toBe("The connection was closed (1001).");
  });
});
