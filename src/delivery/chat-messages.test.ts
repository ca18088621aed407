/** Actions on messages: who may do what to which message, what the platform is asked for, and what is noted when it did it. */
import { describe, expect, test } from "bun:test";
import type { ActionResult, Channel, MessageTarget } from "../contracts/channel.ts";
import type { MessageAction } from "../contracts/channels/chat-messages.ts";
import type { ChatAddress, TranscriptItem } from "../contracts/chat.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { StoredMessage } from "../contracts/store/messages.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createChatMessages } from "./chat-messages.ts";

const NEVER = new AbortController().signal;
const TO: ChatAddress = { channel: "app", account: "bot", chat: "77" };
const SESSION = "agent:default:app:dm:77" as SessionKey;
const PLACE = { to: TO, sessionKey: SESSION };
const OURS: StoredMessage = {
  id: "t1:0",
  to: TO,
  ours: true,
  platformIds: ["501"],
  pending: false,
  files: 0,
  reactions: [],
};
const EDIT: MessageAction = { kind: "edit", text: "better" };
const DELETE: MessageAction = { kind: "delete" };
const PIN: MessageAction = { kind: "pin", unpin: false };
const REACT: MessageAction = { kind: "react", emoji: ["👍"], remove: false };

/** One stored message on a channel that notes what it is asked for. Every step goes into one list, so that its order can be seen. */
function world(found: StoredMessage | null, about: Partial<Channel> = {}) {
  const clock = createFakeClock();
  const steps: unknown[] = [];
  const items: TranscriptItem[] = [];
  const state = { found, result: { kind: "done" } as ActionResult, results: [] as ActionResult[], item: true };
  const ask = async (what: string, { messageId }: MessageTarget, ...more: unknown[]): Promise<ActionResult> => {
    steps.push([what, messageId, ...more]);
    return state.results.shift() ?? state.result;
  };
  const channel: Channel = {
    id: "app",
    repeat: "risky",
    canRefuse: true,
    ready: () => true,
    health: () => ({ ok: true, detail: "" }),
    send: async () => ({}),
    react: (target, { emoji, remove }) => ask("react", target, emoji.join(""), remove),
    edit: (target, text) => ask("edit", target, text),
    delete: (target) => ask("delete", target),
    pin: (target, unpin) => ask(unpin ? "unpin" : "pin", target),
    ...about,
  };
  const item = (id: string): TranscriptItem => ({ id, role: "assistant", text: "as it is now", at: 1, turnId: null });
  const messages = createChatMessages({
    clock,
    events: {
      emit(_name, data) {
        if (!("item" in data)) return;
        items.push(data.item);
        steps.push(["shown", data.item.id, data.item.deleted ? "deleted" : data.item.text]);
      },
    },
    messages: {
      find: async () => state.found,
      platformIds: async () => [],
      traffic: async () => ({ lastReceived: null, lastSent: null }),
      idOf: async () => null,
      async mark(id, marks) {
        await new Promise((resolve) => setImmediate(resolve)); // a disk takes its time
        steps.push(["marked", id, marks]);
        return null;
      },
      item: async (id) => (state.item ? item(id) : null),
      history: async () => null,
    },
    posts: {
      async rewrite(sessionKey, id, text) {
        await new Promise((resolve) => setImmediate(resolve)); // a disk takes its time
        steps.push(["rewritten", sessionKey, id, text]);
        return { id, createdAt: 5, turnId: "t1" as TurnId } as OutboxRow;
      },
    },
    channel: (id) => (id === "app" ? channel : undefined),
  });
  const act = (action: MessageAction, signal = NEVER) => {
    const acting = messages.act({ ...PLACE, messageId: found?.id ?? "none" }, action, signal);
    return waitForEnd("the end of the action", acting, { withinMs: 2_000 });
  };
  return { clock, steps, items, state, messages, act };
}

const refusal = (words: string) => ({ kind: "refused", because: expect.stringContaining(words) }) as const;

