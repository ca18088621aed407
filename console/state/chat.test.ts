import { describe, expect, test } from "bun:test";
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import type { SessionView, WireEvent } from "../../src/contracts/wire.ts";
import { addEarlier, applyEvent, arrange, beginRead, type Chat, emptyChat, openChat } from "./chat.ts";

const KEY = "agent:default:webchat:dm:1";

type Loose = Record<string, unknown>;

function event(name: string, seq: number, data: Loose): WireEvent {
  return { event: name, seq, data: { sessionKey: KEY, ...data } } as unknown as WireEvent;
}

function item(id: string, more: Loose = {}): TranscriptItem {
  return {
    id,
    role: "user",
    text: id,
    at: Number(id.replace(/\D/g, "")),
    turnId: "t1",
    ...more,
  } as unknown as TranscriptItem;
}

function view(items: readonly TranscriptItem[], more: Partial<SessionView> = {}): SessionView {
  return { session: null, items, live: null, seq: 10, mediaUrls: {}, turns: {}, ...more };
}

function ready(items: readonly TranscriptItem[] = [], more: Partial<SessionView> = {}): Chat {
  return openChat(beginRead(emptyChat(KEY)), view(items, more));
}

function play(chat: Chat, ...events: readonly WireEvent[]): Chat {
  return events.reduce(applyEvent, chat);
}

const ids = (chat: Chat) => chat.items.map((one) => one.id);
const reply = (id: string, more: Loose = {}) => item(id, { role: "assistant", kind: "reply", ...more });
const started = (seq: number, more: Loose = {}) =>
  event("turn.started", seq, { turnId: "t1", inboxIds: ["in1"], ...more });
const delta = (seq: number, text: string) => event("turn.delta", seq, { turnId: "t1", text });
const ended = (seq: number) => event("turn.ended", seq, { turnId: "t1", inboxIds: ["in1"], outcome: "done" });

describe("thoughts", () => {
  const thought = (seq: number, text: string) => event("turn.thought", seq, { turnId: "t1", text });

  test("thoughts of the model are shown while it thinks, and its reply says that there is something to read", () => {
    const thinking = play(
      ready([item("m1")]),
      started(11),
      thought(12, "First "),
      thought(13, "this."),
      delta(14, "Hi"),
    );
    expect([thinking.live?.reasoning, thinking.live?.text]).toEqual(["First this.", "Hi"]);
    const done = play(thinking, ended(15), event("message", 16, { item: reply("m2") }));
    expect(done.items.map(({ id, reasoned }) => [id, reasoned])).toEqual([
      ["m1", undefined],
      ["m2", true],
    ]);
    expect(play(ready(), started(11), delta(12, "Hi"), event("message", 13, { item: reply("m2") })).items).toEqual([
      reply("m2"),
    ]);
  });
});

describe("messages", () => {
  test("a message that arrives twice is shown once", () => {
    const chat = play(ready(), event("message", 11, { item: item("m1") }), event("message", 12, { item: item("m1") }));
    expect(ids(chat)).toEqual(["m1"]);
  });

  test("a message from a tool joins the conversation while the answer goes on being written", () => {
    const chat = play(
      ready([item("m1")]),
      started(11),
      delta(12, "Wait"),
      event("message", 13, { item: reply("m2", { extra: true }) }),
    );
    expect(ids(chat)).toEqual(["m1", "m2"]);
    expect(chat.live?.text).toBe("Wait");
  });

  test("a changed message takes the place of the old one, and one withdrawn is gone, also during an answer", () => {
    const before = play(ready([item("m1"), reply("m2")]), started(11), delta(12, "Wait"));
    const changed = play(before, event("message", 13, { item: reply("m2", { text: "better", editedAt: 9 }) }));
    expect(changed.items.map(({ text }) => text)).toEqual(["m1", "better"]);
    const gone = play(changed, event("message", 14, { item: reply("m2", { text: "", editedAt: 10, deleted: true }) }));
    expect([ids(gone), gone.live?.text]).toEqual([["m1"], "Wait"]);
  });

  test("a message that was sent again goes with everything of its turn", () => {
    const tool = item("c2", { role: "tool" });
    const chat = ready([item("m1", { turnId: "t0" }), item("m2"), tool, reply("m3")]);
    expect(ids(play(chat, event("message", 11, { item: item("m2", { deleted: true }) })))).toEqual(["m1"]);
  });

  test("an event that is already part of the conversation changes nothing", () => {
    const chat = ready([item("m1")]);
    expect(play(chat, event("message", 10, { item: item("m2") }))).toBe(chat);
  });

  test("a message that arrives late takes its place by time", () => {
    const chat = play(ready([item("m1"), item("m3")]), event("message", 11, { item: item("m2") }));
    expect(ids(chat)).toEqual(["m1", "m2", "m3"]);
  });

  test("messages of the same moment stay in the order they came", () => {
    const first = event("message", 11, { item: item("b", { at: 5 }) });
    expect(ids(play(ready(), first, event("message", 12, { item: item("a", { at: 5 }) })))).toEqual(["b", "a"]);
  });

  test("events of other conversations change nothing", () => {
    const chat = ready([item("m1")]);
    expect(play(chat, event("message", 11, { sessionKey: "agent:default:api:dm:x", item: item("m2") }))).toBe(chat);
  });
});

