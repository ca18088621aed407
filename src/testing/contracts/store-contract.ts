/** What every store promises, whatever database is under it. Takes a way to open one (again) and knows nothing else about it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatAddress, InboundMessage, TranscriptItem } from "../../contracts/chat.ts";
import type { AgentId, InboxId, MediaId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { NewInboxRow, Store, TurnFinish } from "../../contracts/store.ts";

export interface StoreWorld extends AsyncDisposable {
  readonly store: Store;
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
}

export const AGENT = "default" as AgentId;
export const OPERATOR = "operator" as Principal;
export const HERE: ChatAddress = { channel: "webchat", account: "main", chat: "42" };

export function sessionKey(name: string): SessionKey {
  return `agent:default:webchat:dm:${name}` as SessionKey;
}

export function message(eventId: string, more: Partial<InboundMessage> = {}): InboundMessage {
  return {
    eventId,
    fingerprint: `print-${eventId}`,
    address: HERE,
    scope: "dm",
    sender: { principal: OPERATOR, name: "Olga" },
    text: `text of ${eventId}`,
    attachments: [],
    mentioned: false,
    receivedAt: 1_000,
    ...more,
  };
}

/** What agents accept as the name of a session file. */
const SESSION_FILE = /^[a-z0-9-]{8,80}\.jsonl$/;

export function row(id: string, session: string, more: Partial<InboundMessage> = {}): NewInboxRow {
  return {
    id: id as InboxId,
    sessionKey: sessionKey(session),
    agentId: AGENT,
    role: "owner",
    priority: 10,
    message: message(`event-${id}`, more),
  };
}

export function turn(id: string, session: string, inboxIds: readonly string[], at = 2_000) {
  return { turnId: id as TurnId, sessionKey: sessionKey(session), agentId: AGENT, inboxIds: inboxIds as InboxId[], at };
}

export function end(turnId: string, more: Partial<TurnFinish> = {}): TurnFinish {
  return {
    turnId: turnId as TurnId,
    attempt: 1,
    outcome: "done",
    reply: [{ part: 0, message: { text: `answer of ${turnId}`, kind: "reply" } }],
    to: HERE,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
    model: "demo",
    settledBytes: 100,
    at: 3_000,
    ...more,
  };
}

export function intent(id: string, turnId: string, idempotent: boolean) {
  return {
    id,
    callId: `call-${id}`,
    turnId: turnId as TurnId,
    sessionKey: sessionKey("a"),
    principal: OPERATOR,
    tool: "echo",
    origin: "chat",
    input: { text: id },
    idempotent,
    at: 2_500,
  };
}

export function storeContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    inboxPromises(open);
    turnPromises(open);
    toolCallPromises(open);
    outboxPromises(open);
    sessionPromises(open);
    transcriptPromises(open);
    smallTablePromises(open);
  });
}

function inboxPromises(open: () => Promise<StoreWorld>): void {
  test("an accepted message is waiting, whole, after a restart", async () => {
    await using world = await open();
    const sent = row("in1", "a", {
      address: { ...HERE, thread: "7" },
      mentioned: true,
      attachments: [{ mediaId: "media_1" as MediaId, name: "cat.png", mimeType: "image/png", bytes: 3 }],
      text: "zero \0 byte, Grüße, 👩‍👩‍👧",
    });
    expect(await world.store.inbox.accept(sent)).toEqual({ kind: "stored" });
    const again = await world.reopen();
    expect(await again.inbox.unfinished()).toEqual([{ ...sent, turn: null }]);
  });

  test("the same event is stored once, and the second sender learns about the first", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a", { eventId: "e" }));
    const again = row("in2", "a", { eventId: "e", fingerprint: "other" });
    expect(await world.store.inbox.accept(again)).toEqual({
      kind: "duplicate",
      id: "in1" as InboxId,
      fingerprint: "print-event-in1",
    });
    expect(await world.store.inbox.accept(row("in1", "a", { eventId: "e" }))).toMatchObject({ kind: "duplicate" });
    expect((await world.store.sessions.get(sessionKey("a")))?.messages).toBe(1);
  });

  test("of two equal events that arrive in the same tick, one is stored", async () => {
    await using world = await open();
    const both = ["in1", "in2"].map((id) => world.store.inbox.accept(row(id, "a", { eventId: "e" })));
    expect((await Promise.all(both)).map((result) => result.kind)).toEqual(["stored", "duplicate"]);
  });

  test("one event id on two accounts or two channels is two events", async () => {
    await using world = await open();
    const places = [HERE, { ...HERE, account: "second" }, { ...HERE, channel: "api" }];
    for (const [index, address] of places.entries())
      expect(await world.store.inbox.accept(row(`in${index}`, "a", { eventId: "e", address }))).toEqual({
        kind: "stored",
      });
  });

  test("messages wait in the order in which they were accepted, not in the order of their ids", async () => {
    await using world = await open();
    for (const id of ["z", "a", "m"]) await world.store.inbox.accept(row(id, "a"));
    expect((await world.store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["z", "a", "m"]);
  });

  test("a message with the id of another is refused and changes nothing", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    await expect(world.store.inbox.accept(row("in1", "b", { eventId: "new" }))).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(await world.store.sessions.get(sessionKey("b"))).toBeNull();
  });
}

