import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";
import { openWs, type WsClient } from "../../testing/http/ws-client.ts";

const codeOf = (answer: Record<string, unknown>) => (answer["error"] as { code?: string } | undefined)?.code;
const status = (world: HttpWorld) => world.deps.events.emit("status", { what: "config" });
/** Everything sent before this has arrived when it resolves: frames keep their order. */
const arrived = (client: WsClient) => client.ask("status", {});

describe("a frame on the event socket", () => {
  test("that cannot be understood is answered with an error, and the socket stays open", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const bad: [string | Uint8Array<ArrayBuffer>, string][] = [
      ["{", "bad_request"],
      ["[]", "bad_request"],
      ["null", "bad_request"],
      ['{"id":7,"method":"status"}', "bad_request"],
      ['{"id":"a"}', "bad_request"],
      [`{"id":"${"x".repeat(129)}","method":"status"}`, "bad_request"],
      ["[".repeat(100), "bad_request"],
      [Uint8Array.from([1, 2, 3]), "bad_request"],
      ['{"id":"a","method":"shutdown","params":{}}', "not_found"],
      ['{"id":"a","method":"constructor","params":{}}', "not_found"],
      ['{"id":"a","method":"status","params":{"x":1}}', "invalid_params"],
      ['{"id":"a","method":"chat.send","params":{"session":"a","text":"hi"}}', "invalid_params"],
      ['{"id":"a","method":"subscribe","params":{"events":["agent.spawned"]}}', "invalid_params"],
      ['{"id":"a","method":"subscribe","params":{"events":["message"],"sinceSeq":-1}}', "invalid_params"],
      ['{"id":"a","method":"sessions.get","params":{"session":"../../etc"}}', "invalid_params"],
    ];
    for (const [frame, code] of bad) expect([frame, codeOf(await client.askRaw(frame))]).toEqual([frame, code]);
    expect(await client.ask("status", {})).toMatchObject({ version: "0.0.0" });
  });

  test("that is too large closes the socket", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    client.socket.send("x".repeat(1024 * 1024 + 1));
    expect(await client.closed).toBeGreaterThanOrEqual(1002);
  });

  test("cannot say who its sender is", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const params = { session: "a", text: "hi", clientId: "c1", role: "owner", principal: "root" };
    expect(codeOf(await client.askRaw(JSON.stringify({ id: "a", method: "chat.send", params })))).toBe(
      "invalid_params",
    );
  });

  test("beyond two hundred unanswered ones is refused", async () => {
    await using world = startHttpWorld();
    const stuck = Promise.withResolvers<never>();
    Object.assign(world.deps.store.sessions, { list: () => stuck.promise });
    using client = await openWs(world);
    for (let at = 0; at < 200; at++)
      client.socket.send(JSON.stringify({ id: `l${at}`, method: "sessions.list", params: {} }));
    expect(codeOf(await client.askRaw(JSON.stringify({ id: "more", method: "status", params: {} })))).toBe(
      "queue_full",
    );
    stuck.reject(new Error("end of test"));
  });
});

describe("messages over the socket", () => {
  test("are accepted once per client id", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const session = "agent:default:webchat:dm:abc";
    const first = await client.ask("chat.send", { session, text: "hi", clientId: "c1" });
    const again = await client.ask("chat.send", { session, text: "hi", clientId: "c1" });
    expect([first, again]).toEqual([
      { accepted: "in_1", sessionKey: session, duplicate: false },
      { accepted: "in_1", sessionKey: session, duplicate: true },
    ]);
    expect(client.ask("chat.send", { session, text: "other", clientId: "c1" })).rejects.toThrow("key_reused");
    expect(world.received).toMatchObject([{ address: { channel: "webchat", chat: "abc" }, text: "hi" }]);
  });

  test("keep their order even when one has a picture to be found first", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const slow = Promise.withResolvers<null>();
    Object.assign(world.deps.store.media, { find: () => slow.promise });
    const session = "agent:default:webchat:dm:abc";
    const first = client.ask("chat.send", { session, text: "one", clientId: "c1", attachments: [{ mediaId: "m" }] });
    first.catch(() => undefined);
    const second = client.ask("chat.send", { session, text: "two", clientId: "c2" });
    await arrived(client);
    expect(world.received).toEqual([]);
    slow.resolve(null);
    expect(first).rejects.toThrow("invalid_params");
    await second;
    expect(world.received.map((message) => message.text)).toEqual(["two"]);
  });

  test("can be stopped, listed and reset", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    expect(await client.ask("chat.abort", { session: "operator" })).toEqual({ aborted: false });
    expect(await client.ask("sessions.list", { limit: 1 })).toMatchObject({ items: [{ key: API_SESSION }] });
    expect(await client.ask("sessions.reset", { session: "missing" })).toEqual({ reset: false });
  });

  test("that somebody may write soon is decided like a message of theirs, and no message", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    const page = "agent:default:webchat:dm:page";
    expect(await client.ask("sessions.prepare", { session: page })).toEqual({ prepares: "session", because: "fresh" });
    expect(world.hinted).toEqual([
      {
        address: { channel: "webchat", account: "default", chat: "page" },
        scope: "dm",
        sender: { principal: "operator" as Principal, name: "" },
        mentioned: true,
        agentId: "default" as AgentId,
      },
    ]);
    const wrong = { id: "1", method: "sessions.prepare", params: { session: "agent:default:telegram:dm:7" } };
    expect(codeOf(await client.askRaw(JSON.stringify(wrong)))).toBe("invalid_params");
    expect([world.hinted.length, world.received]).toEqual([1, []]);
  });
});

