/** The routes of notifications: a browser asks for itself, a program cannot, and a decision needs the token that came with the notification. */
import { describe, expect, test } from "bun:test";
import type { Notifications } from "../../contracts/notifications.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { noNotifications } from "../../testing/http/test-surfaces.ts";

const ASKED = {
  endpoint: "https://push.example.org/1",
  keys: { p256dh: "k".repeat(87), auth: "a".repeat(22) },
  browser: "Firefox on Linux",
};

function start(more: Partial<Notifications> = {}) {
  const world = startHttpWorld({}, { people: { notifications: { ...noNotifications, ...more } } });
  /** As a signed-in browser does. */
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = {
      cookie: await world.cookie(),
      origin: world.http.url,
      "x-pi-gateway": "1",
      "content-type": "application/json",
    };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(world.url(path), { method, headers, ...init });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  return { world, send, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("a browser that is signed in", () => {
  test("puts itself on the list, and sees which row is its own", async () => {
    const by: unknown[] = [];
    await using at = start({
      async subscribe(asked, browser) {
        by.push([asked, browser]);
        return noNotifications.subscribe(asked, browser);
      },
    });
    const { status, body } = await at.send("POST", "/api/notifications", ASKED);
    const shown = {
      id: "push_1",
      browser: "Firefox on Linux",
      createdAt: 1,
      sentAt: null,
      problem: null,
      current: true,
    };
    expect([status, body]).toEqual([200, { browser: shown }]);
    const { endpoint, keys, browser } = ASKED;
    const signIn = [...at.world.signIns.keys()].at(-1);
    expect(by).toEqual([
      [
        { endpoint, ...keys, browser },
        { principal: "operator", signIn },
      ],
    ]);
  });

  test.each([
    ["a key that is too short", { ...ASKED, keys: { ...ASKED.keys, p256dh: "k" } }],
    ["a secret that is none", { ...ASKED, keys: { ...ASKED.keys, auth: "<script>aaaaaaaaaaaaaa" } }],
    ["an endless address", { ...ASKED, endpoint: `https://${"x".repeat(2_000)}` }],
    ["no keys", { endpoint: ASKED.endpoint }],
    ["an endless name", { ...ASKED, browser: "x".repeat(81) }],
  ])("is refused with %s", async (_what, body) => {
    await using at = start();
    expect(await at.send("POST", "/api/notifications", body)).toMatchObject({ status: 422 });
  });

  test("decides with the token that came with the notification", async () => {
    const outcomes = ["done", "unknown", "not_allowed"] as const;
    const asked: unknown[] = [];
    await using at = start({
      async decide(decision, { signIn }) {
        asked.push([decision, signIn.length]);
        return outcomes[asked.length - 1] ?? "unknown";
      },
    });
    const body = { approval: "ask_1", decision: "once", token: "t" };
    const statuses = [];
    for (const _ of outcomes) statuses.push((await at.send("POST", "/api/notifications/decision", body)).status);
    expect([statuses, asked[0]]).toEqual([
      [200, 404, 403],
      [body, 64],
    ]);
    const session = { ...body, decision: "session" }; // what holds for longer is not decided on a locked screen
    expect((await at.send("POST", "/api/notifications/decision", session)).status).toBe(422);
  });
});

test("a program with the gateway's token neither subscribes nor decides in a notification", async () => {
  await using at = start();
  const decision = { approval: "ask_1", decision: "once", token: "t" };
  for (const [path, body] of [
    ["/api/notifications", ASKED],
    ["/api/notifications/decision", decision],
  ] as const) {
    const answer = await at.world.postJson(path, body);
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining("signed in to the web console"),
    ]);
  }
});

test("a decision that another site sends is refused, although the browser adds its cookie", async () => {
  await using at = start({ decide: async () => "done" });
  const headers = {
    cookie: await at.world.cookie(),
    origin: "https://evil.example",
    "x-pi-gateway": "1",
    "content-type": "application/json",
  };
  const body = JSON.stringify({ approval: "ask_1", decision: "once", token: "t" });
  const answer = await fetch(at.world.url("/api/notifications/decision"), { method: "POST", headers, body });
  expect(answer.status).toBe(403);
});

test("an operator lists, tests and removes browsers", async () => {
  await using at = start({ test: async () => ({ kind: "failed", because: "its push service is away", again: true }) });
  const list = await (await at.world.call("/api/notifications")).json();
  expect(list).toEqual({ enabled: true, publicKey: "a-public-key", items: [] });
  const tried = await (await at.world.call("/api/notifications/push_1/test", { method: "POST" })).json();
  expect(tried).toEqual({ ok: false, say: "The notification was not sent: its push service is away." });
  const removed = await at.world.call("/api/notifications/push_1", { method: "DELETE" });
  const unknown = await at.world.call("/api/notifications/push_2", { method: "DELETE" });
  expect([removed.status, unknown.status]).toEqual([200, 404]);
});
