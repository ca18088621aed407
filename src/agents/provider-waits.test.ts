/** How long a provider asks to wait, and what becomes of the turn meanwhile, with real pi and a fake provider. */
import { afterAll, expect, test } from "bun:test";
import { replyOf } from "../testing/agent-fixture.ts";
import { createAgentStage } from "../testing/agent-stage.ts";
import { type FakeReply, inOrder, says } from "../testing/fake-provider.ts";
import type { AgentEvent } from "../contracts/agent.ts";

const LIMIT_MS = 40_000;
const PROVIDER_WAIT_MS = 10_000;

const agents = createAgentStage({ pool: { max: 1 }, providerWaitMs: PROVIDER_WAIT_MS });
afterAll(() => agents[Symbol.asyncDispose]());

function busy(headers: Readonly<Record<string, string>>): FakeReply {
  return { kind: "status", status: 429, message: "Slow down, please", headers };
}

const waitsIn = (events: readonly AgentEvent[]) => events.filter((event) => event.type === "waiting");

test(
  "a provider that asks to wait is asked again when that time is over, and not before",
  async () => {
    const asked: number[] = [];
    const replies = inOrder(busy({ "retry-after": "3" }), says("now it works"));
    const { fx, requests } = await agents.scene((request, index) => {
      asked.push(performance.now());
      return replies(request, index);
    });
    const events = await fx.turn("hello");
    expect(replyOf(events)).toBe("now it works");
    expect(requests.length).toBe(2);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(2_900); // without the header pi waits one second
    expect(waitsIn(events)).toMatchObject([{ type: "waiting", waitMs: expect.any(Number), model: "fake/fake-1" }]);
  },
  LIMIT_MS,
);

test(
  "a provider that names a date to wait for is asked again then",
  async () => {
    const now = Date.parse("2030-01-01T00:00:00Z");
    const date = { date: new Date(now).toUTCString(), "retry-after": new Date(now + 2_000).toUTCString() };
    const { fx } = await agents.scene(inOrder(busy(date), says("now it works")));
    const events = await fx.turn("hello");
    expect(replyOf(events)).toBe("now it works");
    expect(waitsIn(events).length).toBe(1);
  },
  LIMIT_MS,
);

test(
  "a provider that asks to wait longer than the limit is given up at once, and the end says when to try again",
  async () => {
    const { fx, requests } = await agents.scene(() => busy({ "retry-after": "99999999999999" }));
    const before = Date.now();
    const events = await fx.turn("hello");
    expect(requests.length).toBe(1);
    expect(waitsIn(events)).toEqual([]);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "failed", code: "provider_limited", again: false });
    const tryAt = last?.type === "failed" ? (last.tryAt ?? 0) : 0;
    expect(tryAt).toBeGreaterThan(before + PROVIDER_WAIT_MS);
    expect(Number.isFinite(new Date(tryAt).getTime())).toBe(true);
  },
  LIMIT_MS,
);

test(
  "a turn that waits for its provider can be stopped, and the next one keeps the rest of the wait",
  async () => {
    const { fx, requests } = await agents.scene(inOrder(busy({ "retry-after": "6" }), says("after the stop")));
    const stop = new AbortController();
    const seen: AgentEvent[] = [];
    const began = performance.now();
    {
      await using lease = await fx.lease();
      for await (const event of lease.prompt({ text: "hello", images: [] }, stop.signal)) {
        seen.push(event);
        if (event.type === "waiting") stop.abort(new Error("stopped"));
      }
    }
    expect(seen.at(-1)).toMatchObject({ type: "aborted" });
    expect([requests.length, performance.now() - began < 5_000]).toEqual([1, true]);
    const next = await fx.turn("hello again");
    expect(replyOf(next)).toBe("after the stop");
    expect(waitsIn(next)).toMatchObject([{ type: "waiting" }]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(5_900);
  },
  LIMIT_MS,
);

test.each(["soon", "-5", "0", "NaN", ""])(
  "a time to wait that says nothing (%p) is as if there were none",
  async (value) => {
    const { fx } = await agents.scene(inOrder(busy({ "retry-after": value }), says("fine")));
    const events = await fx.turn("hello");
    expect(replyOf(events)).toBe("fine");
    expect(waitsIn(events)).toEqual([]);
  },
  LIMIT_MS,
);

// last, because its process keeps the wait that is left for who comes next
test(
  "the last refusal of a provider that asks to wait every time says when to try again",
  async () => {
    const { fx, requests } = await agents.scene(() => busy({ "retry-after": "3" }));
    const events = await fx.turn("hello");
    expect(requests.length).toBe(3);
    expect(waitsIn(events).length).toBe(2);
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "provider_limited", tryAt: expect.any(Number) });
  },
  LIMIT_MS,
);
