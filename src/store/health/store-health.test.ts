/** Whether the store says that it takes writes, on a database that runs out of room and on one that fails. */
import { expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { row } from "../../testing/contracts/store/store-world.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { blankDisk } from "../../testing/disk.ts";
import { Database } from "bun:sqlite";
import { assemble, UNSEALED } from "../assemble.ts";
import { type Control, createSql } from "../sqlite-sql.ts";

function fixture(noRoom = false) {
  const db = Database.deserialize(blankDisk());
  const plain = createSql(db);
  let error: string | null = null;
  let abandoned = 0;
  const sql = {
    ...plain,
    get inTransaction() {
      return db.inTransaction;
    },
    control(text: Control) {
      if (text === "commit" && error !== null) throw Object.assign(new Error("no room"), { code: error });
      plain.control(text);
    },
    abandon: () => void abandoned++,
  };
  const clean = () => db.prepare("select value from meta where key = 'clean'").values()[0]?.[0];
  const store = assemble({ clock: systemClock, ids: createSeqIds(), log: recordingLog() }, sql, "", {
    ...UNSEALED,
    noRoom: () => noRoom,
  });
  return { store, clean, failWith: (code: string | null) => void (error = code), abandoned: () => abandoned };
}

test.each([
  ["disk is full", "SQLITE_FULL", "no room"],
  ["quota is used up", "SQLITE_IOERR_WRITE", "disk or quota is full"],
])(
  "a store whose %s is not writable until a write succeeds, and finds that out by itself",
  async (_what, code, said) => {
    const { store, failWith } = fixture(true);
    expect([await store.health.isWritable(), store.health.notices()]).toEqual([true, []]);
    failWith(code);
    await expect(store.inbox.accept(row("in1", "a"))).rejects.toMatchObject({ code: "store_failed" });
    expect([await store.health.isWritable(), store.health.hasFailed()]).toEqual([false, false]);
    expect(store.health.notices()).toEqual([
      `The database cannot be written to (${said}); nothing is accepted until it can. Make room on the disk.`,
    ]);
    failWith(null);
    expect(await Promise.all([store.health.isWritable(), store.health.isWritable()])).toEqual([true, true]);
    expect(store.health.notices()).toEqual([]);
    await store[Symbol.asyncDispose]();
  },
);

test("a store after an I/O error stays unwritable, asks for the end of the process, and closes without a checkpoint", async () => {
  const { store, failWith, clean, abandoned } = fixture();
  failWith("SQLITE_IOERR_FSYNC");
  await expect(store.inbox.accept(row("in1", "a"))).rejects.toMatchObject({ code: "store_failed" });
  failWith(null);
  expect([await store.health.isWritable(), store.health.hasFailed()]).toEqual([false, true]);
  expect(await store.health.failed).toMatchObject({ code: "store_failed", cause: { code: "SQLITE_IOERR_FSYNC" } });
  expect(store.health.notices()).toEqual([expect.stringContaining("The gateway ends")]);
  await store[Symbol.asyncDispose]();
  expect([clean(), abandoned()]).toEqual([0, 1]);
});
