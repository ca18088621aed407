/** Browsers that get notifications: who may be among them, and decisions that come back from one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import type { BrowserSignIn, NotificationChoice } from "../contracts/notifications.ts";
import { NO_MASK } from "../kit/secret.ts";
import { question } from "../testing/contracts/store/approval-contract.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { startPushService, type TestPushService } from "../testing/push-service.ts";
import { realStore } from "../testing/real-store.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { decisionToken } from "./decision-token.ts";
import { pushKeysOf } from "./keys.ts";
import { createPushSender } from "./sender.ts";
import { createNotifications, MAX_BROWSERS } from "./subscriptions.ts";

const OLGA: BrowserSignIn = { principal: "operator" as Principal, signIn: "a".repeat(64) };
const NEVER = new AbortController().signal;
const keys = pushKeysOf(new Uint8Array(32).fill(9));
let service: TestPushService;

beforeAll(() => {
  service = startPushService();
});
afterAll(() => service[Symbol.asyncDispose]());

async function world() {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const decided: unknown[] = [];
  const settings = () => ({ enabled: true, contact: "mailto:a@example.org", pushServices: [service.origin] });
  const send = createPushSender({ clock, resolve: async () => [], mask: NO_MASK, keys }, settings);
  const { pushSubscriptions, approvals } = real.store;
  const browsers = createNotifications(
    {
      clock,
      ids: createSeqIds(),
      keys,
      send,
      store: pushSubscriptions,
      asked: approvals,
      approvals: {
        async decide(...given) {
          decided.push(given);
          const [id, decision, by] = given;
          if (typeof decision === "object") return "no_such_rule";
          return (await approvals.end(id, { decision, by, at: clock.now() })) ? "done" : "unknown";
        },
      },
    },
    settings,
  );
  const subscribe = () => {
    const { endpoint, keys: own } = service.browser(keys.publicKey);
    return browsers.subscribe({ endpoint, ...own, browser: "Firefox on Linux" }, OLGA);
  };
  return { clock, real, browsers, decided, subscribe, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("a browser", () => {
  test("that asks for notifications gets a test, and its row says that it worked", async () => {
    await using w = await world();
    const { id } = await w.subscribe();
    expect(await w.browsers.test(id, NEVER)).toEqual({ kind: "sent" });
    expect(service.taken.at(-1)?.notice.title).toBe("Notifications work");
    expect(await w.browsers.list()).toMatchObject([{ id, sentAt: w.clock.now(), problem: null }]);
  });

  test("whose push service refuses the test has the reason in its row, and one that is gone has none", async () => {
    await using w = await world();
    const { id } = await w.subscribe();
    service.next.push(400, 410);
    expect(await w.browsers.test(id, NEVER)).toMatchObject({ kind: "failed" });
    expect(await w.browsers.list()).toMatchObject([{ problem: "its push service answered with status 400" }]);
    expect(await w.browsers.test(id, NEVER)).toEqual({ kind: "gone" });
    expect(await w.browsers.list()).toEqual([]);
    await expect(w.browsers.test(id, NEVER)).rejects.toMatchObject({ code: "not_found" });
  });

  test.each(["http://push.example.org/1", "ftp://push.example.org/1", "file:///etc/passwd", "no address"])(
    "with the address %s is refused",
    async (endpoint) => {
      await using w = await world();
      const asked = { endpoint, p256dh: "k", auth: "a", browser: "Firefox" };
      await expect(w.browsers.subscribe(asked, OLGA)).rejects.toMatchObject({ code: "invalid_params" });
    },
  );

  test("that would be one too many is refused", async () => {
    await using w = await world();
    for (let n = 0; n < MAX_BROWSERS; n++) await w.subscribe();
    await expect(w.subscribe()).rejects.toMatchObject({ code: "too_many_browsers" });
    expect((await w.browsers.list()).length).toBe(MAX_BROWSERS);
  });
});

describe("a decision in a notification", () => {
  const tokenOf = (decision: NotificationChoice, by = OLGA, hash = "hash-ask") =>
    decisionToken(keys.tokenKey, { approval: "ask", hash, decision }, by);

  test("goes the way of every decision, once", async () => {
    await using w = await world();
    await w.real.store.approvals.put(question("ask"));
    const asked = { approval: "ask", decision: "once", token: tokenOf("once") } as const;
    expect([await w.browsers.decide(asked, OLGA), await w.browsers.decide(asked, OLGA)]).toEqual(["done", "unknown"]);
    expect(w.decided).toEqual([["ask", "once", OLGA.principal, "notification"]]);
  });

  test.each([
    ["the token of another decision", tokenOf("deny"), OLGA],
    ["the token of another call", tokenOf("once", OLGA, "hash of another call"), OLGA],
    ["the token of another browser", tokenOf("once", { ...OLGA, signIn: "b".repeat(64) }), OLGA],
    ["a token that reached another browser", tokenOf("once"), { ...OLGA, signIn: "b".repeat(64) }],
    ["a token that reached another person", tokenOf("once"), { ...OLGA, principal: "key:user:1" as Principal }],
    ["no token", "", OLGA],
  ])("with %s counts for nothing", async (_what, token, by) => {
    await using w = await world();
    await w.real.store.approvals.put(question("ask"));
    expect(await w.browsers.decide({ approval: "ask", decision: "once", token }, by)).toBe("not_allowed");
    expect([w.decided, await w.real.store.approvals.openHash("ask")]).toEqual([[], "hash-ask"]);
  });

  test("about an approval that has ended, or never was, counts for nothing", async () => {
    await using w = await world();
    const asked = { approval: "ask", decision: "deny", token: tokenOf("deny") } as const;
    expect(await w.browsers.decide(asked, OLGA)).toBe("unknown");
    await w.real.store.approvals.put(question("ask"));
    await w.real.store.approvals.end("ask", { decision: "expired", by: null, at: 1 });
    expect([await w.browsers.decide(asked, OLGA), w.decided]).toEqual(["unknown", []]);
  });
});