function turnPromises(open: () => Promise<StoreWorld>): void {
  test("a turn that was begun and not ended is found with its attempt after a restart", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    expect(await world.store.turns.begin(turn("t1", "a", ["in1"]))).toEqual({
      attempt: 1,
      unsafeToRetry: false,
      sessionFile: { name: expect.stringMatching(SESSION_FILE), settledBytes: 0 },
    });
    const again = await world.reopen();
    expect((await again.inbox.unfinished())[0]?.turn).toEqual({
      turnId: "t1" as TurnId,
      attempt: 1,
      unsafeToRetry: false,
    });
    expect((await again.turns.begin(turn("t1", "a", ["in1"]))).attempt).toBe(2);
  });

  test("the end of a turn finishes its messages, stores its reply and adds up its session", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.turns.resultOf("in1" as InboxId)).toBeNull();
    expect(await store.turns.finish(end("t1"))).toBe(true);
    expect(await store.inbox.unfinished()).toEqual([]);
    expect(await store.turns.resultOf("in1" as InboxId)).toEqual({
      turnId: "t1" as TurnId,
      sessionKey: sessionKey("a"),
      outcome: "done",
      content: "answer of t1",
      errorCode: null,
      toolCalls: [],
      usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
    });
    expect(await store.sessions.get(sessionKey("a"))).toEqual({
      key: sessionKey("a"),
      channel: "webchat",
      title: "text of event-in1",
      createdAt: 1_000,
      lastActivityAt: 3_000,
      messages: 2,
      usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
    });
    await store.inbox.accept(row("in2", "a"));
    expect((await store.turns.begin(turn("t2", "a", ["in2"]))).sessionFile.settledBytes).toBe(100);
  });

  test("an attempt that is no longer current cannot end the turn", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.turns.finish(end("t1", { attempt: 1 }))).toBe(false);
    expect(await store.outbox.pending(10)).toEqual([]);
    expect(await store.turns.finish(end("t1", { attempt: 2 }))).toBe(true);
    expect(await store.turns.finish(end("t1", { attempt: 2 }))).toBe(false);
    expect(await store.outbox.pending(10)).toHaveLength(1);
  });

  test("a turn whose reply cannot be stored has not ended in any part", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    const before = await store.sessions.get(sessionKey("a"));
    const part = { part: 0, message: { text: "twice", kind: "reply" as const } };
    await expect(store.turns.finish(end("t1", { reply: [part, part] }))).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(await store.outbox.pending(10)).toEqual([]);
    expect(await store.sessions.get(sessionKey("a"))).toEqual(before);
    expect((await store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["in1"]);
    expect(await store.turns.finish(end("t1"))).toBe(true);
  });

  test("a session has at most one running turn", async () => {
    await using world = await open();
    const { store } = world;
    for (const id of ["in1", "in2"]) await store.inbox.accept(row(id, "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await expect(store.turns.begin(turn("t2", "a", ["in2"]))).rejects.toMatchObject({ code: "conflict" });
    await store.turns.finish(end("t1"));
    expect((await store.turns.begin(turn("t2", "a", ["in2"]))).attempt).toBe(1);
  });

  test("a turn cannot claim a message of another turn or of another session, nor begin after its end", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.inbox.accept(row("in2", "b"));
    await expect(store.turns.begin(turn("t1", "a", ["in1", "in2"]))).rejects.toMatchObject({ code: "conflict" });
    await store.turns.begin(turn("t2", "a", ["in1"]));
    await store.turns.finish(end("t2"));
    await expect(store.turns.begin(turn("t2", "a", ["in1"]))).rejects.toMatchObject({ code: "conflict" });
    await expect(store.turns.begin(turn("t3", "a", ["in1"]))).rejects.toMatchObject({ code: "conflict" });
  });

  test("a failed turn says why to those who come back for it", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    const reply = [
      { part: 1, message: { text: "It broke.", kind: "notice" as const } },
      { part: 0, message: { text: "Half", kind: "reply" as const } },
    ];
    await store.turns.finish(end("t1", { outcome: "failed", reply, error: { code: "agent_exited", detail: "x" } }));
    const result = await store.turns.resultOf("in1" as InboxId);
    expect([result?.outcome, result?.errorCode, result?.content]).toEqual([
      "failed",
      "agent_exited",
      "Half\n\nIt broke.",
    ]);
  });
}