describe("a turn", () => {
  test("begins by taking the messages it answers out of the queue", () => {
    const chat = play(ready([item("m1", { turnId: null, inboxId: "in1" })]), started(11));
    expect(chat.items[0]?.turnId as string).toBe("t1");
    expect(chat.live).toEqual({ turnId: "t1", text: "", reasoning: "", tools: [], waiting: null, ended: false });
  });

  test("takes messages that join it out of the queue and goes on with its text", () => {
    const joined = event("turn.joined", 13, { turnId: "t1", inboxIds: ["in2"] });
    const waiting = [item("m1", { inboxId: "in1", turnId: null }), item("m2", { inboxId: "in2", turnId: null })];
    const chat = play(ready(waiting), started(11), delta(12, "so far"), joined);
    expect([chat.items.map((one) => one.turnId as string | null), chat.live?.text]).toEqual([["t1", "t1"], "so far"]);
  });

  test("streams into the live text", () => {
    expect(play(ready(), started(11), delta(12, "Hel"), delta(13, "lo")).live?.text).toBe("Hello");
  });

  test("keeps its streamed words in the web console after it ended, until the reply takes their place in one step", () => {
    const streamed = play(ready(), started(11), delta(12, "Hello"), ended(13));
    expect(streamed.live).toEqual({
      turnId: "t1",
      text: "Hello",
      reasoning: "",
      tools: [],
      waiting: null,
      ended: true,
    });
    const done = play(streamed, event("message", 14, { item: reply("o1", { text: "Hello" }) }));
    expect({ live: done.live, ids: ids(done) }).toEqual({ live: null, ids: ["o1"] });
  });

  test("that is tried again starts with empty text", () => {
    expect(play(ready(), started(11), delta(12, "half"), started(13, { attempt: 2 })).live?.text).toBe("");
  });

  test("that waits for its provider says so until it goes on", () => {
    const waits = event("turn.waiting", 12, { turnId: "t1", until: 5, text: "acme asks to wait 40 s." });
    const chat = play(ready(), started(11), waits);
    expect(chat.live?.waiting).toBe("acme asks to wait 40 s.");
    expect(play(chat, delta(13, "Hello")).live?.waiting).toBeNull();
    expect(play(chat, started(13, { attempt: 2 })).live?.waiting).toBeNull();
  });

  test("that is stopped keeps the words it had said above the notice", () => {
    const stopped = play(ready(), started(11), delta(12, "Half a"), ended(13));
    const chat = play(stopped, event("message", 14, { item: reply("n1", { kind: "notice", text: "Stopped." }) }));
    expect(chat.items.map((one) => one.text)).toEqual(["Half a", "Stopped."]);
  });

  test("never shows the half reply beside the whole one", () => {
    const notice = event("message", 14, { item: reply("n1", { kind: "notice" }) });
    const whole = event("message", 15, { item: reply("o2", { text: "Half a story" }) });
    expect(ids(play(ready(), started(11), delta(12, "Half a"), ended(13), notice, whole))).toEqual(["n1", "o2"]);
  });
});

