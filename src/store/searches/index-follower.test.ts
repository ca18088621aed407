/** The full-text index behind the messages: nothing waits for it when a message is stored, and a search finds everything that is. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { InboxId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { end, row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";
import { BEHIND_MS, createIndexFollower, MAX_GOES, RETRY_MS } from "./index-follower.ts";

async function world() {
  const home = await tempHome();
  const clock = createFakeClock();
  const open = () => openStore({ clock, ids: createSeqIds(), log: recordingLog() }, { home: home.path });
  /** Numbers of what is in the index. */
  const indexed = (): readonly number[] => {
    using db = new Database(join(home.path, "gateway.db"), { readonly: true });
    return db
      .query<{ id: number }, []>("select id from message_index_docsize order by id")
      .all()
      .map(({ id }) => id);
  };
  return { clock, open, indexed, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

const say = (store: Store, n: number, text = `word${n}x`) => store.inbox.accept(row(`in${n}`, "a", { text }));
const find = async (store: Store, words: string): Promise<readonly string[]> =>
  (await store.sessions.searchMessages({ words }, { limit: 10 })).items.map(({ id }) => String(id));

describe("the full-text index", () => {
  test("has a message a little after it was stored, and not with it", async () => {
    await using at = await world();
    await using store = await at.open();
    await say(store, 1);
    expect(at.indexed()).toEqual([]);
    await at.clock.advance(BEHIND_MS);
    expect(at.indexed()).toEqual([2]);
    expect(at.clock.pending()).toBe(0);
  });

  test("has everything that was stored before a search began, messages and replies", async () => {
    await using at = await world();
    await using store = await at.open();
    for (let n = 1; n <= 150; n++) await say(store, n);
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1"));
    expect([await find(store, "word150x"), await find(store, "word1x"), await find(store, "answer")]).toEqual([
      ["in150"],
      ["in1"],
      ["t1:0"],
    ]);
  });

  test("has messages that were stored right before a crash soon after the next start", async () => {
    await using at = await world();
    const killed = await at.open();
    await say(killed, 1);
    await using _after = await at.open(); // as if the first had never ended in order
    expect(at.indexed()).toEqual([]);
    await at.clock.advance(BEHIND_MS);
    expect(at.indexed()).toEqual([2]);
    await killed[Symbol.asyncDispose]();
  });

  test("has the text that a message has, whether it was changed before or after it came in", async () => {
    await using at = await world();
    await using store = await at.open();
    await say(store, 1, "first early");
    await say(store, 2, "first late");
    await store.inbox.rewrite("in1" as InboxId, "second early", 1);
    await at.clock.advance(BEHIND_MS);
    await store.inbox.rewrite("in2" as InboxId, "second late", 2);
    expect([await find(store, "first"), await find(store, "second")]).toEqual([[], ["in2", "in1"]]);
  });

  test("has a message whose number was that of one that was deleted", async () => {
    await using at = await world();
    await using store = await at.open();
    await store.inbox.accept(row("old", "b", { text: "stays" }));
    for (const n of [1, 2, 3]) await say(store, n);
    await store.turns.begin(turn("t1", "a", ["in1", "in2", "in3"]));
    await store.turns.finish(end("t1"));
    await at.clock.advance(BEHIND_MS);
    expect(at.indexed()).toEqual([2, 3, 4, 6, 8]);
    expect(await store.sessions.remove(sessionKey("a"))).toMatchObject({ kind: "removed" });
    expect(at.indexed()).toEqual([2]);
    await say(store, 4);
    await say(store, 5);
    expect([await find(store, "word4x"), await find(store, "word5x"), await find(store, "word1x")]).toEqual([
      ["in4"],
      ["in5"],
      [],
    ]);
  });
});

describe("whoever follows", () => {
  const follower = (goes: (() => Promise<boolean>)[]) => {
    const clock = createFakeClock();
    const log = recordingLog();
    const made = { asked: 0 };
    const fillSome = async (): Promise<boolean> => {
      made.asked++;
      return (await goes.shift()?.()) ?? false;
    };
    return { clock, log, made, follower: createIndexFollower({ clock, log, fillSome }) };
  };

  test("looks once for many writes, and again for what came while it worked", async () => {
    const at = follower([]);
    for (let n = 0; n < 10; n++) at.follower.followSoon();
    await at.clock.advance(BEHIND_MS);
    expect(at.made.asked).toBe(1);
    at.follower.followSoon();
    await at.clock.advance(BEHIND_MS);
    expect(at.made.asked).toBe(2);
  });

  test("says once that it cannot write, and tries again until it can", async () => {
    const fail = () => Promise.reject(new Error("disk full"));
    const at = follower([fail, fail, async () => false]);
    at.follower.followSoon();
    await at.clock.advance(BEHIND_MS);
    for (let n = 0; n < 3; n++) await at.clock.advance(RETRY_MS);
    expect([at.made.asked, at.clock.pending(), at.log.lines.map(({ words }) => words)]).toEqual([
      3,
      0,
      ["new messages could not be put into the full-text index yet"],
    ]);
  });

  test("lets a search begin after a limited number of goes", async () => {
    const at = follower(Array.from({ length: MAX_GOES + 5 }, () => async () => true));
    await at.follower.catchUp();
    expect(at.made.asked).toBe(MAX_GOES);
  });

  test("lets a search find what there is when the disk is full, and tries again later", async () => {
    const at = follower([() => Promise.reject(new Error("disk full")), async () => false]);
    await at.follower.catchUp();
    expect([at.made.asked, at.clock.pending()]).toEqual([1, 1]);
    await at.clock.advance(RETRY_MS);
    expect([at.made.asked, at.clock.pending()]).toEqual([2, 0]);
  });

  test("fills a large rest once, however many messages come meanwhile", async () => {
    const at = follower(Array.from({ length: 5_000 }, () => async () => true));
    for (let n = 0; n < 5; n++) {
      at.follower.followSoon();
      await at.clock.advance(BEHIND_MS);
    }
    const before = at.made.asked;
    await at.clock.advance(20);
    expect(at.made.asked - before).toBeLessThanOrEqual(1);
  });

  test("leaves nothing behind when the store closes", async () => {
    const at = follower([]);
    at.follower.followSoon();
    at.follower[Symbol.dispose]();
    at.follower.followSoon();
    await at.clock.advance(BEHIND_MS);
    expect([at.made.asked, at.clock.pending(), at.log.lines]).toEqual([0, 0, []]);
  });
});
