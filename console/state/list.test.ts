import { expect, test } from "bun:test";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import type { WireEvent } from "../../src/contracts/wire.ts";
import { moreOf, renamed, touch, groupByDate } from "./list.ts";
import { firstPage } from "./paged.ts";

function session(key: string, lastActivityAt: number): SessionSummary {
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return {
    key,
    channel: "webchat",
    title: key,
    createdAt: 0,
    lastActivityAt,
    messages: 1,
    usage,
  } as unknown as SessionSummary;
}

function said(sessionKey: string, at: number): WireEvent {
  return { event: "message", seq: 1, data: { sessionKey, item: { at } } } as unknown as WireEvent;
}

const list = firstPage({ items: [session("a", 30), session("b", 20), session("c", 10)] });

test("a conversation in which something is said moves to the top", () => {
  expect(touch(list, said("c", 40))?.items.map((one) => one.key as string)).toEqual(["c", "a", "b"]);
});

test("a conversation that began with a command is called by the first real words, and keeps a name it has", () => {
  const say = (from: typeof list, role: string, text: string) => {
    const event = { event: "message", seq: 1, data: { sessionKey: "c", item: { at: 40, role, text } } };
    return touch(from, event as unknown as WireEvent) ?? from;
  };
  const titleOf = (of: typeof list) => of.items.find((one) => (one.key as string) === "c")?.title;
  const began = renamed(list, "c", "/status");
  expect(titleOf(say(say(began, "assistant", "all is well"), "user", "/help"))).toBe("/status");
  expect(titleOf(say(began, "user", " Plans for Friday "))).toBe("Plans for Friday");
  expect(titleOf(say(renamed(list, "c", "The plan"), "user", "other words"))).toBe("The plan");
});

test("a conversation the list does not know makes it be read again", () => {
  expect(touch(list, said("d", 40))).toBeNull();
});

test("another page of the list repeats nobody", () => {
  const more = moreOf(list, { items: [session("c", 10), session("d", 5)], next: "n" });
  expect([more.items.map((one) => one.key as string), more.next]).toEqual([["a", "b", "c", "d"], "n"]);
});

test("sessions are grouped by the days of the person, and empty groups are left out", () => {
  const now = new Date(2026, 10, 16, 9, 30).getTime();
  const at = (...date: [number, number, number, number]) => new Date(...date).getTime();
  const of = (key: string, lastActivityAt: number) => ({ key, lastActivityAt }) as unknown as SessionSummary;
  const groups = groupByDate(
    [
      of("a", at(2026, 10, 16, 0)),
      of("b", at(2026, 10, 15, 23)),
      of("c", at(2026, 10, 15, 1)),
      of("d", at(2026, 10, 10, 12)),
      of("e", at(2025, 1, 1, 1)),
    ],
    now,
  );
  expect(groups.map(({ name, items }) => [name, ...items.map(({ key }) => String(key))])).toEqual([
    ["Today", "a"],
    ["Yesterday", "b", "c"],
    ["Last 7 days", "d"],
    ["Older", "e"],
  ]);
});
