/** What a program with a key can do at the port, and how soon it can do no more. */
import { describe, expect, test } from "bun:test";
import { keyPrincipal, type NewApiKey } from "../../contracts/api-keys.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { NO_TURN, type ToolRequest } from "../../contracts/tools/tool.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { openWs } from "../../testing/http/ws-client.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";

const OWN = "agent:default:api:dm:key-000001.main" as SessionKey;

async function keyed(more: Partial<NewApiKey> = {}) {
  const world = startHttpWorld();
  const made = await makeKey(world.deps.people.keys, more);
  const headers: Record<string, string> = { ...made.headers, "content-type": "application/json" };
  const post = (path: string, body: unknown, extra: Record<string, string> = {}) =>
    fetch(world.url(path), { method: "POST", headers: { ...headers, ...extra }, body: JSON.stringify(body) });
  return { world, ...made, headers, post, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const answering = (world: HttpWorld): void => {
  world.onTaken = (id) => queueMicrotask(() => world.endTurn(id));
};

describe("a program with a key", () => {
  test("speaks as itself, in a session of its own", async () => {
    await using at = await keyed();
    answering(at.world);
    await at.post("/api/chat", { text: "hi" });
    await at.post("/api/chat", { text: "hi", session: "kitchen" });
    expect(at.world.received.map(({ sender, address }) => [sender.principal, address.channel, address.chat])).toEqual([
      [keyPrincipal(at.key.id), "api", "key-000001.main"],
      [keyPrincipal(at.key.id), "api", "key-000001.kitchen"],
    ]);
  });

  test("talks to the first of its agents when it names none", async () => {
    await using at = await keyed({ agents: ["helper", "other"] });
    answering(at.world);
    await at.post("/api/chat", { text: "hi" });
    expect(at.world.received.map(({ agentId }) => String(agentId))).toEqual(["helper"]);
  });

  test.each([API_SESSION, "agent:default:webchat:dm:7", "agent:default:api:dm:key-000002.main"])(
    "neither speaks in nor reads the session %s of somebody else",
    async (session) => {
      await using at = await keyed();
      answering(at.world);
      const { url } = at.world;
      const { headers } = at;
      expect((await at.post("/api/chat", { text: "hi", session })).status).toBe(403);
      for (const path of [`/api/sessions/${session}`, `/api/sessions/${session}/transcript`])
        expect((await fetch(url(path), { headers })).status).toBe(403);
      for (const action of ["abort", "reset"])
        expect((await at.post(`/api/sessions/${session}/${action}`, {})).status).toBe(403);
      expect(at.world.received).toEqual([]);
    },
  );

  test("reads every session with the scope read, and changes none", async () => {
    await using at = await keyed({ scopes: ["read"] });
    const { headers } = at;
    expect((await fetch(at.world.url(`/api/sessions/${API_SESSION}`), { headers })).status).toBe(200);
    expect((await at.post(`/api/sessions/${API_SESSION}/reset`, {})).status).toBe(403);
  });

  test("has idempotency keys of its own", async () => {
    await using at = await keyed();
    answering(at.world);
    const again = { "idempotency-key": "same" };
    await at.post("/api/chat", { text: "hi" }, again);
    await at.world.postJson("/api/chat", { text: "another" }, again);
    expect(at.world.received.map(({ text }) => text)).toEqual(["hi", "another"]);
  });

  test("cannot attach a file that somebody else uploaded", async () => {
    await using at = await keyed();
    const uploaded = await at.world.call("/api/media", { method: "POST", body: "some bytes" });
    const { mediaId } = (await uploaded.json()) as { mediaId: string };
    expect((await at.post("/api/chat", { text: "hi", attachments: [{ mediaId }] })).status).toBe(422);
  });

  test("calls tools as itself, as a member, for its own agent", async () => {
    await using at = await keyed({ scopes: ["tools"], agents: ["helper"] });
    const asked: ToolRequest[] = [];
    Object.assign(at.world.deps.tools.gate, {
      call: async (request: ToolRequest) => {
        asked.push(request);
        return { kind: "ok", result: { content: [] } };
      },
    });
    await at.post("/api/tools/call", { tool: "echo" });
    expect(asked.map(({ context }) => context)).toMatchObject([
      {
        principal: keyPrincipal(at.key.id),
        sessionKey: "agent:helper:api:dm:key-000001.main",
        turnId: NO_TURN,
        agentId: "helper",
        role: "member",
      },
    ]);
  });

  test("has so many requests a minute, over HTTP and the socket together", async () => {
    await using at = await keyed({ scopes: ["read"], requestsPerMinute: 3 });
    const { headers } = at;
    const status = () => fetch(at.world.url("/api/status"), { headers });
    expect((await status()).status).toBe(200);
    using ws = await openWs(at.world, headers);
    await ws.ask("status", {});
    const refused = await status();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "20"]);
    await expect(ws.ask("status", {})).rejects.toThrow("3 requests a minute");
    await at.world.clock.advance(20_000);
    expect((await status()).status).toBe(200);
  });

  test("is remembered as used, to the minute", async () => {
    await using at = await keyed({ scopes: ["read"] });
    const { keys } = at.world.deps.people;
    const use = () => fetch(at.world.url("/api/status"), { headers: at.headers });
    expect(keys.list()[0]?.lastUsedAt).toBeNull();
    const first = at.world.clock.now();
    await use();
    await at.world.clock.advance(59_000);
    await use();
    expect(keys.list()[0]?.lastUsedAt).toBe(first);
    await at.world.clock.advance(1_000);
    await use();
    expect(keys.list()[0]?.lastUsedAt).toBe(first + 60_000);
  });

  test("does not sign a browser in with it", async () => {
    await using at = await keyed({ scopes: ["admin"] });
    const body = JSON.stringify({ token: at.secret });
    const headers = { "content-type": "application/json" };
    expect((await fetch(at.world.url("/api/sign-in"), { method: "POST", headers, body })).status).toBe(401);
  });
});

