/** The check of the whole database after an end that was not clean: in the background, and heard of when it finds something. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";
import { INTEGRITY_DELAY_MS, startIntegrityCheck } from "./integrity-check.ts";

const INDEX_PAGE = 2 * 4_096;

/** A database whose index says something else than its table: readable, well formed, and wrong. */
async function wrongIndex(file: string): Promise<void> {
  {
    using db = new Database(file, { create: true });
    db.exec("create table t (x text); create index by_x on t (x)");
    for (let n = 0; n < 9; n++) db.prepare("insert into t values (?)").run(`value-${n}`);
  }
  const bytes = await readFile(file);
  bytes.write("value-6", bytes.indexOf("value-7", INDEX_PAGE));
  await writeFile(file, bytes);
}

function quickCheck(file: string): unknown {
  using db = new Database(file, { readonly: true });
  return db.prepare("pragma quick_check").values()[0]?.[0];
}

function check(file: string) {
  const log = recordingLog();
  const clock = createFakeClock();
  return {
    log,
    clock,
    check: startIntegrityCheck({ clock, log }, file),
    words: () => log.lines.map(({ words }) => words),
  };
}

test("a database that is in order is checked once the start is over, and the owner hears nothing", async () => {
  await using home = await tempHome();
  const file = join(home.path, "a.db");
  new Database(file, { create: true }).exec("create table t (x)");
  const fx = check(file);
  await fx.clock.advance(INTEGRITY_DELAY_MS - 1);
  expect(fx.words()).toEqual([]);
  await fx.clock.advance(1);
  await fx.check.done;
  expect([fx.words(), fx.check.notice()]).toEqual([["database integrity checked"], null]);
});

test("damage that a quick check does not see is logged and told to the owner", async () => {
  await using home = await tempHome();
  const file = join(home.path, "a.db");
  await wrongIndex(file);
  expect(quickCheck(file)).toBe("ok");
  const fx = check(file);
  await fx.clock.advance(INTEGRITY_DELAY_MS);
  await fx.check.done;
  expect(fx.words()).toEqual(["database integrity check found damage"]);
  expect(fx.check.notice()).toMatch(/is damaged \(.+\)\. Stop the gateway/);
});

test("a database that cannot be read any more is logged as not checked", async () => {
  await using home = await tempHome();
  const fx = check(join(home.path, "nowhere.db"));
  await fx.clock.advance(INTEGRITY_DELAY_MS);
  await fx.check.done;
  expect(fx.words()).toEqual(["database integrity could not be checked"]);
});

test("a check ends with the store, also before it has begun", async () => {
  await using home = await tempHome();
  const fx = check(join(home.path, "nowhere.db"));
  fx.check[Symbol.dispose]();
  await fx.check.done;
  expect([fx.words(), fx.clock.pending()]).toEqual([[], 0]);
});

test("a store is checked after an end that was not clean, and not after a clean one", async () => {
  await using home = await tempHome();
  await using killed = await tempHome();
  const pending = async (path: string): Promise<number> => {
    const clock = createFakeClock();
    await using _store = await openStore({ clock, ids: createSeqIds(), log: recordingLog() }, { home: path });
    for (const name of ["gateway.db", "gateway.db-wal"])
      await writeFile(join(killed.path, name), await readFile(join(path, name)));
    return clock.pending();
  };
  expect([await pending(home.path), await pending(home.path)]).toEqual([0, 0]);
  const clock = createFakeClock();
  await using _after = await openStore({ clock, ids: createSeqIds(), log: recordingLog() }, { home: killed.path });
  expect(clock.pending()).toBe(1);
});