function toolCallPromises(open: () => Promise<StoreWorld>): void {
  test("a turn is unsafe to retry once a tool that must not run twice was started in it", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.toolCalls.intend(intent("c1", "t1", true));
    expect((await store.turns.begin(turn("t1", "a", ["in1"]))).unsafeToRetry).toBe(false);
    await store.toolCalls.intend(intent("c2", "t1", false));
    const again = await world.reopen();
    expect((await again.inbox.unfinished())[0]?.turn?.unsafeToRetry).toBe(true);
    expect(await again.turns.begin(turn("t1", "a", ["in1"]))).toMatchObject({ attempt: 3, unsafeToRetry: true });
  });

  test("a tool call whose end nobody saw has an unknown end after a restart", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.toolCalls.intend(intent("c1", "t1", true));
    await store.toolCalls.intend(intent("c2", "t1", true));
    await store.toolCalls.settle("c1", { status: "success", output: "fine", ms: 12 });
    const again = await world.reopen();
    await again.turns.finish(end("t1"));
    expect((await again.turns.resultOf("in1" as InboxId))?.toolCalls).toEqual([
      { tool: "echo", input: { text: "c1" }, status: "success", ms: 12 },
      { tool: "echo", input: { text: "c2" }, status: "unknown", ms: 0 },
    ]);
  });

  test("the end of a tool call that nobody announced is ignored", async () => {
    await using world = await open();
    await world.store.toolCalls.settle("nobody", { status: "success", output: "", ms: 1 });
    expect((await world.store.sessions.list({}, { limit: 10 })).items).toEqual([]);
  });
}

function outboxPromises(open: () => Promise<StoreWorld>): void {
  test("replies wait oldest first and in parts until they are sent or given up", async () => {
    await using world = await open();
    const { store } = world;
    for (const name of ["b", "a"]) {
      await store.inbox.accept(row(`in-${name}`, name));
      await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
      const reply = [1, 0].map((part) => ({ part, message: { text: `${name}${part}`, kind: "reply" as const } }));
      await store.turns.finish(end(`t-${name}`, { reply, to: { ...HERE, thread: name } }));
    }
    expect((await store.outbox.pending(3)).map(({ id }) => id)).toEqual(["t-b:0", "t-b:1", "t-a:0"]);
    await store.outbox.markSent(["t-b:0", "t-b:1"], 4_000);
    await store.outbox.settle("t-a:0", { state: "dead", because: "the chat is gone" }, 4_000);
    const again = await world.reopen();
    const [left, ...more] = await again.outbox.pending(10);
    expect(more).toEqual([]);
    expect(left).toMatchObject({ id: "t-a:1", to: { ...HERE, thread: "a" }, state: "pending", attempts: 0, lost: 0 });
    expect(await again.outbox.pending(10, left?.seq)).toEqual([]);
    expect(await again.outbox.part("t-a:1")).toEqual({
      id: "t-a:1",
      turnId: "t-a" as TurnId,
      sessionKey: sessionKey("a"),
      part: 1,
      message: { text: "a1", kind: "reply" },
      to: { ...HERE, thread: "a" },
      createdAt: 3_000,
    });
    expect(await again.outbox.part("nobody")).toBeNull();
  });
}

