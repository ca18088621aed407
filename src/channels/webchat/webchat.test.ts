/** The web console's channel, field by field and action by action: what it does not pass on is lost without a word. */
import { describe, expect, test } from "bun:test";
import type { OutboundMessage } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { AgentId, MediaId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { toInbound } from "./inbound.ts";
import { toTranscriptItem } from "./outbound.ts";
import { createWebChat, type WebChat } from "./plugin.ts";

const file = { mediaId: "m1" as MediaId, name: "a.png", mimeType: "image/png", bytes: 1 };

describe("a message of the web console", () => {
  const input = {
    chat: "7",
    eventId: "e1",
    fingerprint: "f1",
    text: "/status",
    attachments: [file],
    receivedAt: 5,
    principal: "operator" as Principal,
    agentId: "helper" as AgentId,
  };

  test.each(["webchat", "api"] as const)("is handed on whole under the name of its channel: %s", (channel) => {
    expect(toInbound(channel, input)).toEqual({
      eventId: "e1",
      fingerprint: "f1",
      text: "/status",
      quoted: [],
      attachments: [file],
      receivedAt: 5,
      address: { channel, account: "default", chat: "7" },
      scope: "dm",
      mentioned: true,
      agentId: "helper" as AgentId,
      sender: { principal: "operator" as Principal, name: "You" },
    });
  });

  test("holds what it answers, then the results of the program's tools, and which program it is", () => {
    const quoted = (text: string) => ({ how: "reply", author: { id: null, name: "" }, text }) as const;
    const client = { tools: [] } as never;
    const said = toInbound("api", { ...input, answered: quoted("a"), results: [quoted("b"), quoted("c")], client });
    expect([said.quoted.map(({ text }) => text), said.client === client]).toEqual([["a", "b", "c"], true]);
    expect(Object.keys(toInbound("api", input))).not.toContain("client");
  });

  test("that is to steer the running answer says so, and no other does", () => {
    expect([toInbound("webchat", { ...input, steer: true }).steer, toInbound("webchat", input).steer]).toEqual([
      true,
      undefined,
    ]);
  });
});

describe("a stored part", () => {
  const row = (message: Partial<OutboundMessage> = {}, more: Partial<OutboxRow> = {}): OutboxRow => ({
    id: "t1:0",
    turnId: "t1" as TurnId,
    sessionKey: "agent:default:webchat:dm:1" as SessionKey,
    part: 0,
    to: { channel: "webchat", account: "default", chat: "1" },
    createdAt: 9,
    outcome: "failed",
    message: { kind: "reply", text: "hello", ...message },
    ...more,
  });
  const plain = { id: "t1:0", role: "assistant", kind: "reply", text: "hello", at: 9, turnId: "t1" };

  test.each<[string, OutboxRow, object]>([
    ["a reply", row(), {}],
    ["a notice, with how its turn ended", row({ kind: "notice" }), { kind: "notice", outcome: "failed" }],
    ["a reply with a file", row({ attachments: [file] }), { attachments: [file] }],
    ["a reply to a message", row({ replyTo: "t0:0" }), { replyTo: "t0:0" }],
    ["what a tool said in the middle", row({}, { part: -2 }), { extra: true }],
    ["a changed one", row({}, { editedAt: 12 }), { editedAt: 12 }],
    ["a deleted one", row({}, { deleted: true }), { deleted: true }],
    ["one with a reaction", row({}, { reaction: "👍" }), { reaction: "👍" }],
    ["one with reactions of the assistant", row({}, { ownReactions: ["👀"] }), { ownReactions: ["👀"] }],
    ["one that is pinned", row({}, { pinned: true }), { pinned: true }],
    ["one in a format of its own", row({ format: "plain" }), { format: "plain" }],
  ])("is shown as %s", (_what, part, more) => {
    expect(toTranscriptItem(part) as object).toStrictEqual({ ...plain, ...more });
  });
});

describe("the channel of the web console", () => {
  const target = { to: { channel: "webchat", account: "default", chat: "7" }, sessionKey: "s" as SessionKey };
  const row = {
    id: "t1:0",
    turnId: "t1",
    sessionKey: "s",
    part: 0,
    message: { kind: "reply", text: "words" },
    createdAt: 3,
  } as unknown as OutboxRow;

  /** `there`: whether the message is. */
  function world(there = true) {
    const steps: unknown[][] = [];
    const emit = (event: string, said: object) => void steps.push([event, said]);
    const outbox = {
      rewrite: async (...given: unknown[]) => (steps.push(["rewrite", ...given]), there ? row : null),
      react: async (...given: unknown[]) => (steps.push(["react", ...given]), there ? row : null),
    };
    const messages = {
      find: async () => (there ? { id: "t1:0", reactions: ["❤", "👍"] } : null),
      mark: async (...given: unknown[]) => (steps.push(["mark", ...given]), { id: "t1:0" }),
    };
    const deps = { clock: { now: () => 9 }, events: { emit }, store: { outbox, messages } };
    return { steps, channel: createWebChat(deps as never, "webchat") };
  }
  const NEVER = new AbortController().signal;
  const message = { ...target, messageId: "t1:0" };
  const shown = ["message", { sessionKey: "s", item: { id: "t1:0" } }];
  type Act = (channel: WebChat) => Promise<unknown>;

  test.each<[string, Act, readonly unknown[]]>([
    ["an edit", (channel) => channel.edit?.(message, "new", NEVER) as never, ["rewrite", "s", "t1:0", "new", 9]],
    ["a deletion", (channel) => channel.delete?.(message, NEVER) as never, ["rewrite", "s", "t1:0", null, 9]],
    [
      "a reaction",
      (channel) => channel.react?.(message, { emoji: ["👍", "🎉"], remove: false }, NEVER) as never,
      ["mark", "t1:0", { reactions: ["❤", "👍", "🎉"] }, 9],
    ],
    [
      "the end of a reaction",
      (channel) => channel.react?.(message, { emoji: ["👍"], remove: true }, NEVER) as never,
      ["mark", "t1:0", { reactions: ["❤"] }, 9],
    ],
    ["a pin", (channel) => channel.pin?.(message, false, NEVER) as never, ["mark", "t1:0", { pinned: true }, 9]],
    [
      "the end of a pin",
      (channel) => channel.pin?.(message, true, NEVER) as never,
      ["mark", "t1:0", { pinned: false }, 9],
    ],
  ])("stores %s and shows it, and refuses it where there is no such message", async (_what, act, stored) => {
    const at = world();
    expect(await act(at.channel)).toEqual({ kind: "done" });
    expect(at.steps).toMatchObject([[...stored], shown]);
    const nowhere = world(false);
    expect(await act(nowhere.channel)).toMatchObject({ kind: "refused" });
    expect(nowhere.steps.filter(([what]) => what === "message")).toEqual([]);
  });

  test.each([
    ["👍", ["👍"]],
    [null, []],
  ])("stores %p as the reaction of a person, and shows it", async (emoji, kept) => {
    const at = world();
    expect(await at.channel.takeReaction("t1:0", emoji, "operator" as Principal)).toBe(true);
    const change = { by: { principal: "operator", name: "You" }, how: "set", emoji: kept };
    expect(at.steps).toMatchObject([
      ["react", "t1:0", change, 9],
      ["message", { sessionKey: "s", item: { id: "t1:0", reaction: "" } }],
    ]);
    const nowhere = world(false);
    expect(await nowhere.channel.takeReaction("t1:0", emoji, "operator" as Principal)).toBe(false);
    expect(nowhere.steps.filter(([what]) => what === "message")).toEqual([]);
  });

  test("names messages by the gateway's own ids, and can refuse", () => {
    const { ownIds, canRefuse, repeat } = world().channel;
    expect([ownIds, canRefuse, repeat]).toEqual([true, true, "safe"]);
  });
});
