/** Shared commits: how many there are, who loses when one fails, and what a full disk does. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createGroupCommit, MAX_BATCH, MAX_WAITING, SOON_MS } from "./group-commit.ts";
import { type Control, createSql, type SqliteSql } from "./sqlite-sql.ts";
import type { Steps } from "./steps.ts";

/** A write as row code has it, from one that needs no answers. */
function steps<T>(run: () => T): () => Steps<T> {
  // oxlint-disable-next-line require-yield -- the answer is there at once
  return function* () {
    return run();
  };
}

function fixture() {
  const db = new Database(":memory:");
  db.exec("create table notes (n integer unique)");
  const plain = createSql(db);
  const said: Control[] = [];
  const failOn = new Map<Control, Error>();
  const sql: SqliteSql = {
    ...plain,
    get inTransaction() {
      return db.inTransaction;
    },
    control(text) {
      said.push(text);
      const error = failOn.get(text);
      if (error) throw error;
      plain.control(text);
    },
  };
  const log = recordingLog();
  const clock = createFakeClock();
  const commits = createGroupCommit({ clock, sql, log, noRoom: () => false });
  return {
    db,
    clock,
    log,
    said,
    failOn,
    commits,
    insert: (n: number) => db.prepare("insert into notes values (?)").run(n).changes,
    add: (n: number) => commits.write(steps(() => db.prepare("insert into notes values (?)").run(n).changes)),
    notes: () => db.prepare("select n from notes order by n").values().flat(),
    count: (text: Control) => said.filter((one) => one === text).length,
    words: () => log.lines.map(({ words }) => words),
    [Symbol.dispose]: () => db.close(),
  };
}

test("writes of one tick share one commit", async () => {
  using fx = fixture();
  await Promise.all(Array.from({ length: 50 }, (_, n) => fx.add(n)));
  expect([fx.count("commit"), fx.notes().length]).toEqual([1, 50]);
});

test("writes that come from separate callbacks of one tick share one commit", async () => {
  using fx = fixture();
  const callbacks = [1, 2, 3].map((n) =>
    Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => fx.add(n)),
  );
  await Promise.all(callbacks);
  expect(fx.count("commit")).toBe(1);
});

test("a writer is not told before the commit", async () => {
  using fx = fixture();
  const told: string[] = [];
  const write = fx.add(1).then(() => told.push(`told after ${fx.said.join(", ")}`));
  expect(told).toEqual([]);
  await write;
  expect(told).toEqual(["told after begin immediate, commit"]);
});