describe("an action on a message is done on the platform first, then noted, then shown:", () => {
  test.each<[string, MessageAction, readonly unknown[]]>([
    [
      "an edit",
      EDIT,
      [
        ["edit", "501", "better"],
        ["rewritten", SESSION, "t1:0", "better"],
        ["shown", "t1:0", "as it is now"],
      ],
    ],
    [
      "a deletion",
      DELETE,
      [
        ["delete", "501"],
        ["rewritten", SESSION, "t1:0", null],
        ["shown", "t1:0", "deleted"],
      ],
    ],
    [
      "a pin",
      PIN,
      [
        ["pin", "501"],
        ["marked", "t1:0", { pinned: true }],
        ["shown", "t1:0", "as it is now"],
      ],
    ],
    [
      "the end of a pin",
      { kind: "pin", unpin: true },
      [
        ["unpin", "501"],
        ["marked", "t1:0", { pinned: false }],
        ["shown", "t1:0", "as it is now"],
      ],
    ],
    [
      "a reaction",
      REACT,
      [
        ["react", "501", "👍", false],
        ["marked", "t1:0", { reactions: ["👍"] }],
        ["shown", "t1:0", "as it is now"],
      ],
    ],
  ])("%s", async (_name, action, steps) => {
    const here = world(OURS);
    expect(await here.act(action)).toEqual({ kind: "done" });
    expect(here.steps).toEqual([...steps]);
  });
});

describe("an action is refused, and the platform is not asked,", () => {
  const other = (change: Partial<ChatAddress>): StoredMessage => ({ ...OURS, to: { ...TO, ...change } });
  test.each<[string, StoredMessage | null, MessageAction, string]>([
    ["without such a message", null, PIN, "no message with that id"],
    ["in another chat", other({ chat: "78" }), PIN, "no message with that id"],
    ["of another account in a chat of the same number", other({ account: "second" }), PIN, "no message with that id"],
    ["of another channel", other({ channel: "web" }), PIN, "no message with that id"],
    ["that edits a person's words", { ...OURS, ours: false }, EDIT, "Only your own"],
    ["that deletes a person's words", { ...OURS, ours: false }, DELETE, "Only your own"],
    ["without an id on the platform", { ...OURS, platformIds: [] }, PIN, "no id for that message"],
    ["that edits what is shown as several messages", { ...OURS, platformIds: ["1", "2"] }, EDIT, "several messages"],
  ])("%s", async (_name, found, action, words) => {
    const here = world(found);
    expect(await here.act(action)).toEqual(refusal(words));
    expect(here.steps).toEqual([]);
  });

  test.each(["react", "edit", "delete", "pin"] as const)("on a channel that cannot %s", async (kind) => {
    const here = world(OURS, { [kind]: undefined });
    const action = [REACT, EDIT, DELETE, PIN].find((one) => one.kind === kind) ?? PIN;
    expect(await here.act(action)).toEqual(refusal("The channel app cannot do that."));
    expect(here.steps).toEqual([]);
  });
});

test("a person's message can be reacted to and pinned", async () => {
  for (const action of [REACT, PIN]) expect((await world({ ...OURS, ours: false }).act(action)).kind).toBe("done");
});

test("a text with a file can be edited, because it is one message besides the file", async () => {
  expect((await world({ ...OURS, platformIds: ["1", "2"], files: 1 }).act(EDIT)).kind).toBe("done");
});

test("nothing is noted or shown when the platform refuses", async () => {
  const here = world(OURS);
  here.state.result = { kind: "refused", because: "too old" };
  expect(await here.act(PIN)).toEqual({ kind: "refused", because: "too old" });
  expect(here.steps).toEqual([["pin", "501"]]);
});

test("a message that has no place in the transcript any more is shown to nobody", async () => {
  const here = world(OURS);
  here.state.item = false;
  expect((await here.act(PIN)).kind).toBe("done");
  expect(here.steps.map((step) => (step as string[])[0])).toEqual(["pin", "marked"]);
});

test("a deleted message keeps its place in the transcript: it is shown without text at the time it was said", async () => {
  const here = world(OURS);
  await here.act(DELETE);
  const gone = { id: "t1:0", role: "assistant", text: "", at: 5, turnId: "t1" as TurnId, deleted: true } as const;
  expect(here.items).toEqual([gone]);
});

test("all messages of a long reply are deleted; one that the platform has no more does not make it a failure", async () => {
  const here = world({ ...OURS, platformIds: ["1", "2", "3"] });
  here.state.results = [{ kind: "refused", because: "gone" }, { kind: "done" }];
  expect(await here.act(DELETE)).toEqual({ kind: "done" });
  expect(here.steps.slice(0, 3)).toEqual([
    ["delete", "1"],
    ["delete", "2"],
    ["delete", "3"],
  ]);
  const lastGone = world({ ...OURS, platformIds: ["1", "2"] });
  lastGone.state.results = [{ kind: "done" }, { kind: "refused", because: "gone" }];
  expect(await lastGone.act(DELETE)).toEqual({ kind: "done" });
  const none = world({ ...OURS, platformIds: ["1", "2"] });
  none.state.result = { kind: "refused", because: "too old" };
  expect(await none.act(DELETE)).toEqual({ kind: "refused", because: "too old" });
});