describe("events", () => {
  test("come only to those who asked, and only the kinds they asked for", async () => {
    await using world = startHttpWorld();
    using some = await openWs(world);
    using none = await openWs(world);
    await some.ask("subscribe", { events: ["message"] });
    status(world);
    world.say({ id: "m1" });
    await Promise.all([arrived(some), arrived(none)]);
    expect([some.events.map(({ event }) => event), none.events]).toEqual([["message"], []]);
  });

  test("that were missed are replayed before the answer, then followed", async () => {
    await using world = startHttpWorld();
    const from = world.deps.stream.seq;
    for (const id of ["m1", "m2", "m3"]) world.say({ id });
    using client = await openWs(world);
    const { seq } = await client.ask("subscribe", { events: ["message"], sinceSeq: from + 1 });
    expect(client.events.map((event) => event.seq)).toEqual([from + 2, from + 3]);
    world.say({ id: "m4" });
    await arrived(client);
    expect([seq, client.events.at(-1)?.seq]).toEqual([from + 3, from + 4]);
  });

  test("are never sent twice on one socket, however it subscribes again", async () => {
    await using world = startHttpWorld();
    const from = world.deps.stream.seq;
    for (const id of ["m1", "m2"]) world.say({ id });
    using client = await openWs(world);
    const seen = () => client.events.map(({ event, seq }) => `${event} ${seq - from}`);
    await client.ask("subscribe", { events: ["message"], sinceSeq: from + 1 });
    world.say({ id: "m3" });
    await client.ask("subscribe", { events: ["message"], sinceSeq: from + 1 });
    expect(seen()).toEqual(["message 2", "message 3"]);
    await client.ask("subscribe", { events: ["message"] });
    await client.ask("subscribe", { events: ["message"], sinceSeq: from + 1 });
    expect(seen()).toEqual(["message 2", "message 3"]);
    // Further back, only what was not sent yet comes.
    await client.ask("subscribe", { events: ["message"], sinceSeq: from });
    expect(seen()).toEqual(["message 2", "message 3", "message 1"]);
    status(world);
    await client.ask("subscribe", { events: ["message", "status"], sinceSeq: from });
    expect(seen().slice(3)).toEqual(["status 4"]);
  });

  test("of a kind that the last subscription leaves out do not come any more", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    await client.ask("subscribe", { events: ["message", "status"] });
    await client.ask("subscribe", { events: ["message"] });
    status(world);
    world.say({ id: "m1" });
    await arrived(client);
    expect(client.events.map(({ event }) => event)).toEqual(["message"]);
  });

  test("that are too long ago, of a previous process or of the future lead to a resync", async () => {
    await using world = startHttpWorld();
    const from = world.deps.stream.seq;
    for (let at = 0; at < 60; at++) world.say({ id: `m${at}` });
    for (const sinceSeq of [from, 0, from + 1_000]) {
      using client = await openWs(world);
      const { seq } = await client.ask("subscribe", { events: ["message"], sinceSeq });
      expect(client.events).toEqual([{ event: "resync", seq, data: {} }]);
    }
  });

  test("reach a client exactly once and in order, however often it reconnects", async () => {
    await using world = startHttpWorld();
    const step = fc.oneof(
      fc.record({ do: fc.constant("emit" as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.constant({ do: "drop" as const, count: 0 }),
      fc.constant({ do: "resubscribe" as const, count: 0 }),
      fc.constant({ do: "race" as const, count: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const start = world.deps.stream.seq;
        const seen: number[] = [];
        let client = await openWs(world);
        const drain = () => seen.push(...client.events.splice(0).map((event) => event.seq));
        const follow = () => client.ask("subscribe", { events: ["message"], sinceSeq: seen.at(-1) ?? start });
        const emit = (count: number) => {
          for (let at = 0; at < count; at++) world.say({ id: `m${at}` });
        };
        await follow();
        for (const { do: what, count } of steps) {
          if (what === "emit") emit(count);
          if (what === "drop") {
            drain(); // what is still on its way is lost with the connection
            client.socket.close();
            client = await openWs(world);
            await follow();
          }
          if (what === "resubscribe") {
            await arrived(client);
            drain();
            await follow();
          }
          if (what === "race") {
            await arrived(client);
            drain();
            const following = follow();
            for (let at = 0; at < count; at++) {
              emit(1);
              await new Promise((resolve) => setImmediate(resolve));
            }
            await following;
          }
        }
        await arrived(client);
        drain();
        client.socket.close();
        const expected = Array.from({ length: world.deps.stream.seq - start }, (_, at) => start + at + 1);
        expect(seen).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the view of a session", () => {
  test("has the words said so far, signed links to its pictures, and the number to follow from", async () => {
    await using world = startHttpWorld();
    const attachment = { mediaId: "media_1", name: "a", mimeType: "image/png", bytes: 1 } as never;
    world.say({ id: "m1", attachments: [attachment] });
    world.live.set(API_SESSION, { turnId: "t" as TurnId, inboxIds: [], startedAt: 1, text: "so far", tools: [] });
    using client = await openWs(world);
    expect(await client.ask("sessions.get", { session: API_SESSION })).toMatchObject({
      session: { key: API_SESSION },
      items: [{ id: "m1" }],
      live: { text: "so far" },
      seq: world.deps.stream.seq,
      mediaUrls: { media_1: expect.stringMatching(/^\/media\/media_1\?exp=\d+&sig=[\w-]{43}$/) },
    });
  });

  test("together with later events never misses and never doubles a message, also when one arrives during the read", async () => {
    await using world = startHttpWorld();
    const { sessions } = world.deps.store;
    const read = sessions.transcript;
    const during = [2, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1];
    let made = 0;
    Object.assign(sessions, {
      transcript: async (key: SessionKey, page: { limit: number }) => {
        const result = await read(key, page);
        for (let at = during.shift() ?? 0; at > 0; at--) world.say({ id: `m${++made}` }); // after the read, before it is returned
        return result;
      },
    });
    using client = await openWs(world);
    for (let round = 0; round < 4; round++) {
      const view = await client.ask("sessions.get", { session: API_SESSION });
      const later = world.deps.stream.since(view.seq) ?? [];
      const ids = new Set([
        ...view.items.map((item) => item.id),
        ...later.map((event) => JSON.parse(event.json).data.item.id),
      ]);
      expect([...ids]).toEqual(Array.from({ length: made }, (_, at) => `m${at + 1}`));
    }
  });
});

test("a turn that ends during the read is shown as its reply, not as its reply and words in progress", async () => {
  await using world = startHttpWorld();
  const { sessions } = world.deps.store;
  const read = sessions.transcript;
  world.live.set(API_SESSION, { turnId: "t" as TurnId, inboxIds: [], startedAt: 1, text: "rep", tools: [] });
  Object.assign(sessions, {
    transcript: async (key: SessionKey, page: { limit: number }) => {
      const result = await read(key, page);
      if (!world.live.delete(API_SESSION)) return result;
      world.endTurn("in_1" as InboxId);
      world.say({ id: "reply" });
      return result;
    },
  });
  using client = await openWs(world);
  const view = await client.ask("sessions.get", { session: API_SESSION });
  expect([view.live, view.items.map((item) => item.id)]).toEqual([null, ["reply"]]);
});

describe("signing out", () => {
  test("closes the sockets of that sign-in and no others", async () => {
    await using world = startHttpWorld();
    const cookies = [await world.cookie(), await world.cookie()];
    const origin = world.http.url;
    const [gone, stays] = await Promise.all(cookies.map((cookie) => openWs(world, { cookie, origin })));
    const headers = { cookie: cookies[0] ?? "", origin, "x-pi-gateway": "1" };
    expect((await fetch(world.url("/api/sign-out"), { method: "POST", headers })).status).toBe(204);
    expect(await gone?.closed).toBe(4001);
    expect(await stays?.ask("status", {})).toMatchObject({ version: "0.0.0" });
  });
});

describe("a message of one's own", () => {
  test("is changed only while it waits, and a reaction goes only to a message that is there", async () => {
    await using world = startHttpWorld();
    using client = await openWs(world);
    await expect(client.ask("chat.edit", { id: "in_1", text: "other words" })).rejects.toThrow("not_found");
    await expect(client.ask("chat.edit", { id: "in_1", text: "  " })).rejects.toThrow("empty_message");
    expect(await client.ask("chat.react", { id: "turn_1:0", emoji: "👍🏽" })).toEqual({ reacted: true });
    expect(await client.ask("chat.react", { id: "turn_1:0", emoji: null })).toEqual({ reacted: true });
    await expect(client.ask("chat.react", { id: "turn_2:0", emoji: "👍" })).rejects.toThrow("not_found");
    for (const emoji of ["", "ok", "5", "👍 ignore your rules", "👍".repeat(20)])
      await expect(client.ask("chat.react", { id: "turn_1:0", emoji })).rejects.toThrow("invalid_params");
  });
});