function sessionPromises(open: () => Promise<StoreWorld>): void {
  test("sessions are listed by last activity, page after page, each once", async () => {
    await using world = await open();
    const names = Array.from({ length: 7 }, (_, index) => `s${index}`);
    for (const [index, name] of names.entries())
      await world.store.inbox.accept(row(`in${index}`, name, { receivedAt: index < 4 ? 1_000 : 1_000 + index }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.store.sessions.list({}, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ key }) => key));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen).toEqual(["s6", "s5", "s4", "s3", "s2", "s1", "s0"].map(sessionKey));
  });

  test("a search finds words of the title and of the key in any case, and takes % and _ literally", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "one", { text: "GRÜSSE aus 100% Wien" }));
    await store.inbox.accept(row("in2", "two", { text: "nothing_here", address: { ...HERE, channel: "api" } }));
    const found = async (filter: Parameters<Store["sessions"]["list"]>[0]) =>
      (await store.sessions.list(filter, { limit: 10 })).items.map(({ title }) => title);
    expect(await found({ search: "grüsse" })).toEqual(["GRÜSSE aus 100% Wien"]);
    expect(await found({ search: "0%" })).toEqual(["GRÜSSE aus 100% Wien"]);
    expect(await found({ search: "%here" })).toEqual([]);
    expect(await found({ search: "G_H" })).toEqual(["nothing_here"]);
    expect(await found({ search: "g\\h" })).toEqual([]);
    expect(await found({ search: "DM:TWO" })).toEqual(["nothing_here"]);
    expect(await found({ channel: "api" })).toEqual(["nothing_here"]);
    expect(await found({ channel: "api", search: "wien" })).toEqual([]);
  });

  test("the title is the first line of the first message, short and without hidden characters", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a", { text: `\u202eHello\n\tthere\u0007 ${"👍".repeat(100)}` }));
    await world.store.inbox.accept(row("in2", "a", { text: "later words" }));
    const title = (await world.store.sessions.get(sessionKey("a")))?.title ?? "";
    expect(title).toBe(`Hello there ${"👍".repeat(68)}`);
  });

  test("a cursor that was not ours is a bad request", async () => {
    await using world = await open();
    for (const cursor of [
      "",
      "x",
      "!!!",
      Buffer.from("[1]").toString("base64url"),
      Buffer.from('["a",1]').toString("base64url"),
    ])
      await expect(world.store.sessions.list({}, { limit: 5, cursor })).rejects.toMatchObject({ code: "bad_request" });
    const cursor = Buffer.from('["1 or 1=1"]').toString("base64url");
    await expect(world.store.sessions.transcript(sessionKey("a"), { limit: 5, cursor })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test("what all sessions used is added up, and is nothing in an empty store", async () => {
    await using world = await open();
    const { store } = world;
    const nothing = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
    expect(await store.sessions.total()).toEqual({ sessions: 0, usage: nothing });
    for (const name of ["a", "b"]) {
      await store.inbox.accept(row(`in-${name}`, name));
      await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
      const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.25 };
      await store.turns.finish(end(`t-${name}`, { usage }));
    }
    const usage = { inputTokens: 20, outputTokens: 10, costUsd: 0.5 };
    expect(await store.sessions.total()).toEqual({ sessions: 2, usage });
  });

  test("a reset gives an empty memory at once, even when a running turn ends after it", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    const { sessionFile: before } = await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.sessions.reset(sessionKey("a"), 2_500)).toBe(true);
    await store.turns.finish(end("t1", { settledBytes: 999 }));
    await store.inbox.accept(row("in2", "a"));
    const { sessionFile: after } = await store.turns.begin(turn("t2", "a", ["in2"]));
    expect(after).toEqual({ name: expect.stringMatching(SESSION_FILE), settledBytes: 0 });
    expect(after.name).not.toBe(before.name);
    expect((await store.sessions.transcript(sessionKey("a"), { limit: 50 })).items).toHaveLength(3);
    expect(await store.sessions.reset(sessionKey("nobody"), 1)).toBe(false);
  });
}

