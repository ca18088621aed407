/** What the store promises to the queue: messages that join a turn, end without one, or came when there was no room. */
import { expect, test } from "bun:test";
import type { InboxId, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { NewInboxRow } from "../../../contracts/store/inbox.ts";
import { end, HERE, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const ids = (...names: readonly string[]) => names as InboxId[];
const overflow = (id: string, session = "a", chat = HERE.chat): NewInboxRow => ({
  ...row(id, session, { address: { ...HERE, chat } }),
  overflow: { maxShown: 2 },
});
const unbegun = (turnId: string, ...inboxIds: readonly string[]) => ({
  ...turn(turnId, "a", inboxIds),
  outcome: "aborted" as const,
  reply: [{ part: 0, message: { text: "withdrawn", kind: "notice" as const } }],
  to: HERE,
});
/** "in1 t1" for a message and its turn; "o3 - 2" for overflow, and how many more there are. */
const open = async (store: Store): Promise<string[]> =>
  (await store.inbox.unfinished()).map(({ id, turn: of, overflow: over }) =>
    [id, of?.turnId ?? "-", ...(over ? [over.hidden] : [])].join(" "),
  );

export function queuePromises(opened: () => Promise<StoreWorld>): void {
  joining(opened);
  retrying(opened);
  unbegunEnds(opened);
  overflowing(opened);

  test("a session keeps the queue mode that was chosen for it, over a restart, until it is withdrawn", async () => {
    await using world = await opened();
    const key = sessionKey("a");
    expect(await world.store.sessions.setQueueMode(key, "steer")).toBe(false);
    expect(await world.store.inbox.accept(row("in1", "a"))).toEqual({
      kind: "stored",
      mode: null,
      hidden: null,
      begun: null,
    });
    expect(await world.store.sessions.setQueueMode(key, "steer")).toBe(true);
    const again = await world.reopen();
    expect(await again.inbox.accept(row("in2", "a"))).toMatchObject({ mode: "steer" });
    expect((await again.sessions.get(key))?.queueMode).toBe("steer");
    expect((await again.inbox.unfinished()).map(({ mode }) => mode)).toEqual(["steer", "steer"]);
    await again.sessions.setQueueMode(key, null);
    expect([(await again.sessions.get(key))?.queueMode, await again.inbox.accept(row("in3", "a"))]).toMatchObject([
      undefined,
      { mode: null },
    ]);
  });

  test("the sender of a message is known", async () => {
    await using world = await opened();
    await world.store.inbox.accept(row("in1", "a"));
    expect([
      await world.store.inbox.senderOf(ids("in1")[0] as InboxId),
      await world.store.inbox.senderOf("x" as InboxId),
    ]).toEqual([row("in1", "a").message.sender.principal, null]);
  });
}

function joining(opened: () => Promise<StoreWorld>): void {
  test("a message that joined a running turn belongs to it after a restart, and ends with it", async () => {
    await using world = await opened();
    for (const id of ["in1", "in2"]) await world.store.inbox.accept(row(id, "a"));
    await world.store.turns.begin(turn("t1", "a", ["in1"]));
    const more = { turnId: "t1" as TurnId, inboxIds: ids("in2") };
    expect(await world.store.turns.join({ ...more, attempt: 2 })).toBe(false);
    expect(await open(world.store)).toEqual(["in1 t1", "in2 -"]);
    expect(await world.store.turns.join({ ...more, attempt: 1 })).toBe(true);
    const again = await world.reopen();
    expect(await open(again)).toEqual(["in1 t1", "in2 t1"]);
    await again.turns.finish(end("t1"));
    expect([await open(again), (await again.turns.resultOf("in2" as InboxId))?.turnId]).toEqual([[], "t1" as TurnId]);
    expect(await again.turns.join({ ...more, attempt: 1 })).toBe(false);
  });

  test("the end of a turn claims what joined it and could not be claimed before, and nothing that is another's", async () => {
    await using world = await opened();
    const { store } = world;
    for (const [id, session] of [
      ["in1", "a"],
      ["in2", "a"],
      ["in3", "b"],
    ] as const)
      await store.inbox.accept(row(id, session));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1", { joined: ids("in2", "in3") }));
    expect(await open(store)).toEqual(["in3 -"]);
    expect((await store.turns.resultOf("in2" as InboxId))?.turnId).toBe("t1" as TurnId);
  });
}

function retrying(opened: () => Promise<StoreWorld>): void {
  test("a turn that is tried again claims what joined it and could not be claimed before", async () => {
    await using world = await opened();
    const { store } = world;
    for (const id of ["in1", "in2"]) await store.inbox.accept(row(id, "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect((await store.turns.begin(turn("t1", "a", ["in1", "in2"]))).attempt).toBe(2);
    expect(await open(store)).toEqual(["in1 t1", "in2 t1"]);
  });
}

function unbegunEnds(opened: () => Promise<StoreWorld>): void {
  test("a waiting message ends beside a running turn, visibly, and is not waiting after a restart", async () => {
    await using world = await opened();
    for (const id of ["in1", "in2"]) await world.store.inbox.accept(row(id, "a"));
    await world.store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await world.store.turns.endUnbegun(unbegun("t2", "in2"))).toBe(true);
    const again = await world.reopen();
    expect(await open(again)).toEqual(["in1 t1"]);
    expect(await again.turns.resultOf("in2" as InboxId)).toMatchObject({ outcome: "aborted", content: "withdrawn" });
    expect(await again.outbox.part("t2:0")).toMatchObject({ message: { kind: "notice" }, outcome: "aborted" });
    expect(await again.turns.finish(end("t1"))).not.toBeNull();
  });

  test("a message whose turn has begun, or that is another session's, cannot end without one", async () => {
    await using world = await opened();
    const { store } = world;
    for (const [id, session] of [
      ["in1", "a"],
      ["in2", "a"],
      ["in3", "b"],
    ] as const)
      await store.inbox.accept(row(id, session));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    for (const id of ["in1", "in3", "nothing"])
      expect(await store.turns.endUnbegun(unbegun("t2", "in2", id))).toBe(false);
    expect(await open(store)).toEqual(["in1 t1", "in2 -", "in3 -"]);
    expect(await store.turns.get("t2" as TurnId)).toBeNull();
  });

  test("an end without a turn leaves the session file as settled as it was", async () => {
    await using world = await opened();
    const { store } = world;
    for (const id of ["in1", "in2", "in3"]) await store.inbox.accept(row(id, "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1"));
    await store.turns.endUnbegun(unbegun("t2", "in2"));
    expect((await store.turns.begin(turn("t3", "a", ["in3"]))).sessionFile.settledBytes).toBe(100);
  });
}

function overflowing(opened: () => Promise<StoreWorld>): void {
  test("of what came to a full session, each chat shows its newest and counts the others, after a restart too", async () => {
    await using world = await opened();
    const { store } = world;
    const hidden: unknown[] = [];
    for (const said of [overflow("o1"), overflow("o2"), overflow("p1", "a", "7"), overflow("o3"), overflow("o4")])
      hidden.push(((await store.inbox.accept(said)) as { hidden: unknown }).hidden);
    expect(hidden).toEqual([null, null, null, "o1", "o2"]);
    expect(await open(await world.reopen())).toEqual(["p1 - 0", "o3 - 2", "o4 - 0"]);
  });

  test("a turn takes all of its chat's overflow, shown or counted, up to the one it knows, and ends it", async () => {
    await using world = await opened();
    const { store } = world;
    for (const said of [overflow("o1"), overflow("o2"), overflow("o3"), overflow("p1", "a", "7"), overflow("q1", "b")])
      await store.inbox.accept(said);
    await store.inbox.accept(overflow("o4"));
    const known = { through: "o3" as InboxId, chat: HERE };
    await store.turns.begin({ ...turn("t1", "a", ["o3"]), overflow: known });
    const again = await world.reopen();
    expect(await open(again)).toEqual(["o3 t1 2", "p1 - 0", "q1 - 0", "o4 - 0"]);
    await again.turns.finish(end("t1"));
    expect(await open(again)).toEqual(["p1 - 0", "q1 - 0", "o4 - 0"]);
    const { items } = await again.sessions.transcript(sessionKey("a"), { limit: 50 });
    expect(items.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual(["o1", "o2", "o3", "p1", "o4"]);
  });
}