describe("a tool call", () => {
  const begin = event("turn.tool", 12, {
    turnId: "t1",
    callId: "c1",
    tool: "status",
    status: "running",
    input: { a: 1 },
  });
  const end = event("turn.tool", 13, {
    turnId: "t1",
    callId: "c1",
    tool: "status",
    status: "success",
    output: "ok",
    ms: 4,
  });

  test("is one card that changes from running to done and keeps its input", () => {
    expect(play(ready(), started(11), begin, end).live?.tools).toEqual([
      { callId: "c1", tool: "status", status: "success", input: { a: 1 }, output: "ok", ms: 4 },
    ]);
  });

  test("shows its progress while it runs, and none once it has ended", () => {
    const { callId, tool } = { callId: "c1", tool: "status" };
    const says = event("turn.tool", 12.5, { turnId: "t1", callId, tool, status: "running", progress: "half way" });
    const running = play(ready(), started(11), begin, says);
    expect(running.live?.tools).toEqual([{ callId, tool, status: "running", input: { a: 1 }, progress: "half way" }]);
    expect(play(running, end).live?.tools[0]).not.toHaveProperty("progress");
  });

  test("stays above the reply once the turn is over", () => {
    const chat = play(ready(), started(11), begin, end, ended(14), event("message", 15, { item: reply("o9") }));
    expect(chat.items.map(({ id, role, status }) => [id, role, status as string])).toEqual([
      ["c1", "tool", "success"],
      ["o9", "assistant", undefined as unknown as string],
    ]);
  });
});

describe("opening a conversation", () => {
  test("in the middle of a turn shows what was said so far and goes on from there", () => {
    const live = {
      turnId: "t1",
      inboxIds: [],
      startedAt: 0,
      text: "Once ",
      tools: [],
    } as unknown as SessionView["live"];
    expect(play(ready([], { live }), delta(10, "lost"), delta(11, "upon")).live?.text).toBe("Once upon");
  });

  test("in the middle of a turn shows each of its tool calls once", () => {
    const call = (callId: string, tool: string) => ({ callId, tool, status: "running" });
    const live = {
      turnId: "t1",
      text: "",
      tools: [call("c1", "status"), call("c2", "status")],
    } as unknown as SessionView["live"];
    const row = (id: string, tool: string) => item(id, { role: "tool", tool });
    const chat = ready([row("r1", "note"), row("r2", "status"), row("r3", "status")], { live });
    expect({ rows: ids(chat), cards: chat.live?.tools.length }).toEqual({ rows: ["r1"], cards: 2 });
  });

  test("applies events that overtook the answer, and only those it does not contain", () => {
    const waiting = play(
      beginRead(emptyChat(KEY)),
      event("message", 10, { item: item("m1") }),
      event("message", 11, { item: item("m2") }),
    );
    expect(ids(openChat(waiting, view([item("m1")])))).toEqual(["m1", "m2"]);
  });

  test("again after lost events keeps what happened meanwhile", () => {
    const rereading = play(beginRead(ready([item("m1")])), event("message", 12, { item: item("m3") }));
    expect(ids(rereading)).toEqual(["m1", "m3"]);
    expect(ids(openChat(rereading, view([item("m1"), item("m2")], { seq: 11 })))).toEqual(["m1", "m2", "m3"]);
  });

  test("again keeps earlier pages that still touch the newest one", () => {
    const two = addEarlier(ready([item("m3")], { next: "x" }), {
      items: [item("m1"), item("m2")],
      mediaUrls: {},
      turns: {},
    });
    expect(ids(openChat(beginRead(two), view([item("m3"), item("m4")], { next: "x" })))).toEqual([
      "m1",
      "m2",
      "m3",
      "m4",
    ]);
  });

  test("again drops earlier pages when there is a hole between", () => {
    const old = addEarlier(ready([item("m3")]), { items: [item("m1")], mediaUrls: {}, turns: {} });
    expect(ids(openChat(beginRead(old), view([item("m8")])))).toEqual(["m8"]);
  });
});

test("earlier messages are put in front, each once", () => {
  const chat = addEarlier(ready([item("m2"), item("m3")], { next: "x" }), {
    items: [item("m1"), item("m2")],
    mediaUrls: {},
    turns: {},
  });
  expect({ ids: ids(chat), next: chat.next }).toEqual({ ids: ["m1", "m2", "m3"], next: null });
});

describe("the order of reading", () => {
  test("a question asked during an answer stands below that answer", () => {
    const items = [item("m1"), item("m2", { turnId: "t2" }), reply("o3"), reply("o4", { turnId: "t2" })];
    expect(arrange(items).settled.map((one) => one.id)).toEqual(["m1", "o3", "m2", "o4"]);
  });

  test("messages that wait for their turn come last", () => {
    const { settled, queued } = arrange([item("m1"), item("m2", { turnId: null }), reply("o3")]);
    expect([settled.map((one) => one.id), queued.map((one) => one.id)]).toEqual([["m1", "o3"], ["m2"]]);
  });
});