describe("wrong keys", () => {
  test("lock their client out after ten in a minute, and never a right key", async () => {
    await using at = await keyed({ scopes: ["read"] });
    const wrong = { authorization: `Bearer pgw_${"a".repeat(43)}` };
    const tries = Array.from({ length: 12 }, () => fetch(at.world.url("/api/status"), { headers: wrong }));
    const answers = (await Promise.all(tries)).map(({ status }) => status);
    expect(answers.filter((status) => status === 401)).toHaveLength(10);
    expect(answers.filter((status) => status === 429)).toHaveLength(2);
    expect((await fetch(at.world.url("/api/status"), { headers: at.headers })).status).toBe(200);
  });
});

describe("the events of a key", () => {
  test("are those of sessions that it may read", async () => {
    await using at = await keyed();
    using ws = await openWs(at.world, at.headers);
    const { seq } = at.world.deps.stream;
    await ws.ask("subscribe", { events: ["message", "status"] });
    at.world.say({ id: "theirs" });
    at.world.deps.events.emit("status", { what: "jobs" });
    at.world.say({ id: "own" }, OWN);
    const heard = () => ws.events.map(({ event, data }) => [event, (data["item"] as { id?: string } | undefined)?.id]);
    await waitFor("the event of its own session", () => ws.events.length > 0);
    expect(heard()).toEqual([["message", "own"]]);
    using later = await openWs(at.world, at.headers);
    await later.ask("subscribe", { events: ["message", "status"], sinceSeq: seq });
    await waitFor("the same event once more", () => later.events.length > 0);
    expect(later.events.map(({ seq: at }) => at)).toEqual(ws.events.map(({ seq: at }) => at));
  });
});

