/** What lists of sessions and transcripts promise. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TranscriptItem } from "../../../contracts/chat.ts";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { SessionReach } from "../../../contracts/session-reach.ts";
import type { Store } from "../../../contracts/store.ts";
import { end, HERE, intent, row, SESSION_FILE, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function sessionPromises(open: () => Promise<StoreWorld>): void {
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

  test("lists within the reach of a key have full pages, however many sessions, turns and calls lie outside of it", async () => {
    await using world = await open();
    const { store } = world;
    const keys = [
      ...["agent:a:api:dm:k1.x", "agent:b:api:dm:k1.x", "agent:a:webchat:dm:7", "agent:ab:api:dm:k2.x"],
      "agent:a:telegram:group:5",
    ] as SessionKey[];
    for (const [index, key] of keys.entries()) {
      const id = `${index}`;
      const received = { ...row(`in${id}`, "x", { receivedAt: 9_000 - index }), sessionKey: key };
      await store.inbox.accept(received);
      await store.turns.begin({ ...turn(`t${id}`, "x", [`in${id}`]), sessionKey: key });
      await store.toolCalls.intend({ ...intent(`c${id}`, `t${id}`, false), sessionKey: key });
    }
    const listed = async (within: SessionReach) => {
      const page = { limit: 2 };
      const sessions = await store.sessions.list({ within }, page);
      const turns = await store.turns.list({ within }, page);
      const calls = await store.toolCalls.list({ within }, page);
      return [
        sessions.items.map(({ key }) => keys.indexOf(key)),
        turns.items.map(({ turn: { sessionKey: key } }) => keys.indexOf(key)),
        calls.items.map(({ sessionKey: key }) => keys.indexOf(key)),
      ];
    };
    // sessions by activity, turns and calls newest first
    expect(await listed({ agents: ["a"], keyId: null })).toEqual([
      [0, 2],
      [4, 2],
      [4, 2],
    ]);
    expect(await listed({ agents: ["b", "ab"], keyId: null })).toEqual([
      [1, 3],
      [3, 1],
      [3, 1],
    ]);
    expect(await listed({ agents: null, keyId: "k1" })).toEqual([
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    for (const none of [
      { agents: ["%"], keyId: null },
      { agents: ["a_"], keyId: null },
      { agents: [], keyId: null },
    ])
      expect(await listed(none)).toEqual([[], [], []]);
    expect(await listed({ agents: ["b"], keyId: "k1" })).toEqual([[1], [1], [1]]);
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

export function transcriptPromises(open: () => Promise<StoreWorld>): void {
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
        id: "c1",
        role: "tool",
        text: "",
        at: 2_500,
        turnId: t1,
        tool: "echo",
        input: { text: "c1" },
        output: "no",
        status: "error",
        ms: 3,
      },
      { id: "t1:0", role: "assistant", text: "answer of t1", at: 3_000, turnId: t1, kind: "reply" },
      { id: "in3", role: "user", text: "text of event-in3", at: 1_000, turnId: null, inboxId: "in3" as InboxId },
    ] as TranscriptItem[]);
  });

  test("the pages of a transcript, put together, are the whole, whatever the page size", async () => {
    await using world = await open();
    let samples = 0;
    const turns = fc.array(fc.record({ asks: fc.integer({ min: 1, max: 3 }), parts: fc.integer({ min: 0, max: 4 }) }), {
      maxLength: 8,
    });
    const anything = fc.asyncProperty(
      turns,
      fc.nat(2),
      fc.integer({ min: 1, max: 12 }),
      async (plan, waiting, limit) => {
        const name = `s${samples++}`; // a conversation of its own, with another one before it
        const expected: string[] = [];
        for (const [index, { asks, parts }] of plan.entries()) {
          const ids = Array.from({ length: asks }, (_, ask) => `${name}.in${index}.${ask}`);
          for (const id of ids) await world.store.inbox.accept(row(id, name));
          await world.store.turns.begin(turn(`${name}.t${index}`, name, ids));
          const reply = Array.from({ length: parts }, (_, part) => ({
            part,
            message: { text: "x", kind: "reply" as const },
          }));
          await world.store.turns.finish(end(`${name}.t${index}`, { reply }));
          expected.push(...ids, ...reply.map(({ part }) => `${name}.t${index}:${part}`));
        }
        for (let index = 0; index < waiting; index++) {
          await world.store.inbox.accept(row(`${name}.w${index}`, name));
          expected.push(`${name}.w${index}`);
        }
        expect(await wholeTranscript(world.store, name, limit)).toEqual(expected);
      },
    );
    await fc.assert(anything, { numRuns: 15 });
  });
}

async function wholeTranscript(store: Store, name: string, limit: number): Promise<readonly string[]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.sessions.transcript(sessionKey(name), {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    pages.push(page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages.toReversed().flat();
}
