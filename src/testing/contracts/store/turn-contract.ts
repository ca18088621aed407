/** What turns, their tool calls and their replies promise: one end, all of it or nothing. */
import { expect, test } from "bun:test";
import type { InboxId, TurnId } from "../../../contracts/ids.ts";
import { end, HERE, intent, OPERATOR, row, SESSION_FILE, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function turnPromises(open: () => Promise<StoreWorld>): void {
  test("a turn that was begun and not ended is found with its attempt after a restart", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    expect(await world.store.turns.begin(turn("t1", "a", ["in1"]))).toEqual({
      attempt: 1,
      unsafeToRetry: false,
      hasNews: false,
      sessionFile: { name: expect.stringMatching(SESSION_FILE), settledBytes: 0 },
      settings: { model: null, thinking: null },
    });
    const again = await world.reopen();
    expect((await again.inbox.unfinished())[0]?.turn).toEqual({
      turnId: "t1" as TurnId,
      attempt: 1,
      unsafeToRetry: false,
      crashes: 0,
    });
    expect((await again.turns.begin(turn("t1", "a", ["in1"]))).attempt).toBe(2);
  });

  test("a crash is counted for turns that were at work, and not for those that were left, or only wait to be begun again", async () => {
    await using world = await open();
    const { inbox, turns } = world.store;
    const crashes = async () => {
      const rows = await inbox.unfinished();
      return Object.fromEntries(rows.map((one) => [one.turn?.turnId, one.turn?.crashes]));
    };
    for (const name of ["a", "b", "c"]) {
      await inbox.accept(row(`in-${name}`, name));
      await turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
    }
    await turns.leave("t-b" as TurnId, 1);
    await turns.leave("t-c" as TurnId, 7); // another attempt than the current one
    await turns.countCrashes(2);
    expect(await crashes()).toEqual({ "t-a": 1, "t-b": 0, "t-c": 1 });
    await turns.countCrashes(2);
    expect(await crashes()).toEqual({ "t-a": 1, "t-b": 0, "t-c": 1 });
    await turns.begin(turn("t-a", "a", ["in-a"]));
    await turns.countCrashes(2);
    expect(await crashes()).toEqual({ "t-a": 2, "t-b": 0, "t-c": 1 });
    await turns.begin(turn("t-c", "c", ["in-c"]));
    await turns.begin(turn("t-a", "a", ["in-a"]));
    await turns.countCrashes(2); // two at work: the last count is for one that was alone
    expect(await crashes()).toEqual({ "t-a": 2, "t-b": 0, "t-c": 1 });
    await turns.begin(turn("t-b", "b", ["in-b"]));
    await turns.countCrashes(2); // without t-a, which is cleared
    expect(await crashes()).toEqual({ "t-a": 0, "t-b": 1, "t-c": 1 });
  });

  test.each([
    ["first", "second"],
    ["second", "first"],
  ])(
    "a turn is accused only when it was alone, and cleared only by a crash without it; begun %s, the other %s",
    async (mine, others) => {
      await using world = await open();
      const { inbox, turns } = world.store;
      const crashes = async (name: string) =>
        (await inbox.unfinished()).find(({ turn: of }) => of?.turnId === `t-${name}`)?.turn?.crashes;
      const begin = (name: string) => turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
      for (const name of ["first", "second"]) {
        await inbox.accept(row(`in-${name}`, name));
        await begin(name);
      }
      await turns.leave(`t-${others}` as TurnId, 1);
      await turns.countCrashes(2);
      await begin(mine);
      await begin(others);
      await turns.countCrashes(2);
      expect([await crashes(mine), await crashes(others)]).toEqual([1, 1]); // two were at work
      await begin(mine);
      await turns.countCrashes(2);
      expect(await crashes(mine)).toBe(2);
      await turns.countCrashes(2); // after a stop in good order: nothing was at work
      expect(await crashes(mine)).toBe(2);
      await begin(others);
      await turns.countCrashes(2);
      expect(await crashes(mine)).toBe(0);
    },
  );

  test("the end of a turn finishes its messages, stores its reply and adds up its session", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.turns.resultOf("in1" as InboxId)).toBeNull();
    expect(await store.turns.finish(end("t1"))).not.toBeNull();
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
      person: OPERATOR,
    });
    await store.inbox.accept(row("in2", "a"));
    expect((await store.turns.begin(turn("t2", "a", ["in2"]))).sessionFile.settledBytes).toBe(100);
  });

  test("a session says what its next turn begins with, before there is one", async () => {
    await using world = await open();
    const { store } = world;
    expect(await store.turns.upcoming(sessionKey("a"))).toBeNull();
    await store.inbox.accept(row("in1", "a"));
    const { sessionFile, settings } = await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1"));
    await store.sessions.configure(sessionKey("a"), { model: "fake/two" });
    expect(await store.turns.upcoming(sessionKey("a"))).toEqual({
      sessionFile: { name: sessionFile.name, settledBytes: 100 },
      settings: { ...settings, model: "fake/two" },
    });
  });

  test("the end of a turn tells the parts of its reply as the outbox would read them", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    const reply = ["one", "two\0"].map((text, part) => ({ part, message: { text, kind: "reply" as const } }));
    const stored = await store.turns.finish(end("t1", { reply, outcome: "failed" }));
    expect(stored?.map(({ pending }) => pending)).toEqual([...(await store.outbox.pending(10))]);
    for (const { row: told } of stored ?? []) expect(told).toEqual((await store.outbox.part(told.id)) ?? told);
    expect(stored).toHaveLength(2);
  });

  test("an attempt that is no longer current cannot end the turn", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.turns.finish(end("t1", { attempt: 1 }))).toBeNull();
    expect(await store.outbox.pending(10)).toEqual([]);
    expect(await store.turns.finish(end("t1", { attempt: 2 }))).not.toBeNull();
    expect(await store.turns.finish(end("t1", { attempt: 2 }))).toBeNull();
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
    expect(await store.turns.finish(end("t1"))).not.toBeNull();
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

export function toolCallPromises(open: () => Promise<StoreWorld>): void {
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
      { callId: "call-c1", tool: "echo", input: { text: "c1" }, status: "success", ms: 12 },
      { callId: "call-c2", tool: "echo", input: { text: "c2" }, status: "unknown", ms: 0 },
    ]);
  });

  test("the end of a tool call that nobody announced is ignored", async () => {
    await using world = await open();
    await world.store.toolCalls.settle("nobody", { status: "success", output: "", ms: 1 });
    expect((await world.store.sessions.list({}, { limit: 10 })).items).toEqual([]);
  });
}

export function outboxPromises(open: () => Promise<StoreWorld>): void {
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
    for (const id of ["t-b:0", "t-b:1"]) await store.outbox.markSent(id, 4_000);
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
      outcome: "done",
    });
    expect(await again.outbox.part("nobody")).toBeNull();
  });
}