test("a write that throws loses only itself, and its half-done work with it", async () => {
  using fx = fixture();
  const broken = fx.commits.write(
    steps(() => {
      fx.db.prepare("insert into notes values (2)").run();
      throw new GatewayError("conflict", "changed its mind");
    }),
  );
  const results = await Promise.allSettled([fx.add(1), broken, fx.add(3), fx.add(3)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
  await expect(broken).rejects.toMatchObject({ code: "conflict" });
  expect([fx.notes(), fx.count("commit")]).toEqual([[1, 3], 1]);
});

test("a batch has a limit, and what is over it goes into the next one", async () => {
  using fx = fixture();
  await Promise.all(Array.from({ length: MAX_BATCH + 1 }, (_, n) => fx.add(n)));
  expect([fx.count("commit"), fx.notes().length]).toEqual([2, MAX_BATCH + 1]);
});

test("writes that wait have a limit: one more is rejected at once, and those that wait are still written", async () => {
  using fx = fixture();
  const writes = Array.from({ length: MAX_WAITING }, () => fx.commits.write(steps(() => 1)));
  await expect(fx.add(1)).rejects.toMatchObject({
    code: "store_failed",
    cause: { message: "too many writes are waiting" },
  });
  expect((await Promise.all(writes)).length).toBe(MAX_WAITING);
  expect(await fx.add(2)).toBe(1);
});

for (const step of ["begin immediate", "commit"] as const) {
  test(`when ${step} fails nobody is told yes, the log says so once, and later writes work`, async () => {
    using fx = fixture();
    fx.failOn.set(step, new Error("the disk is gone"));
    for (const round of [1, 2]) {
      const results = await Promise.allSettled([fx.add(round), fx.add(round + 10)]);
      for (const result of results)
        expect(result).toMatchObject({
          status: "rejected",
          reason: { code: "store_failed", cause: { message: "the disk is gone" } },
        });
    }
    expect([fx.notes(), fx.words()]).toEqual([[], ["store cannot write"]]);
    fx.failOn.clear();
    await fx.add(1);
    expect([fx.notes(), fx.words()]).toEqual([[1], ["store cannot write", "store writes again"]]);
  });
}

function sqliteError(code: string): Error {
  return Object.assign(new Error("disk I/O error"), { code });
}

/** Every step of a write at which the disk can fail. */
const STEPS: readonly Control[] = ["begin immediate", "commit", "pragma synchronous = normal"];

test.each(STEPS)("an I/O error at %s ends acknowledging: nothing is written or told yes after it", async (step) => {
  using fx = fixture();
  const kept = await fx.add(1);
  fx.failOn.set(step, sqliteError("SQLITE_IOERR_FSYNC"));
  const add = (n: number) =>
    fx.commits.write(
      steps(() => fx.insert(n)),
      "with the next",
    );
  const batch = [add(2), add(3)];
  const queued = Array.from({ length: MAX_BATCH }, (_, n) => add(100 + n)); // waits behind the batch that fails
  const results = await Promise.allSettled([...batch, ...queued]);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  fx.failOn.clear(); // as after a failed fsync: the next one succeeds
  await expect(fx.add(4)).rejects.toMatchObject({ code: "store_failed", cause: { code: "SQLITE_IOERR_FSYNC" } });
  expect([kept, fx.notes(), fx.commits.isBroken()]).toEqual([1, [1], true]);
  expect(await fx.commits.broken).toMatchObject({ code: "store_failed" });
  fx.commits.close();
  expect([fx.notes(), fx.words()]).toEqual([[1], ["store cannot write"]]);
});

test("an I/O error inside a write ends acknowledging, also for the other writes of its batch", async () => {
  using fx = fixture();
  const failing = () =>
    fx.commits.write(
      steps(() => {
        throw sqliteError("SQLITE_IOERR_WRITE");
      }),
    );
  await Promise.allSettled([failing()]);
  expect(fx.commits.isBroken()).toBe(true);
  using other = fixture();
  const results = await Promise.allSettled([
    other.add(1),
    other.commits.write(
      steps(() => {
        throw sqliteError("SQLITE_CORRUPT");
      }),
    ),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([other.commits.isBroken(), other.notes()]).toEqual([true, []]);
});

test("a transaction that cannot be rolled back ends acknowledging, whatever made it fail", async () => {
  using fx = fixture();
  fx.failOn.set("commit", sqliteError("SQLITE_FULL")).set("rollback", sqliteError("SQLITE_ERROR"));
  await expect(fx.add(1)).rejects.toMatchObject({ cause: { cause: { code: "SQLITE_FULL" } } });
  expect(fx.commits.isBroken()).toBe(true);
});

test("a write that breaks a rule of the tables is its own fault and leaves the store writable", async () => {
  using fx = fixture();
  await fx.add(1);
  await expect(fx.add(1)).rejects.toMatchObject({ code: "store_failed" });
  expect([fx.commits.fault(), fx.commits.isBroken(), fx.words()]).toEqual([null, false, []]);
});

test("a full disk refuses writes, keeps what was committed, and works again when there is room", async () => {
  using fx = fixture();
  fx.db.exec("create table pages (body text)");
  const addPage = () =>
    fx.commits.write(steps(() => fx.db.prepare("insert into pages values (?)").run("x".repeat(50_000)).changes));
  await addPage();
  fx.db.exec(`pragma max_page_count = ${Number(fx.db.prepare("pragma page_count").values()[0]?.[0]) + 2}`);
  for (const group of [[addPage()], [addPage(), addPage()], [addPage(), fx.add(1)]])
    expect((await Promise.allSettled(group))[0]).toMatchObject({
      status: "rejected",
      reason: { code: "store_failed", cause: { code: "SQLITE_FULL" } },
    });
  expect(fx.db.prepare("select count(*) from pages").values()).toEqual([[1]]);
  fx.db.exec("pragma max_page_count = 1000000");
  expect(await addPage()).toBe(1);
  expect(fx.words()).toEqual(["store cannot write", "store writes again"]);
});

test("closing commits what was asked for and takes nothing more", async () => {
  using fx = fixture();
  const last = fx.add(1);
  fx.commits.close();
  expect(fx.notes()).toEqual([1]);
  expect(await last).toBe(1);
  await expect(fx.add(2)).rejects.toMatchObject({ code: "stopping" });
});

test("closing commits every batch that waits, not only the first", async () => {
  using fx = fixture();
  const count = 2 * MAX_BATCH + 1;
  const writes = Array.from({ length: count }, (_, n) => fx.add(n));
  fx.commits.close();
  expect([fx.count("commit"), fx.notes().length]).toEqual([3, count]);
  expect((await Promise.all(writes)).length).toBe(count);
});

test("a write that may wait for the next fsync is in the file at once and does not weaken the one after it", async () => {
  using fx = fixture();
  const level = () => (fx.db.prepare("pragma synchronous").get() as { synchronous: number }).synchronous;
  await fx.commits.write(
    steps(() => fx.db.prepare("insert into notes values (1)").run().changes),
    "with the next",
  );
  expect(level()).toBe(1);
  const both = [
    fx.commits.write(
      steps(() => level()),
      "with the next",
    ),
    fx.commits.write(steps(() => level())),
  ];
  expect(await Promise.all(both)).toEqual([2, 2]);
});

test("a write that may be lost shares the commit of the next write, in the order in which they were asked for", async () => {
  using fx = fixture();
  const order: number[] = [];
  const lost = fx.commits.write(
    steps(() => order.push(1)),
    "soon",
  );
  await Bun.sleep(0);
  expect([order, fx.count("commit")]).toEqual([[], 0]);
  await fx.commits.write(steps(() => order.push(2)));
  await lost;
  expect([order, fx.count("commit")]).toEqual([[1, 2], 1]);
  await fx.clock.advance(SOON_MS);
  expect(fx.count("commit")).toBe(1);
});

test("a write that may be lost is committed by itself after a moment, with all that waited as long, and does not wait for the disk", async () => {
  using fx = fixture();
  const write = (n: number) =>
    fx.commits.write(
      steps(() => fx.insert(n)),
      "soon",
    );
  const both = [write(1), write(2)];
  await fx.clock.advance(SOON_MS - 1);
  expect(fx.notes()).toEqual([]);
  await fx.clock.advance(1);
  await Promise.all(both);
  expect([fx.notes(), fx.count("commit"), fx.count("pragma synchronous = normal")]).toEqual([[1, 2], 1, 1]);
  const next = write(3);
  await fx.clock.advance(SOON_MS);
  expect(await next).toBe(1);
});

test("a write that may be lost waits its whole moment, also where one before it was taken along earlier", async () => {
  using fx = fixture();
  const write = (n: number) =>
    fx.commits.write(
      steps(() => fx.insert(n)),
      "soon",
    );
  const taken = write(1);
  await fx.add(2);
  await taken;
  await fx.clock.advance(SOON_MS - 1);
  const later = write(3);
  await fx.clock.advance(SOON_MS - 1);
  expect(fx.notes()).toEqual([1, 2]);
  await fx.clock.advance(1);
  expect([await later, fx.count("commit")]).toEqual([1, 2]);
});

test("closing commits what may be lost as well", async () => {
  using fx = fixture();
  const last = fx.commits.write(
    steps(() => fx.insert(1)),
    "soon",
  );
  fx.commits.close();
  expect([await last, fx.notes()]).toEqual([1, [1]]);
});
