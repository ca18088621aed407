import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../contracts/agent.ts";
import type { InboxId } from "../../contracts/ids.ts";
import { inbound } from "../../testing/messages.ts";
import { hasNothingToSay, withoutAck } from "./quiet-turns.ts";

const done = (text: string): Extract<AgentEvent, { type: "done" }> => ({
  type: "done",
  text,
  usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
  model: "m",
});

describe("the reply of a heartbeat", () => {
  test.each([
    ["HEARTBEAT_OK", "nothing"],
    ["  **HEARTBEAT_OK**. ", "nothing"],
    ["HEARTBEAT_OK\nAll is well.", "nothing"],
    ["All is well. HEARTBEAT_OK", "nothing"],
    [`HEARTBEAT_OK ${"x".repeat(300)}`, "nothing"],
    [`HEARTBEAT_OK ${"x".repeat(301)}`, "x".repeat(301)],
    [`${"x".repeat(301)} HEARTBEAT_OK`, "x".repeat(301)],
    ["I would say HEARTBEAT_OK, but the stove is on.", "I would say HEARTBEAT_OK, but the stove is on."],
    ["The stove is on.", "The stove is on."],
  ])("%p is shown as %p", (text, expected) => {
    const heard = withoutAck(done(text), 300);
    expect(heard === "nothing" ? heard : heard.text).toBe(expected);
  });
});

describe("a turn that begins by itself", () => {
  const entry = (more: object) => ({ entries: [{ id: "in1" as InboxId, message: inbound("wake", more) }] });
  const event = { id: "e", sessionKey: "s", source: "x", kind: "news", text: "t", createdAt: 0, expiresAt: 1 } as never;
  test("asks no model when what it was for has been told", () => {
    expect(hasNothingToSay(entry({ origin: "cron" }), { events: [], hidden: 0 })).toBe(true);
    expect(hasNothingToSay(entry({ origin: "webhook" }), { events: [], hidden: 0 })).toBe(true);
    const hook = { channel: "hook", account: "default", chat: "x", thread: "direct:build" };
    expect(hasNothingToSay(entry({ origin: "webhook", address: hook }), { events: [], hidden: 0 })).toBe(false);
  });
  test("asks one when there is something to tell, or a task of its own, or somebody spoke", () => {
    expect(hasNothingToSay(entry({ origin: "cron" }), { events: [event], hidden: 0 })).toBe(false);
    expect(hasNothingToSay(entry({ origin: "cron" }), { events: [], hidden: 2 })).toBe(false);
    const address = { channel: "cron", account: "default", chat: "x", thread: "direct:tea" };
    expect(hasNothingToSay(entry({ origin: "cron", address }), { events: [], hidden: 0 })).toBe(false);
    expect(hasNothingToSay(entry({}), { events: [], hidden: 0 })).toBe(false);
  });
});
