/** The paths of platforms, and the people who ask for access, at the real port. */
import { describe, expect, test } from "bun:test";
import type { WebhookRequest } from "../../contracts/channels/platform.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { MAX_WEBHOOK_BYTES } from "./platform-webhooks.ts";

describe("a webhook", () => {
  test("gets the raw bytes without a sign-in, and its answer is given back", async () => {
    await using world = startHttpWorld();
    const seen: WebhookRequest[] = [];
    world.webhooks.set("/telegram/main", {
      path: "/telegram/main",
      async handle(request) {
        seen.push(request);
        return request.headers.get("x-secret") === "right" ? { status: 200, json: { ok: true } } : { status: 401 };
      },
    });
    const send = (headers: Record<string, string>) =>
      fetch(world.url("/telegram/main"), { method: "POST", headers, body: '{"not": parsed' });
    const right = await send({ "x-secret": "right" });
    expect([right.status, await right.json()]).toEqual([200, { ok: true }]);
    expect((await send({})).status).toBe(401);
    expect(new TextDecoder().decode(seen[0]?.body)).toBe('{"not": parsed');
  });

  test("exists only while a channel answers there, for POST alone, and looks like nothing otherwise", async () => {
    await using world = startHttpWorld();
    const status = async (path: string, method: string) => (await fetch(world.url(path), { method })).status;
    expect(await status("/telegram/main", "POST")).toBe(401);
    world.webhooks.set("/telegram/main", { path: "/telegram/main", handle: async () => ({ status: 204 }) });
    expect(await status("/telegram/main", "POST")).toBe(204);
    expect(await status("/telegram/main", "GET")).toBe(401);
    expect(await status("/telegram/other", "POST")).toBe(401);
    world.webhooks.delete("/telegram/main");
    expect(await status("/telegram/main", "POST")).toBe(401);
  });

  test("is called under the host of its own address, which opens no other path and no other host", async () => {
    await using world = startHttpWorld();
    const handle = async () => ({ status: 204 });
    world.webhooks.set("/telegram/main", { path: "/telegram/main", hosts: ["Bot.example.org"], handle });
    world.webhooks.set("/discord/interactions", { path: "/discord/interactions", handle });
    const status = async (path: string, host: string, method = "POST") =>
      (await fetch(world.url(path), { method, headers: { host } })).status;
    const asked = await Promise.all([
      ...["bot.example.org", "bot.example.org:443", "BOT.example.org."].map((host) => status("/telegram/main", host)),
      ...["evil.example", "bot.example.org.evil.example", "bot.example.org:8443"].map((host) =>
        status("/telegram/main", host),
      ),
      status("/discord/interactions", "bot.example.org"),
      status("/api/status", "bot.example.org", "GET"),
      status("/", "bot.example.org", "GET"),
      status("/telegram/main", "bot.example.org", "GET"),
    ]);
    expect(asked).toEqual([204, 204, 204, 421, 421, 421, 421, 421, 421, 421]);
  });

  test("cannot take over a path of our own, and takes no more than its limit", async () => {
    await using world = startHttpWorld();
    let calls = 0;
    const handle = async () => {
      calls++;
      return { status: 200 };
    };
    for (const path of ["/api/status", "/api/chat", "/big/one"]) world.webhooks.set(path, { path, handle });
    expect((await fetch(world.url("/api/chat"), { method: "POST" })).status).toBe(401);
    const body = new Uint8Array(MAX_WEBHOOK_BYTES + 1);
    expect((await fetch(world.url("/big/one"), { method: "POST", body })).status).toBe(413);
    expect(calls).toBe(0);
  });

  test("that fails is an error without detail", async () => {
    await using world = startHttpWorld();
    const handle = () => Promise.reject(new Error("inner words"));
    world.webhooks.set("/x/y", { path: "/x/y", handle });
    const answer = await fetch(world.url("/x/y"), { method: "POST" });
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("inner words");
  });
});

describe("pairing at the port", () => {
  test("is for the operator, and says what is wrong", async () => {
    await using world = startHttpWorld();
    expect((await fetch(world.url("/api/pairing"))).status).toBe(401);
    expect(await (await world.call("/api/pairing")).json()).toEqual({ items: [] });
    for (const body of [
      { decision: "approve" },
      { decision: "approve", code: "ABCD2345" },
      { decision: "approve", role: "owner" },
      { decision: "approve", code: "ABCD2345", role: "king" },
    ])
      expect((await world.postJson("/api/pairing/pair_1", body)).status).toBe(422);
    for (const body of [{}, { code: "ABCD2345" }, { role: "owner" }, { id: "pair_1", role: "owner" }])
      expect((await world.postJson("/api/pairing", body)).status).toBe(422);
    const right = { code: "ABCD2345", role: "member" };
    expect((await world.postJson("/api/pairing/pair_1", { decision: "approve", ...right })).status).toBe(404);
    expect((await world.postJson("/api/pairing", right)).status).toBe(404);
    expect((await world.postJson("/api/pairing/pair_1", { decision: "undo" })).status).toBe(404);
    expect((await world.postJson("/api/pairing/ABCD2345", { decision: "revoke" })).status).toBe(404);
    expect((await world.postJson("/api/pairing/ABCD2345", { decision: "maybe" })).status).toBe(422);
  });
});
