/** Programs with keys, at a whole gateway with a real agent: whose turns and costs are whose, which tools run, and what a revoked key leaves behind. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { ApiKey } from "../src/contracts/api-keys.ts";
import { type FakeProvider, type FakeReply, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, openSocket, problemOf, SHARED_POOL, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** As docs/http.md promises, with room for a busy machine. */
const REVOKED_MS = 5_000;
const note: FakeReply = { kind: "tools", calls: [{ name: "save_note", input: { title: "t", content: "c" } }] };

let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    if (asked(request).includes("wait")) return { kind: "hang" };
    const answered = request.messages.at(-1)?.role === "tool";
    if (asked(request).includes("note") && !answered) return note;
    return { kind: "text", pieces: [answered ? "noted" : "fine"], usage: { inputTokens: 100, outputTokens: 10 } };
  });
  const base = endpoint(provider);
  gateway = await startGatewayProcess({ config: { ...base, agent: { ...base.agent, pool: SHARED_POOL } } });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

async function programOf(asking: object) {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ name: "a program", scopes: ["chat"], ...asking });
  const made = await gateway.fetch("/api/keys", { method: "POST", headers: json, body });
  const { key, secret } = (await made.json()) as { key: ApiKey; secret: string };
  const headers = { ...json, authorization: `Bearer ${secret}` };
  return {
    key,
    secret,
    principal: `key:user:${key.id}`,
    get: (path: string) => fetch(`${gateway.url}${path}`, { headers }),
    post: (path: string, what: object) =>
      fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(what) }),
  };
}

const read = async <T>(path: string) => (await (await gateway.fetch(path)).json()) as T;

test("a turn of a key is in a session of its own and is billed to it, up to its budget", async () => {
  const program = await programOf({ dailyTokens: 100 });
  const first = (await (await program.post("/api/chat", { text: "hello" })).json()) as Record<string, unknown>;
  expect([first["content"], first["sessionKey"]]).toEqual(["fine", `agent:default:api:dm:${program.key.id}.main`]);
  const used = await read<{ items: { key: string; inputTokens: number }[] }>("/api/usage?by=principal");
  expect(used.items.find(({ key }) => key === program.principal)?.inputTokens).toBe(100);
  expect(await problemOf(await program.post("/api/chat", { text: "again" }))).toMatchObject({
    status: 429,
    code: "budget_spent",
  });
  const log = await read<{ items: { subject: string; detail: object }[] }>("/api/audit?kind=key.made");
  expect(log.items.find(({ subject }) => subject === program.principal)?.detail).toMatchObject({ scopes: ["chat"] });
});

test("a key calls the tools it is for, and neither it nor its turns call any other", async () => {
  const params = { title: "t", content: "c" };
  const allowed = await programOf({ scopes: ["chat", "tools"], tools: ["save_note"] });
  const other = await programOf({ scopes: ["chat", "tools"], tools: ["search_notes"] });
  expect((await allowed.post("/api/tools/call", { tool: "save_note", params })).status).toBe(200);
  expect((await other.post("/api/tools/call", { tool: "save_note", params })).status).toBe(403);
  const socket = await openSocket({ url: gateway.url, token: other.secret }, null);
  await expect(socket.request("tools.call", { tool: "save_note", params })).rejects.toThrow("not_allowed");
  socket.close();
  const names = async (from: typeof other) =>
    ((await (await from.get("/api/tools")).json()) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  expect([await names(allowed), await names(other)]).toEqual([["save_note"], ["search_notes"]]);

  await allowed.post("/api/chat", { text: "make a note" });
  await other.post("/api/chat", { text: "make a note" });
  const calls = await read<{ items: { userId: string; turnId: string | null; status: string }[] }>(
    "/api/tool-calls?tool=save_note",
  );
  const inTurn = (who: string) =>
    calls.items.filter(({ userId, turnId }) => userId === who && turnId !== null).map(({ status }) => status);
  expect([inTurn(allowed.principal), inTurn(other.principal)]).toEqual([["success"], ["error"]]); // not offered, so pi has no such tool
});

test("a revoked key loses its running turn, its request and its socket within five seconds", async () => {
  const program = await programOf({});
  const socket = await openSocket({ url: gateway.url, token: program.secret });
  const before = provider.hungUp.length;
  const seen = provider.requests.length;
  const waiting = program.post("/api/chat", { text: "wait for ever" });
  await provider.arrived(seen + 1);
  const at = performance.now();
  expect((await gateway.fetch(`/api/keys/${program.key.id}`, { method: "DELETE" })).status).toBe(200);
  expect([(await waiting).status, (await socket.closed).code]).toEqual([401, 4001]);
  await eventually(
    "the model call is given up",
    () => provider.hungUp.length,
    (count) => count > before,
  );
  expect(performance.now() - at).toBeLessThan(REVOKED_MS);
  expect((await program.get("/api/sessions/main")).status).toBe(401);
  const { items } = await eventually(
    "the end of the turn",
    () =>
      read<{ items: { turn: { outcome: string | null; errorCode: string | null } }[] }>(
        `/api/turns?session=agent:default:api:dm:${program.key.id}.main`,
      ),
    ({ items: turns }) => turns[0]?.turn.outcome === "failed",
  );
  expect(items.map(({ turn }) => turn.errorCode)).toEqual(["access_revoked"]);
});

test("a key is a member: it cannot use the commands of owners", async () => {
  const program = await programOf({});
  const { content } = (await (await program.post("/api/chat", { text: "/role telegram:user:1 owner" })).json()) as {
    content: string;
  };
  expect(content).toContain("owner");
  const grants = await read<{ items: unknown[] }>("/api/audit?kind=role.given");
  expect(grants.items).toEqual([]);
});