describe("a key that ends", () => {
  const ENDS: readonly (readonly [string, (world: HttpWorld, id: string) => Promise<unknown>])[] = [
    ["is revoked", (world, id) => world.call(`/api/keys/${id}`, { method: "DELETE" })],
    ["expires", (world) => world.clock.advance(60_000)],
  ];

  test.each(ENDS)(
    "because it %s takes its sockets, streams and waiting requests with it at once",
    async (_how, end) => {
      await using world = startHttpWorld();
      const { key, ...made } = await makeKey(world.deps.people.keys, { expiresAt: world.clock.now() + 60_000 });
      const headers = { ...made.headers, "content-type": "application/json" };
      const ask = (body: object) =>
        fetch(world.url("/api/chat"), { method: "POST", headers, body: JSON.stringify(body) });
      using ws = await openWs(world, headers);
      const waiting = ask({ text: "never answered" });
      const stream = await ask({ text: "streamed", stream: true });
      await waitFor("both messages", () => world.received.length === 2);
      await end(world, key.id);
      expect(await waitForEnd("the end of the socket", ws.closed)).toBe(4001);
      expect((await waitForEnd("the end of the request", waiting)).status).toBe(401);
      expect(await waitForEnd("the end of the stream", stream.text())).toContain('"code":"unauthorized"');
      expect((await ask({ text: "again" })).status).toBe(401);
    },
  );
});

describe("making keys over HTTP", () => {
  test("gives the secret once, and a key that works", async () => {
    await using world = startHttpWorld();
    const asked = { name: " Home ", scopes: ["read", "chat"], agents: ["helper"], expiresIn: "1d", dailyUsd: 1 };
    const response = await world.postJson("/api/keys", asked);
    const { key, secret } = (await response.json()) as { key: { id: string }; secret: string };
    expect([response.status, /^pgw_[\w-]{43}$/.test(secret)]).toEqual([201, true]);
    expect(key).toMatchObject({
      name: "Home",
      scopes: ["chat", "read"],
      agents: ["helper"],
      tools: ["*"],
      dailyUsd: 1,
      requestsPerMinute: null,
      expiresAt: world.clock.now() + 86_400_000,
      createdBy: "operator",
    });
    const listed = await (await world.call("/api/keys")).text();
    expect([listed.includes(key.id), listed.includes(secret), listed.includes("digest")]).toEqual([true, false, false]);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(world.url("/api/sessions"), { headers })).status).toBe(200);
  });

  test.each([
    [{ name: "x", scopes: [] }],
    [{ name: "  ", scopes: ["chat"] }],
    [{ name: "x", scopes: ["root"] }],
    [{ name: "x", scopes: ["chat"], agents: [] }],
    [{ name: "x", scopes: ["chat"], expiresIn: "soon" }],
    [{ name: "x", scopes: ["chat"], expiresIn: "0d" }],
    [{ name: "x", scopes: ["chat"], requestsPerMinute: 0 }],
    [{ name: "x", scopes: ["chat"], digest: "mine" }],
  ])("refuses %j", async (asked) => {
    await using world = startHttpWorld();
    expect((await world.postJson("/api/keys", asked)).status).toBe(422);
    expect(world.deps.people.keys.list()).toEqual([]);
  });

  test("by a key gives no more than that key has", async () => {
    await using at = await keyed({ scopes: ["admin"], tools: ["notes_*"], requestsPerMinute: 100 });
    const more = await at.post("/api/keys", { name: "x", scopes: ["chat"], requestsPerMinute: 10 });
    const { error } = (await more.json()) as { error: { message: string } };
    expect([more.status, error.message]).toEqual([
      422,
      "A key can give no more than it has: the tool * is not for this one to give.",
    ]);
    const less = await at.post("/api/keys", {
      name: "x",
      scopes: ["chat"],
      tools: ["notes_save"],
      requestsPerMinute: 10,
    });
    expect(less.status).toBe(201);
    expect(((await less.json()) as { key: object }).key).toMatchObject({ createdBy: keyPrincipal(at.key.id) });
  });

  test("says so when there is no such key to revoke", async () => {
    await using world = startHttpWorld();
    expect((await world.call("/api/keys/nothing", { method: "DELETE" })).status).toBe(404);
  });
});
