/** The way out of notifications: what a push service gets, which ones are called, and what each of their answers means. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { PushNotice } from "../contracts/notifications.ts";
import type { Resolver } from "../kit/outside/public-address.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { startPushService, type TestPushService } from "../testing/push-service.ts";
import { waitFor } from "../testing/wait-for.ts";
import { pushKeysOf } from "./keys.ts";
import { createPushSender, type SenderSettings } from "./sender.ts";

const NEVER = new AbortController().signal;
const keys = pushKeysOf(new Uint8Array(32).fill(7));
const NOTICE: PushNotice = { title: "Allow bash?", body: "ls", tag: "approval-ask_1", view: "/inbox" };
const MASK = { text: (text: string) => text.replaceAll("hunter2-hunter2", "[redacted]") };
let service: TestPushService;

beforeAll(() => {
  service = startPushService();
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  for (const list of [service.taken, service.answered, service.next]) list.length = 0;
});

interface Sent {
  readonly notice?: Partial<PushNotice>;
  readonly to?: { readonly endpoint?: string; readonly p256dh?: string; readonly key?: string };
  readonly settings?: Partial<SenderSettings>;
  readonly resolve?: Resolver;
  readonly signal?: AbortSignal;
}

function send({ notice = {}, to = {}, settings = {}, resolve = async () => [], signal = NEVER }: Sent = {}) {
  const clock = createFakeClock();
  const browser = service.browser(to.key ?? keys.publicKey);
  const deps = { clock, resolve, mask: MASK, keys };
  const sender = createPushSender(deps, () => ({
    contact: "mailto:ada@example.org",
    pushServices: [service.origin],
    ...settings,
  }));
  const target = { endpoint: browser.endpoint, ...browser.keys, ...to };
  const sent = { notice: { ...NOTICE, ...notice }, urgency: "high", expiresAt: clock.now() + 90_500 } as const;
  return sender(target, sent, signal);
}

describe("a push service gets", () => {
  test("a message that only the browser can read, signed by the key that the browser subscribed with", async () => {
    const approval = { id: "ask_1", tokens: { once: "t1", deny: "t2" } };
    expect(await send({ notice: { approval } })).toEqual({ kind: "sent" });
    expect(service.taken).toMatchObject([
      { notice: { ...NOTICE, approval }, ttlSeconds: 90, urgency: "high", contact: "mailto:ada@example.org" },
    ]);
  });

  test("no secret, also where a text is cut in the middle of one", async () => {
    await send({ notice: { title: "hunter2-hunter2", body: `${"x".repeat(295)}hunter2-hunter2` } });
    const { title, body } = service.taken[0]?.notice ?? NOTICE;
    expect([title, body]).toEqual(["[redacted]", `${"x".repeat(295)}[red…`]);
  });

  test("no more than it takes, whatever is written", async () => {
    for (const text of ["\u0000", "𝒳", "é"]) {
      const approval = { id: "ask_".padEnd(40, "0"), tokens: { once: "t".repeat(43), deny: "t".repeat(43) } };
      expect(await send({ notice: { title: text.repeat(900), body: text.repeat(900), approval } })).toEqual({
        kind: "sent",
      });
    }
  });
});

describe("an answer of a push service:", () => {
  test.each([
    [200, { kind: "sent" }],
    [202, { kind: "sent" }],
    [404, { kind: "gone" }],
    [410, { kind: "gone" }],
    [413, { kind: "failed", because: "it was too large for its push service", again: false }],
    [400, { kind: "failed", because: "its push service answered with status 400", again: false }],
    [429, { kind: "failed", because: "its push service answered with status 429", again: true }],
    [500, { kind: "failed", because: "its push service answered with status 500", again: true }],
    [503, { kind: "failed", because: "its push service answered with status 503", again: true }],
  ] as const)("%d", async (status, outcome) => {
    service.next.push(status);
    expect(await send()).toEqual(outcome);
  });

  test("a pause that it asks for is told on", async () => {
    service.next.push({ status: 429, retryAfter: "7" });
    expect(await send()).toMatchObject({ kind: "failed", again: true, retryAfterMs: 7_000 });
  });

  test("one that never comes is a failure that may pass, or the caller gives up first", async () => {
    service.next.push("hang");
    const stop = new AbortController();
    const sending = send({ signal: stop.signal });
    await waitFor("the request", () => service.next.length === 0);
    stop.abort(new Error("the gateway stops"));
    await expect(sending).rejects.toThrow("the gateway stops");
  });

  test("a browser that subscribed with the key of another gateway is not reached", async () => {
    const other = pushKeysOf(new Uint8Array(32).fill(8)).publicKey;
    expect(await send({ to: { key: other } })).toMatchObject({ kind: "failed", again: false });
    expect(service.answered).toEqual([403]);
  });
});

describe("an address from a browser is not called", () => {
  test("without https, unless the settings name its origin", async () => {
    expect(await send({ settings: { pushServices: [] } })).toEqual({
      kind: "failed",
      because: "the address of its push service is not an https address",
      again: false,
    });
    expect(service.answered).toEqual([]);
  });

  test.each([
    ["on this machine", "https://127.0.0.1/push/0", []],
    ["on a private network", "https://push.example.org/0", ["10.0.0.5"]],
    ["on a private and a public address", "https://push.example.org/0", ["93.184.216.34", "169.254.169.254"]],
    ["with a password", "https://user:pass@push.example.org/0", ["93.184.216.34"]],
    ["at an unusual port", "https://push.example.org:8443/0", ["93.184.216.34"]],
  ])("%s", async (_where, endpoint, addresses) => {
    expect(await send({ to: { endpoint }, resolve: async () => addresses })).toMatchObject({
      kind: "failed",
      because: expect.stringContaining("its push service may not be called"),
      again: false,
    });
  });
});

test("a browser whose key is no key is told nothing, and nobody else is", async () => {
  const p256dh = Buffer.alloc(65, 4).toString("base64url");
  expect(await send({ to: { p256dh } })).toEqual({
    kind: "failed",
    because: "the keys of the browser are not valid",
    again: false,
  });
});

test("keys of notifications are the same for the same seed, and others for another", () => {
  expect(pushKeysOf(new Uint8Array(32).fill(7))).toEqual(keys);
  expect(pushKeysOf(new Uint8Array(32).fill(8)).publicKey).not.toBe(keys.publicKey);
  expect([keys.publicKey.length, keys.privateKey.length, keys.tokenKey.length]).toEqual([87, 43, 32]);
});
