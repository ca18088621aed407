/** Jobs through crashes, with the shipped engine and SQL; and the same world with bugs that others shipped, which it has to notice. */
import { expect, test } from "bun:test";
import { type Bug, runCrashWorld } from "./crash-world.ts";
import { createChance } from "../../src/testing/chance.ts";

test("every slot has exactly one row and the owner is told of all trouble once, through crashes between any two steps, jumps of the clock and sleep", async () => {
  const { slots, lives, jumps, alerts, wrong } = await runCrashWorld(createChance(1), { jobs: 100, hours: 29 });
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(slots).toBeGreaterThan(45_000);
  expect([lives > 30, jumps > 3, alerts > 3]).toEqual([true, true, true]);
}, 120_000);

const BUGS: Readonly<Record<string, Bug>> = {
  "the next time is moved on before the row is written": (store, { db, between }) => ({
    ...store,
    async fire(fires) {
      for (const { jobId, nextAt } of fires) db.run("update jobs set next_at = ? where id = ?", [nextAt, jobId]);
      await between();
      return store.fire(fires.map((fire) => ({ ...fire, seenNextAt: fire.nextAt ?? 0 })));
    },
  }),
  "looking at what is due moves it on": (store, { db, clock }) => ({
    ...store,
    async nextDueAt() {
      db.run("update jobs set next_at = next_at + 60000 where next_at <= ?", [clock.now()]);
      return store.nextDueAt();
    },
  }),
  "a run that was interrupted counts as running for ever": (store) => ({ ...store, running: async () => [] }),
  "a slot that has a row is written once more": (store, { db, between }) => ({
    ...store,
    async fire(fires) {
      const written = await store.fire(fires);
      await between();
      for (const { jobId, seenNextAt, rows } of fires)
        if (rows.length > 3) db.run("update jobs set next_at = ? where id = ?", [seenNextAt + 30_000, jobId]);
      return written;
    },
  }),
};

test.each(Object.keys(BUGS))(
  "the crash world notices when %s",
  async (name) => {
    const bug = BUGS[name];
    if (!bug) throw new Error("no such bug");
    const { wrong } = await runCrashWorld(createChance(3), { jobs: 12, hours: 3, bug });
    expect(wrong.length).toBeGreaterThan(0);
  },
  60_000,
);
