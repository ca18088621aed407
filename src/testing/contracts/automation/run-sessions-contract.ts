/** What every store promises about sessions that runs leave behind: which go, which stay, and what goes with them. */
import { describe, expect, test } from "bun:test";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { DropRule } from "../../../contracts/store/run-sessions.ts";
import { end, row, type StoreWorld, turn } from "../store/store-world.ts";

type Open = () => Promise<StoreWorld>;
const keyOf = (job: string, run: number) => `agent:default:cron:${job}:run:run_${run}` as SessionKey;
const CRON = { channel: "cron", account: "default", chat: "home", thread: "silent:tea" } as const;
const ALL = { before: 1_000_000, keepPerJob: 1, limit: 50, from: null };

/** A run that is over, its reply delivered; without `left`, at whatever stage that names. */
async function addRun(
  store: Store,
  job: string,
  run: number,
  left?: "waiting" | "running" | "undelivered",
): Promise<void> {
  const [sessionKey, id, name] = [keyOf(job, run), `in-${job}-${run}` as InboxId, `t-${job}-${run}`];
  const entry = row(id, "x", { eventId: `cron:${job}:${run}`, address: CRON, origin: "cron" });
  await store.inbox.accept({ ...entry, sessionKey });
  if (left === "waiting") return;
  await store.turns.begin({ ...turn(name, "x", [id]), sessionKey });
  if (left === "running") return;
  await store.turns.finish(end(name, { to: CRON }));
  if (left !== "undelivered") await store.outbox.markSent(`${name}:0`, 4_000);
}

const left = async (store: Store): Promise<readonly string[]> => {
  const { items } = await store.sessions.list({ channel: "cron" }, { limit: 50 });
  return items.map(({ key }) => key.replace(/^agent:default:cron:(.*):run:run_/, "$1 ")).toSorted();
};

export function runSessionsContract(name: string, open: Open): void {
  describe(name, () => {
    test("the newest of each job stay, and so do those in which something happened lately", async () => {
      await using world = await open();
      for (const run of [1, 2, 3, 4]) await addRun(world.store, "tea", run);
      await addRun(world.store, "cat", 1);
      expect(await world.store.runSessions.drop({ ...ALL, before: 500 })).toEqual({ dropped: 0, next: null });
      expect(await world.store.runSessions.drop({ ...ALL, keepPerJob: 2 })).toEqual({ dropped: 2, next: null });
      expect(await left(world.store)).toEqual(["cat 1", "tea 3", "tea 4"]);
    });

    test("all that belongs to one goes, and its file is named until it is gone, over a crash too", async () => {
      await using world = await open();
      const { turns, sessions, inbox, runSessions } = world.store;
      for (const run of [1, 2]) await addRun(world.store, "tea", run);
      const begun = await turns.resultOf("in-tea-1" as InboxId);
      expect(begun?.content).toBe("answer of t-tea-1");
      await runSessions.drop(ALL);
      expect([await turns.resultOf("in-tea-1" as InboxId), await sessions.get(keyOf("tea", 1))]).toEqual([null, null]);
      expect(await inbox.unfinished()).toEqual([]);
      const store = await world.reopen();
      const [file = "", ...more] = await store.runSessions.deadFiles(10);
      expect([file, more]).toEqual([expect.stringMatching(/\.jsonl$/), []]);
      await store.runSessions.fileGone(file);
      expect(await store.runSessions.deadFiles(10)).toEqual([]);
    });

    test.each(["waiting", "running", "undelivered"] as const)("one that is %s stays", async (stage) => {
      await using world = await open();
      await addRun(world.store, "tea", 1, stage);
      await addRun(world.store, "tea", 2);
      expect(await world.store.runSessions.drop(ALL)).toEqual({ dropped: 0, next: null });
      expect(await left(world.store)).toEqual(["tea 1", "tea 2"]);
    });

    test("many are looked at a few at a time, oldest first, and none is left out", async () => {
      await using world = await open();
      for (const job of ["tea", "cat"]) for (const run of [1, 2, 3, 4]) await addRun(world.store, job, run);
      const goes: number[] = [];
      for (let from: DropRule["from"] = null, more = true; more;) {
        const { dropped, next } = await world.store.runSessions.drop({ ...ALL, keepPerJob: 2, limit: 3, from });
        goes.push(dropped);
        more = next !== null;
        from = next;
      }
      expect(goes.reduce((sum, dropped) => sum + dropped, 0)).toBe(4);
      expect(goes.length).toBe(3);
      expect(await left(world.store)).toEqual(["cat 3", "cat 4", "tea 3", "tea 4"]);
    });

    staysForPeople(open);
  });
}

function staysForPeople(open: Open): void {
  test("one that a person has spoken in, or named, stays", async () => {
    await using world = await open();
    const { store } = world;
    for (const run of [1, 2, 3]) await addRun(store, "tea", run);
    const id = "in-person" as InboxId;
    await store.inbox.accept({ ...row(id, "x"), sessionKey: keyOf("tea", 1) });
    await store.turns.begin({ ...turn("t-person", "x", [id]), sessionKey: keyOf("tea", 1) });
    await store.turns.finish(end("t-person"));
    await store.outbox.markSent("t-person:0", 4_000);
    await store.sessions.rename(keyOf("tea", 2), "The good tea");
    expect(await store.runSessions.drop(ALL)).toEqual({ dropped: 0, next: null });
    expect(await left(store)).toEqual(["tea 1", "tea 2", "tea 3"]);
  });

  test("sessions of people are no sessions of runs", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a:run:1"));
    await world.store.turns.begin(turn("t1", "a:run:1", ["in1"]));
    await world.store.turns.finish(end("t1" as TurnId));
    await world.store.outbox.markSent("t1:0", 4_000);
    expect(await world.store.runSessions.drop({ ...ALL, keepPerJob: 1 })).toEqual({ dropped: 0, next: null });
  });
}