describe("reactions that are noted", () => {
  test.each<[string, readonly string[], Extract<MessageAction, { kind: "react" }>, readonly string[]]>([
    [
      "are added to those of before, each once",
      ["❤", "👍"],
      { kind: "react", emoji: ["👍", "🎉"], remove: false },
      ["❤", "👍", "🎉"],
    ],
    [
      "are taken away by a removal, and no others",
      ["👍", "🎉"],
      { kind: "react", emoji: ["👍"], remove: true },
      ["🎉"],
    ],
  ])("%s", async (_name, reactions, action, noted) => {
    const here = world({ ...OURS, reactions });
    await here.act(action);
    expect(here.steps.slice(0, 2)).toEqual([
      ["react", "501", action.emoji.join(""), action.remove],
      ["marked", "t1:0", { reactions: noted }],
    ]);
  });

  test("are those the platform shows, where it says so", async () => {
    const here = world(OURS);
    here.state.result = { kind: "done", reactions: ["❤"] };
    await here.act(REACT);
    expect(here.steps[1]).toEqual(["marked", "t1:0", { reactions: ["❤"] }]);
  });
});

describe("a message that waits for its delivery", () => {
  const waiting: StoredMessage = { ...OURS, pending: true, platformIds: [] };

  test("is waited for, and acted on when it has arrived", async () => {
    const here = world(waiting);
    await here.clock.advance(3_600_000); // the gateway runs for a while
    const result = here.act(PIN);
    await here.clock.advance(9_000);
    expect(here.steps).toEqual([]);
    here.state.found = OURS;
    await here.clock.advance(50);
    expect((await result).kind).toBe("done");
    expect(here.clock.pending()).toBe(0);
  });

  test("for more than ten seconds is refused for now", async () => {
    const here = world(waiting);
    const result = here.act(PIN);
    await here.clock.advance(9_950);
    expect(here.clock.pending()).toBe(1);
    await here.clock.advance(50);
    expect(await result).toEqual(refusal("not been delivered yet"));
    expect([here.steps, here.clock.pending()]).toEqual([[], 0]);
  });

  test("is not waited for any longer when the call is cancelled", async () => {
    const here = world(waiting);
    const stop = new AbortController();
    const result = here.act(PIN, stop.signal);
    await here.clock.advance(100);
    stop.abort(new Error("cancelled"));
    await expect(result).rejects.toThrow("cancelled");
    expect(here.clock.pending()).toBe(0);
  });
});

test("the gateway's own channel is asked by own ids and at once, and notes its work itself", async () => {
  const here = world({ ...OURS, pending: true, platformIds: [] }, { ownIds: true });
  expect((await here.act(PIN)).kind).toBe("done");
  expect(here.steps).toEqual([["pin", "t1:0"]]);
});

test("a message is found by its own id in its own chat alone", async () => {
  const here = world(OURS);
  expect(await here.messages.find(PLACE, "501")).toBe("t1:0");
  for (const change of [{ chat: "78" }, { account: "second" }, { channel: "web" }])
    expect(await here.messages.find({ ...PLACE, to: { ...TO, ...change } }, "501")).toBeNull();
  here.state.found = null;
  expect(await here.messages.find(PLACE, "501")).toBeNull();
});

test.each<[string, MessageAction]>([
  ["react", REACT],
  ["edit", EDIT],
  ["delete", DELETE],
  ["pin", PIN],
])("the platform is told when the call that asks for %s is cancelled", async (kind, action) => {
  const seen: AbortSignal[] = [];
  const noting = async (...args: unknown[]): Promise<ActionResult> => {
    const last = args.at(-1);
    if (last instanceof AbortSignal) seen.push(last);
    return { kind: "done" };
  };
  const stop = new AbortController();
  await world(OURS, { [kind]: noting }).act(action, stop.signal);
  expect(seen[0]?.aborted).toBe(false);
  stop.abort();
  expect(seen[0]?.aborted).toBe(true);
});