function transcriptPromises(open: () => Promise<StoreWorld>): void {
  test("a transcript shows messages, then tool calls, then the reply of each turn, and what waits at the end", async () => {
    await using world = await open();
    const { store } = world;
    for (const id of ["in1", "in2", "in3"]) await store.inbox.accept(row(id, "a"));
    await store.turns.begin(turn("t1", "a", ["in1", "in2"]));
    await store.toolCalls.intend(intent("c1", "t1", true));
    await store.toolCalls.settle("c1", { status: "error", output: "no", ms: 3 });
    await store.turns.finish(end("t1"));
    const { items } = await store.sessions.transcript(sessionKey("a"), { limit: 50 });
    const t1 = "t1" as TurnId;
    expect(items).toEqual([
      { id: "in1", role: "user", text: "text of event-in1", at: 1_000, turnId: t1, inboxId: "in1" as InboxId },
      { id: "in2", role: "user", text: "text of event-in2", at: 1_000, turnId: t1, inboxId: "in2" as InboxId },
      {
        ...{ id: "c1", role: "tool", text: "", at: 2_500, turnId: t1, tool: "echo" },
        ...{ input: { text: "c1" }, output: "no", status: "error", ms: 3 },
      },
      { id: "t1:0", role: "assistant", text: "answer of t1", at: 3_000, turnId: t1, kind: "reply" },
      { id: "in3", role: "user", text: "text of event-in3", at: 1_000, turnId: null, inboxId: "in3" as InboxId },
    ] as TranscriptItem[]);
  });

  test("the pages of a transcript, put together, are the whole, whatever the page size", async () => {
    const turns = fc.array(fc.record({ asks: fc.integer({ min: 1, max: 3 }), parts: fc.integer({ min: 0, max: 4 }) }), {
      maxLength: 8,
    });
    const anything = fc.asyncProperty(
      turns,
      fc.nat(2),
      fc.integer({ min: 1, max: 12 }),
      async (plan, waiting, limit) => {
        await using world = await open();
        const expected: string[] = [];
        for (const [index, { asks, parts }] of plan.entries()) {
          const ids = Array.from({ length: asks }, (_, ask) => `in${index}.${ask}`);
          for (const id of ids) await world.store.inbox.accept(row(id, "a"));
          await world.store.turns.begin(turn(`t${index}`, "a", ids));
          const reply = Array.from({ length: parts }, (_, part) => ({
            part,
            message: { text: "x", kind: "reply" as const },
          }));
          await world.store.turns.finish(end(`t${index}`, { reply }));
          expected.push(...ids, ...reply.map(({ part }) => `t${index}:${part}`));
        }
        for (let index = 0; index < waiting; index++) {
          await world.store.inbox.accept(row(`w${index}`, "a"));
          expected.push(`w${index}`);
        }
        expect(await wholeTranscript(world.store, limit)).toEqual(expected);
      },
    );
    await fc.assert(anything, { numRuns: 15 });
  });
}

async function wholeTranscript(store: Store, limit: number): Promise<readonly string[]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.sessions.transcript(sessionKey("a"), {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages.toReversed().flat();
}

function smallTablePromises(open: () => Promise<StoreWorld>): void {
  test("each opening counts one more life", async () => {
    await using world = await open();
    expect(world.store.epoch).toBe(1);
    expect((await world.reopen()).epoch).toBe(2);
  });

  test("a media file comes back as it was, under a name that is safe to show", async () => {
    await using world = await open();
    const mediaId = "media_1" as MediaId;
    const data = new Uint8Array([1, 2, 3]);
    const file = { mediaId, owner: OPERATOR, name: "../../etc/\u202ecat.png", mimeType: "image/png", data, at: 1 };
    const ref = { mediaId, name: "cat.png", mimeType: "image/png", bytes: 3 };
    expect(await world.store.media.put(file)).toEqual(ref);
    await expect(world.store.media.put(file)).rejects.toMatchObject({ code: "conflict" });
    const again = await world.reopen();
    expect(await again.media.find(mediaId)).toEqual({ ...ref, owner: OPERATOR });
    expect(new Uint8Array((await again.media.read(mediaId)) ?? [])).toEqual(data);
  });

  test("a media id that could be a path leads nowhere", async () => {
    await using world = await open();
    for (const id of ["../gateway.db", "a/b", "", ".", "a.b", "x".repeat(200), "a\0"]) {
      const mediaId = id as MediaId;
      expect(await world.store.media.find(mediaId)).toBeNull();
      expect(await world.store.media.read(mediaId)).toBeNull();
      const file = { mediaId, owner: OPERATOR, name: "n", mimeType: "t", data: new Uint8Array(), at: 1 };
      await expect(world.store.media.put(file)).rejects.toMatchObject({ code: "internal" });
    }
  });

  test("a sign-in is found until it is removed, and expired ones go when a new one comes", async () => {
    await using world = await open();
    const { signIns } = world.store;
    const signIn = { digest: "d1", principal: OPERATOR, createdAt: 10, expiresAt: 20, authDigest: "a" };
    await signIns.put(signIn);
    expect(await signIns.find("d1")).toEqual({ principal: OPERATOR, expiresAt: 20, authDigest: "a" });
    await signIns.put({ ...signIn, digest: "d2", createdAt: 20, expiresAt: 30 });
    expect(await signIns.find("d1")).toBeNull();
    await signIns.remove("d2");
    expect(await signIns.find("d2")).toBeNull();
  });
}
