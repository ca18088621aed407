/** What going back in a session, and branching off one, promises. */
import { expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { end, intent, type OpenStoreWorld, OPERATOR, row, sessionKey, turn } from "./store-world.ts";

const A = sessionKey("a");
const B = sessionKey("b");
const C = sessionKey("c");

/** One question and its answer; the file grows by 100 bytes with each turn. */
async function talk(store: Store, session: string, name: string, bytes: number): Promise<void> {
  await store.inbox.accept(row(`in-${name}`, session, { text: `question ${name}` }));
  await store.turns.begin(turn(`t-${name}`, session, [`in-${name}`]));
  await store.turns.finish(end(`t-${name}`, { settledBytes: bytes }));
}

const shown = async (store: Store, key: SessionKey, limit = 50): Promise<readonly string[]> => {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.sessions.transcript(key, { limit, ...(cursor === undefined ? {} : { cursor }) });
    ids.unshift(...page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return ids;
};
const said = (...names: readonly string[]) => names.flatMap((name) => [`in-${name}`, `t-${name}:0`]);
const found = async (store: Store, words: string) =>
  (await store.sessions.searchMessages({ words }, { limit: 10 })).items.map(({ id }) => id);
const branchOf = (from: SessionKey, turnId: string, key: SessionKey) => ({
  from,
  turnId: turnId as TurnId,
  key,
  channel: "webchat",
  person: OPERATOR,
  title: "Plants (branch)",
  file: { name: `file-of-${key.slice(-1)}-12345.jsonl`, bytes: 300 },
  at: 9_000,
});

export function sessionBranchPromises(open: OpenStoreWorld): void {
  test("a message, its reply and its tool call lead to one place: their turn with its session file before and after", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "1", 200);
    await store.inbox.accept(row("in-2", "a"));
    const { sessionFile } = await store.turns.begin(turn("t-2", "a", ["in-2"]));
    await store.toolCalls.intend({ ...intent("c-2", "t-2", true), sessionKey: A });
    const running = await store.sessions.branches.place(A, "in-2");
    expect(running).toMatchObject({ turnId: "t-2", beganBytes: 200, settledBytes: null, endedAt: null });
    await store.turns.finish(end("t-2", { settledBytes: 300 }));
    const place = await store.sessions.branches.place(A, "in-2");
    expect(place).toMatchObject({ beganBytes: 200, settledBytes: 300, endedAt: 3_000 });
    expect(place?.file).toBe(sessionFile.name);
    expect(place?.said.map(({ id }) => id)).toEqual(["in-2"]);
    for (const id of ["t-2:0", "c-2"]) expect(await store.sessions.branches.place(A, id)).toEqual(place);
    expect(await store.sessions.branches.place(B, "in-2")).toBeNull();
    expect(await store.sessions.branches.place(A, "nothing")).toBeNull();
  });

  test("a session that goes back shows and finds nothing of what came after, and begins its next turn with the other file", async () => {
    await using world = await open();
    const { store } = world;
    for (const [name, bytes] of [
      ["1", 200],
      ["2", 300],
      ["3", 400],
    ] as const)
      await talk(store, "a", name, bytes);
    const data = new Uint8Array(200).fill(10);
    const digest = new Bun.CryptoHasher("sha256").update(data).digest("hex");
    const change = { name: "copied-file-1.jsonl", grownFrom: null, from: 0, data, digest };
    const file = { name: "copied-file-1.jsonl", bytes: 200, change };
    const to = { turnId: "t-2" as TurnId, file, at: 5_000 };
    const rewound = await store.sessions.branches.rewind(A, to);
    expect(rewound).toEqual({ kind: "rewound", hidden: [...said("3"), ...said("2")] });
    const stored = await store.sessionFiles.find("copied-file-1.jsonl");
    expect(store.sessionFiles.isLocal ? null : stored?.digest).toBe(store.sessionFiles.isLocal ? null : digest);
    expect(await shown(store, A)).toEqual(said("1"));
    expect(await shown(store, A, 1)).toEqual(said("1"));
    expect(await found(store, "question")).toEqual(["in-1"]);
    expect(await store.sessions.branches.rewind(A, to)).toEqual({ kind: "gone" });
    expect(await store.sessions.branches.place(A, "in-2")).toBeNull();
    const reopened = await world.reopen();
    await reopened.inbox.accept(row("in-4", "a"));
    const begun = await reopened.turns.begin(turn("t-4", "a", ["in-4"]));
    expect(begun.sessionFile).toEqual({ name: "copied-file-1.jsonl", settledBytes: 200 });
    await reopened.turns.finish(end("t-4"));
    expect(await shown(reopened, A)).toEqual(said("1", "4"));
    const kept = await reopened.conversations.list({ sessionKey: A, agentId: "default" as never, principal: null }, 5);
    expect(kept.map(({ turns }) => turns)).toEqual([3]);
    expect((await reopened.turns.get("t-3" as TurnId))?.turn.usage.costUsd).toBe(0.25);
  });

  test("a session that goes back to its beginning has an empty memory and takes its title from the next message, unless it has a name", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "1", 200);
    await talk(store, "b", "2", 200);
    await store.sessions.rename(B, "Herbs");
    for (const [key, name] of [
      [A, "1"],
      [B, "2"],
    ] as const)
      await store.sessions.branches.rewind(key, { turnId: `t-${name}` as TurnId, file: null, at: 5_000 });
    await store.inbox.accept(row("in-3", "a", { text: "another question" }));
    expect((await store.sessions.get(A))?.title).toBe("another question");
    expect((await store.sessions.get(B))?.title).toBe("Herbs");
    const begun = await store.turns.begin(turn("t-3", "a", ["in-3"]));
    expect(begun.sessionFile.settledBytes).toBe(0);
  });

  test("a session in which a turn runs or a message waits does not go back", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "1", 200);
    await store.inbox.accept(row("in-2", "a"));
    const to = { turnId: "t-1" as TurnId, file: null, at: 5_000 };
    expect(await store.sessions.branches.rewind(A, to)).toEqual({ kind: "busy" });
    await store.turns.begin(turn("t-2", "a", ["in-2"]));
    expect(await store.sessions.branches.rewind(A, to)).toEqual({ kind: "busy" });
    expect(await shown(store, A)).toContain("in-1");
  });

  test("a branch shows what was said up to its turn, whatever becomes of the other session, and has its settings", async () => {
    await using world = await open();
    const { store } = world;
    for (const [name, bytes] of [
      ["1", 200],
      ["2", 300],
      ["3", 400],
    ] as const)
      await talk(store, "a", name, bytes);
    await store.sessions.configure(A, { model: "fake/two", thinking: "high" });
    expect(await store.sessions.branches.branch(branchOf(A, "t-2", B))).toBe(true);
    expect(await store.sessions.branches.branch(branchOf(A, "t-2", B))).toBe(false);
    expect(await store.sessions.get(B)).toMatchObject({
      title: "Plants (branch)",
      model: "fake/two",
      thinking: "high",
    });
    expect((await store.sessions.list({}, { limit: 5 })).items.map(({ key }) => key)).toContain(B);
    expect(await shown(store, B)).toEqual(said("1", "2"));
    await talk(store, "b", "4", 400);
    expect(await shown(store, B, 1)).toEqual(said("1", "2", "4"));
    expect(await shown(store, A)).toEqual(said("1", "2", "3"));
    await store.sessions.branches.rewind(A, { turnId: "t-1" as TurnId, file: null, at: 10_000 });
    expect(await shown(store, A)).toEqual([]);
    expect(await shown(store, B)).toEqual(said("1", "2", "4"));
    await store.sessions.remove(A);
    expect(await shown(store, B)).toEqual(said("4"));
  });

  test("a branch goes back into what it has of the other session, which stays as it is, and a branch of a branch has both", async () => {
    await using world = await open();
    const { store } = world;
    for (const [name, bytes] of [
      ["1", 200],
      ["2", 300],
    ] as const)
      await talk(store, "a", name, bytes);
    await store.sessions.branches.branch(branchOf(A, "t-2", B));
    await talk(store, "b", "3", 400);
    await store.sessions.branches.branch({ ...branchOf(B, "t-3", C), at: 9_500 });
    await talk(store, "c", "4", 500);
    expect(await shown(store, C)).toEqual(said("1", "2", "3", "4"));
    expect(await store.sessions.branches.place(C, "in-2")).toMatchObject({ turnId: "t-2", beganBytes: 200 });
    const to = { turnId: "t-2" as TurnId, file: null, at: 9_800 };
    expect(await store.sessions.branches.rewind(C, to)).toMatchObject({ kind: "rewound" });
    expect(await shown(store, C)).toEqual(said("1"));
    expect(await store.sessions.branches.place(C, "in-3")).toBeNull();
    expect([await shown(store, A), await shown(store, B)]).toEqual([said("1", "2"), said("1", "2", "3")]);
    const D = sessionKey("d");
    await store.sessions.branches.branch({ ...branchOf(C, "t-1", D), at: 9_900 });
    expect(await shown(store, D)).toEqual(said("1"));
  });

  test("a session that was only opened has its settings and is not listed before something is said in it", async () => {
    await using world = await open();
    const { store } = world;
    const unused = { key: A, channel: "webchat", agentId: "default" as never, person: OPERATOR, at: 1_000 };
    await store.sessions.open(unused);
    await store.sessions.open(unused);
    await store.sessions.configure(A, { model: "fake/two" });
    const listed = async () =>
      (await store.sessions.list({}, { limit: 5 })).items.map(({ key, title }) => [key, title]);
    expect(await listed()).toEqual([]);
    await talk(store, "a", "1", 200);
    expect(await listed()).toEqual([[A, "question 1"]]);
    expect((await store.sessions.get(A))?.model).toBe("fake/two");
    await store.sessions.open(unused);
    expect(await shown(store, A)).toEqual(said("1"));
  });
}
