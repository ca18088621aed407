/** Which messages become one turn, and with whose rights: pieces of work beside each other, as tables. */
import { describe, expect, test } from "bun:test";
import type { InboxId, Role, TurnId } from "../contracts/ids.ts";
import {
  chatOf,
  isSuspect,
  joins,
  lesserRole,
  mergeOverflow,
  OVERFLOW_CHARS,
  overflowJoins,
  shortened,
  sizeOf,
  type Work,
} from "./work.ts";

const address = { channel: "telegram", account: "default", chat: "1" };
const message = (more: object = {}) => ({
  address,
  sender: { principal: "p" },
  text: "hi",
  quoted: [],
  attachments: [],
  ...more,
});
const work = (more: object = {}, said: object = {}): Work =>
  ({
    agentId: "a",
    role: "member",
    priority: 1,
    turnId: null,
    entries: [{ id: "in_1", message: message(said) }],
    ...more,
  }) as unknown as Work;
const T = "t1" as TurnId;

test.each([
  ["of the same person in the same chat", work(), work(), true],
  ["of another person", work(), work({}, { sender: { principal: "q" } }), false],
  ["of another chat", work(), work({}, { address: { ...address, chat: "2" } }), false],
  ["of another topic", work(), work({}, { address: { ...address, thread: "2" } }), false],
  ["of another account", work(), work({}, { address: { ...address, account: "x" } }), false],
  ["for another agent", work(), work({ agentId: "b" }), false],
  ["with another role", work(), work({ role: "owner" }), false],
  ["of a job", work(), work({}, { origin: "cron" }), false],
  ["of two jobs", work({}, { origin: "cron" }), work({}, { origin: "cron" }), true],
  ["that began before", work(), work({ turnId: T }), false],
  ["after one that began before", work({ turnId: T }), work(), true],
  ["that are commands", work(), work({ alone: true }), false],
] as const)("messages %s are joined: %p", (...[, head, next, joined]) => {
  expect(joins(head, next)).toBe(joined);
});

describe("overflow", () => {
  const over = (more: object = {}, said: object = {}): Work =>
    work({ overflow: { hidden: 2, through: "in_9" }, ...more }, said);
  test.each([
    ["goes along in its chat", work(), over(), true],
    ["goes along with whoever has less rights", work({ role: "guest" }), over(), true],
    ["does not go along with whoever has more", work({ role: "owner" }), over(), false],
    ["does not go along in another chat", work(), over({}, { address: { ...address, chat: "2" } }), false],
    ["does not go along to another agent", work(), over({ agentId: "b" }), false],
    ["does not go along when its turn began", work(), over({ turnId: T }), false],
    ["is nothing else", work(), work(), false],
  ] as const)("%s", (...[, head, overflow, joined]) => {
    expect(overflowJoins(head, overflow)).toBe(joined);
  });

  test("is one turn with the least of all rights, the highest priority and the latest end", () => {
    const one = over({ role: "owner", priority: 1, expiresAt: 10 });
    const more = over({ role: "guest", priority: 5, expiresAt: 20, overflow: { hidden: 3, through: "in_20" } });
    const merged = mergeOverflow(one, more);
    expect(merged).toMatchObject({
      role: "guest",
      priority: 5,
      expiresAt: 20,
      overflow: { hidden: 5, through: "in_20" },
    });
    expect(merged?.entries.length).toBe(2);
    expect(mergeOverflow(more, one)).toMatchObject({ expiresAt: 20, priority: 5 });
    expect(mergeOverflow(over({ expiresAt: 10 }), over())).toMatchObject({ expiresAt: Infinity });
  });

  test.each([
    ["another agent", over(), over({ agentId: "b" })],
    ["another chat", over(), over({}, { address: { ...address, thread: "2" } })],
    ["what is no overflow", over(), work()],
    ["what is no overflow, the other way", work(), over()],
    ["a turn that began", over({ turnId: T }), over()],
  ] as const)("is not one turn with %s", (_what, one, more) => {
    expect(mergeOverflow(one, more)).toBeNull();
  });

  test("keeps its beginning, without files, and a command keeps nothing", () => {
    const long = `${"👍".repeat(OVERFLOW_CHARS)}more`;
    const said = { ...message({ text: long, attachments: [{}, {}] }), quoted: [{ how: "reply", text: long }] } as never;
    const kept = shortened(said, false);
    expect([kept.message.text, kept.message.attachments, kept.message.quoted[0]?.text]).toEqual([
      "👍".repeat(OVERFLOW_CHARS),
      [],
      "👍".repeat(OVERFLOW_CHARS),
    ]);
    expect(kept.overflow).toEqual({ cutChars: 4, attachments: 2, isCommand: false });
    expect(shortened(said, true)).toMatchObject({
      message: { text: "" },
      overflow: { cutChars: long.length, isCommand: true },
    });
  });

  test("is counted apart", () => {
    const entries = [{ id: "in_1" as InboxId }, { id: "in_2", overflow: {} }];
    expect(sizeOf({ ...over(), entries: entries as never })).toEqual({ messages: 1, overflow: 3 });
    expect(sizeOf(work())).toEqual({ messages: 1, overflow: 0 });
  });
});

test("a turn that was at work in two crashes is a suspect, and no message is before it began", () => {
  expect([0, 1, 2, 3].map((crashes) => isSuspect(work({ turnId: T, crashes })))).toEqual([false, false, true, true]);
  expect([isSuspect(work({ crashes: 5 })), isSuspect(work({ turnId: T }))]).toEqual([false, false]);
});

test("the lesser of two roles is told in any order, and a chat is told from its neighbours", () => {
  const roles: readonly Role[] = ["guest", "member", "owner"];
  for (const [at, one] of roles.entries())
    for (const [other, role] of roles.entries()) expect(lesserRole(one, role)).toBe(roles[Math.min(at, other)] ?? one);
  const chats = [{}, { chat: "2" }, { account: "x" }, { channel: "discord" }, { thread: "1" }].map((more) =>
    chatOf(work({}, { address: { ...address, ...more } })),
  );
  expect(new Set(chats).size).toBe(5);
  expect(chatOf(work({ entries: [] }))).toBe("");
});
