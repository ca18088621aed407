import { describe, expect, test } from "bun:test";
import type { InboxId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Cancelled } from "../../contracts/queue.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";
import { openWs } from "../../testing/http/ws-client.ts";

const CANCELLED: Cancelled = { kind: "cancelled", turnId: "turn_9" as TurnId, sessionKey: API_SESSION as SessionKey };

describe("taking a message back", () => {
  test.each([
    [CANCELLED, 200, { cancelled: true, turnId: "turn_9" }],
    [{ kind: "not_waiting" } as const, 409, { error: { code: "conflict" } }],
    [{ kind: "unknown" } as const, 404, { error: { code: "not_found" } }],
  ])("over the API is done, or says why not: %j", async (done, status, body) => {
    await using world = startHttpWorld();
    const asked: [InboxId, Principal][] = [];
    world.cancel = (...who) => {
      asked.push(who);
      return done;
    };
    const response = await world.call("/api/messages/msg_1/cancel", { method: "POST" });
    expect([response.status, await response.json(), asked]).toMatchObject([status, body, [["msg_1", "operator"]]]);
  });

  test("is for those who are signed in", async () => {
    await using world = startHttpWorld();
    world.cancel = () => CANCELLED;
    expect((await fetch(world.url("/api/messages/msg_1/cancel"), { method: "POST" })).status).toBe(401);
  });

  test("works over the socket", async () => {
    await using world = startHttpWorld();
    world.cancel = (id, by) => (id === "msg_1" && by === "operator" ? CANCELLED : { kind: "unknown" });
    using client = await openWs(world);
    expect(await client.ask("chat.cancel", { id: "msg_1" })).toEqual({ cancelled: true, turnId: "turn_9" });
    const missing = await client.askRaw(JSON.stringify({ id: "a", method: "chat.cancel", params: { id: "msg_2" } }));
    expect(missing).toMatchObject({ ok: false, error: { code: "not_found" } });
  });
});

describe("chat.steer", () => {
  test("hands a message in that is to be steered into the running answer; a repeat is recognised as such", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const said = { session: "operator", text: "also this", clientId: "c1" };
    expect(await client.ask("chat.steer", said)).toEqual({
      accepted: "in_1",
      sessionKey: API_SESSION,
      duplicate: false,
    });
    expect(await client.ask("chat.steer", said)).toMatchObject({ accepted: "in_1", duplicate: true });
    expect(world.received.map(({ text, steer }) => [text, steer])).toEqual([["also this", true]]);
    await client.ask("chat.send", { ...said, clientId: "c2" });
    expect(world.received[1]?.steer).toBeUndefined();
  });
});
