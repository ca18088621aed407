/** What every store promises about deleting what is old: in small steps, and nothing that is still needed. */
import { expect, test } from "bun:test";
import type { InboxId, MediaId, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { DroppedRows, OldRows } from "../../../contracts/store/retention.ts";
import { question } from "./approval-contract.ts";
import { end, intent, type OpenStoreWorld, OPERATOR, row, sessionKey, turn } from "./store-world.ts";

const PICTURE = "media-1" as MediaId;
const ATTACHED = [{ mediaId: PICTURE, name: "p.png", mimeType: "image/png", bytes: 3 }];

/** A turn that ended at 3000 and was delivered. */
async function talk(store: Store, session: string, id: string): Promise<void> {
  await store.inbox.accept(row(`in-${id}`, session));
  await store.turns.begin(turn(id, session, [`in-${id}`]));
  await store.turns.finish(end(id));
  await store.outbox.markSent(`${id}:0`, 3_100);
}

async function putPicture(store: Store, at: number): Promise<void> {
  const data = new Uint8Array([1, 2, 3]);
  await store.media.put({ mediaId: PICTURE, owner: OPERATOR, name: "p.png", mimeType: "image/png", data, at });
}

/** Steps until nothing is left; how many rows went, and in how many steps. */
async function all(drop: (rule: OldRows) => Promise<DroppedRows>, before: number, limit = 100) {
  let [dropped, steps] = [0, 0];
  for (let from: OldRows["from"] = null; ; steps++) {
    const step: DroppedRows = await drop({ before, from, limit });
    dropped += step.dropped;
    from = step.next;
    if (from === null || steps === 100) return { dropped, steps: steps + 1 };
  }
}

const isThere = async (store: Store, turnId: string) => (await store.turns.get(turnId as TurnId)) !== null;
const found = async (store: Store, words: string) =>
  (await store.sessions.searchMessages({ words }, { limit: 10 })).items.map(({ id }) => id);

export function retentionPromises(open: OpenStoreWorld): void {
  test("old turns go with their messages, replies and found words, a few in each step, and young ones stay", async () => {
    await using world = await open();
    const { store } = world;
    for (const id of ["t1", "t2", "t3"]) await talk(store, "a", id);
    await store.inbox.accept(row("in-young", "a"));
    await store.turns.begin(turn("young", "a", ["in-young"]));
    await store.turns.finish(end("young", { at: 9_000 }));
    expect(await all(store.retention.dropTurns, 3_000)).toEqual({ dropped: 0, steps: 1 });
    expect(await all(store.retention.dropTurns, 9_000, 2)).toEqual({ dropped: 3, steps: 2 });
    expect(await found(store, "text of event")).toEqual(["in-young"]);
    expect(await found(store, "answer")).toEqual(["young:0"]);
    expect(await store.inbox.senderOf("in-t1" as InboxId)).toBeNull();
    expect(await store.outbox.part("t1:0")).toBeNull();
    expect([await isThere(store, "t1"), await isThere(store, "young")]).toEqual([false, true]);
    expect((await store.sessions.transcript(sessionKey("a"), { limit: 10 })).items).toHaveLength(2);
  });

  test("turns of pinned sessions stay, and so do those with an undelivered reply, an open approval or a waiting call", async () => {
    await using world = await open();
    const { store } = world;
    for (const id of ["pinned", "asks", "calls", "done"]) await talk(store, id, id);
    await store.sessions.mark(sessionKey("pinned"), { pinned: true }, 1);
    await store.approvals.put({ ...question("q1"), sessionKey: sessionKey("asks"), turnId: "asks" as TurnId });
    await store.toolCalls.intend({ ...intent("c1", "calls", true), sessionKey: sessionKey("calls") });
    await store.inbox.accept(row("in-sends", "sends"));
    await store.turns.begin(turn("sends", "sends", ["in-sends"]));
    await store.turns.finish(end("sends"));
    await store.inbox.accept(row("in-runs", "runs"));
    await store.turns.begin(turn("runs", "runs", ["in-runs"]));
    expect((await all(store.retention.dropTurns, 10_000)).dropped).toBe(1);
    for (const id of ["pinned", "asks", "calls", "sends", "runs"]) expect(await isThere(store, id)).toBe(true);
    const left = await store.retention.dropSessions({ before: 10_000, from: null, limit: 100 });
    expect(left.sessions).toEqual([sessionKey("done")]);
    expect((await store.sessions.list({}, { limit: 10 })).items).toHaveLength(5);
  });

  test("a session without activity goes with its messages, media and file, in steps when it has many turns", async () => {
    await using world = await open();
    const { store } = world;
    await putPicture(store, 1);
    await store.inbox.accept(row("in-first", "a", { attachments: ATTACHED }));
    await store.turns.begin(turn("first", "a", ["in-first"]));
    await store.turns.finish(end("first"));
    await store.outbox.markSent("first:0", 3_100);
    for (let at = 0; at < 120; at++) await talk(store, "a", `t${at}`);
    const step = await store.retention.dropSessions({ before: 10_000, from: null, limit: 100 });
    expect(step).toMatchObject({ dropped: 0, sessions: [] });
    expect(await store.sessions.get(sessionKey("a"))).not.toBeNull();
    expect((await all(store.retention.dropSessions, 10_000)).dropped).toBe(1);
    expect(await store.sessions.get(sessionKey("a"))).toBeNull();
    expect(await store.media.find(PICTURE)).toBeNull();
    const dead = await store.runSessions.deadFiles(10);
    expect(dead.filter((file) => file.endsWith(".jsonl"))).toHaveLength(1);
    expect(dead).toContain(`media/${PICTURE}`);
  }, 20_000); // some five hundred writes, one after the other

  test("conversations that were put aside go when they are old, and the current one stays", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "t1");
    await store.sessions.reset(sessionKey("a"), 4_000);
    expect((await all(store.retention.dropConversations, 3_000)).dropped).toBe(0);
    expect((await all(store.retention.dropConversations, 3_001)).dropped).toBe(1);
    expect(await store.runSessions.deadFiles(10)).toHaveLength(1);
    expect(await store.sessions.get(sessionKey("a"))).toMatchObject({ key: sessionKey("a") });
  });

  test("old media go, but not those of a message that waits or of a pinned session", async () => {
    await using world = await open();
    const { store } = world;
    await putPicture(store, 5);
    await store.inbox.accept(row("in1", "a", { attachments: ATTACHED }));
    expect((await all(store.retention.dropMedia, 6)).dropped).toBe(0);
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1"));
    await store.sessions.mark(sessionKey("a"), { pinned: true }, 1);
    expect((await all(store.retention.dropMedia, 6)).dropped).toBe(0);
    await store.sessions.mark(sessionKey("a"), { pinned: false }, 2);
    expect((await all(store.retention.dropMedia, 5)).dropped).toBe(0);
    expect((await all(store.retention.dropMedia, 6)).dropped).toBe(1);
    expect(await store.media.find(PICTURE)).toBeNull();
    expect(await store.runSessions.deadFiles(10)).toEqual([`media/${PICTURE}`]);
  });

  test("the sizes of a store count the rows of each table and know its oldest", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "t1");
    const { bytes, tables } = await store.retention.sizes(AbortSignal.timeout(10_000));
    const inbox = tables.find(({ table }) => table === "inbox");
    expect(inbox).toMatchObject({ rows: 1, oldestAt: 1_000 });
    expect([bytes > 0, (inbox?.bytes ?? 0) > 0]).toEqual([true, true]);
  });
}
