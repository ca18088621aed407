import { describe, expect, test } from "bun:test";
import {
  type HeartbeatFacts,
  decideHeartbeat,
  IDLE_LIMIT_MS,
  isActive,
  isEmptyChecklist,
  MAX_REFUSALS,
  minuteOfDay,
} from "./decide.ts";

const facts: HeartbeatFacts = {
  enabled: true,
  minuteOfDay: 600,
  activeHours: {},
  skipWhenBusy: true,
  busy: false,
  checklist: "- water the plants",
  events: 0,
  idleMs: 1_000,
  refusals: 0,
  unpaid: false,
};

describe("a heartbeat runs", () => {
  test.each<[string, Partial<HeartbeatFacts>, string]>([
    ["in a fresh session when there is a checklist", {}, "isolated"],
    ["also without a checklist", { checklist: null }, "isolated"],
    ["in the main session when something waits there", { events: 1 }, "main"],
    ["for what waits, even with an empty checklist", { events: 1, checklist: "# Heartbeat\n" }, "main"],
    ["while busy, when it was asked not to care", { busy: true, skipWhenBusy: false }, "isolated"],
    ["up to the limit of idleness", { idleMs: IDLE_LIMIT_MS }, "isolated"],
  ])("%s", (_name, more, where) => {
    expect(decideHeartbeat({ ...facts, ...more })).toEqual({ run: true, in: where as "main" });
  });

  test.each<[Partial<HeartbeatFacts>, string]>([
    [{ enabled: false }, "off"],
    [{ activeHours: { start: "11:00", end: "12:00" } }, "hours"],
    [{ refusals: MAX_REFUSALS }, "refused"],
    [{ idleMs: IDLE_LIMIT_MS + 1 }, "idle"],
    [{ idleMs: null }, "idle"],
    [{ idleMs: IDLE_LIMIT_MS + 1, events: 3 }, "idle"],
    [{ busy: true }, "busy"],
    [{ unpaid: true }, "budget"],
    [{ unpaid: true, events: 1 }, "budget"],
    [{ checklist: "" }, "empty"],
    [{ checklist: "# Tasks\n\n- [ ]\n<!-- nothing\nyet -->\n```\n```\n---\n" }, "empty"],
  ])("not with %j: %s", (more, because) => {
    expect(decideHeartbeat({ ...facts, ...more })).toEqual({ run: false, because: because as "off" });
  });
});

test.each([
  ["08:00", "22:00", "08:00", true],
  ["08:00", "22:00", "22:00", false],
  ["08:00", "22:00", "07:59", false],
  ["22:00", "06:00", "23:00", true],
  ["22:00", "06:00", "05:59", true],
  ["22:00", "06:00", "06:00", false],
  [undefined, "24:00", "23:59", true],
])("from %p to %p, %p is active: %p", (start, end, time, expected) => {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  expect(isActive(hours * 60 + minutes, { ...(start ? { start } : {}), ...(end ? { end } : {}) })).toBe(expected);
});

test("a checklist with one word in it is not empty", () => {
  expect(isEmptyChecklist("# Tasks\n- [ ] call")).toBe(false);
  expect(isEmptyChecklist("- [x]\n* \n+\n")).toBe(true);
});

test("the minute of the day is the owner's", () => {
  const noonUtc = Date.UTC(2026, 0, 15, 12, 30);
  expect(minuteOfDay(noonUtc, "UTC")).toBe(750);
  expect(minuteOfDay(noonUtc, "Asia/Kolkata")).toBe(18 * 60);
});
