/** Kills, damage and strangers: what was acknowledged is there, and what cannot be trusted is left exactly as it was. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../contracts/errors.ts";
import { systemClock } from "../kit/clock.ts";
import { row } from "../testing/contracts/store/store-world.ts";
import { startStoreChild } from "../testing/contracts/store/store-child.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { checkStore, openStore } from "./index.ts";
import { APPLICATION_ID, NEWEST_VERSION } from "./migrate.ts";
import { firstMessage } from "./migrations/early/001-first-message.ts";

function deps() {
  return { clock: systemClock, ids: createSeqIds(), log: recordingLog() };
}

const COUNT = 200;

/** Messages that can still be read, if every table but the search index is in order; otherwise null. */
function rowsLeft(file: string): number | null {
  try {
    using db = new Database(file, { readonly: true });
    const tables = db
      .query<{ name: string }, []>(
        "select name from sqlite_schema where type = 'table' and name not like 'message_index%' and name not like 'notes_index%'",
      )
      .all();
    for (const { name } of tables) if (db.query(`pragma quick_check("${name}")`).values()[0]?.[0] !== "ok") return null;
    return db.query<{ n: number }, []>("select count(*) as n from inbox").get()?.n ?? null;
  } catch {
    return null; // not even that can be read
  }
}

/** A home with a database of `count` messages, closed in order. */
async function filledHome(count = 200) {
  const home = await tempHome();
  await using store = await openStore(deps(), { home: home.path });
  await Promise.all(Array.from({ length: count }, (_, n) => store.inbox.accept(row(`in${n}`, `s${n % 7}`))));
  return { ...home, file: join(home.path, "gateway.db") };
}

async function refusalToOpen(home: string): Promise<string | null> {
  try {
    await using _store = await openStore(deps(), { home });
    return null;
  } catch (error) {
    return isGatewayError(error) ? error.code : String(error);
  }
}

async function expectRefusedUntouched(
  home: { readonly path: string; readonly file: string },
  code: string,
): Promise<void> {
  const before = await readFile(home.file);
  expect(await refusalToOpen(home.path)).toBe(code);
  expect((await readFile(home.file)).equals(before)).toBe(true);
}

test("every message that was acknowledged before a kill is there after it", async () => {
  await using home = await tempHome();
  const told = new Set<string>();
  for (let life = 1; life <= 3; life++) {
    await using child = await startStoreChild(["accept", home.path]);
    for (let n = 0; n < 60; n++) told.add((await child.line()) ?? "nothing");
    for (const line of await child.kill()) told.add(line);
  }
  await using store = await openStore(deps(), { home: home.path });
  const kept = new Set((await store.inbox.unfinished()).map(({ id }) => String(id)));
  expect([...told].filter((id) => !kept.has(id))).toEqual([]);
  expect([told.size >= 180, store.epoch]).toEqual([true, 4]);
});

test("a database of a newer version is refused and not touched", async () => {
  await using home = await filledHome();
  const db = new Database(home.file);
  db.exec("pragma user_version = 77");
  db.close(true);
  await expectRefusedUntouched(home, "store_newer");
  expect(await checkStore(home.path)).toMatchObject({
    kind: "newer",
    say: expect.stringContaining("database version 77"),
  });
});

test("a database with a migration that this version does not know is refused and not touched", async () => {
  await using home = await filledHome();
  const db = new Database(home.file);
  db.exec("delete from migrations where name = 'usage'; insert into migrations values ('from-the-future', 1)");
  db.close(true);
  await expectRefusedUntouched(home, "store_newer");
  expect(await checkStore(home.path)).toMatchObject({
    kind: "newer",
    say: expect.stringContaining("its migration from-the-future is not known"),
  });
});

test("a gateway that is killed while it brings a database up to date leaves the old one, which the next start brings up to date", async () => {
  await using home = await tempHome();
  const file = join(home.path, "gateway.db");
  {
    using db = new Database(file);
    db.exec(firstMessage.sql);
    db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = 1; pragma journal_mode = wal`);
  }
  await using child = await startStoreChild(["migrate", home.path]);
  expect([await child.line(), await child.line()]).toEqual(["half done", null]);
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", version: 1 });
  expect(await refusalToOpen(home.path)).toBeNull();
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", version: NEWEST_VERSION });
});

test("a stranger's SQLite file is refused and not filled with our tables", async () => {
  await using home = await tempHome();
  const file = join(home.path, "gateway.db");
  const db = new Database(file, { create: true });
  db.exec("create table theirs (x)");
  db.close(true);
  await expectRefusedUntouched({ ...home, file }, "store_corrupt");
});

test("text, nothing and noise in place of the database are refused and not touched", async () => {
  await using home = await tempHome();
  const file = join(home.path, "gateway.db");
  for (const content of ["", "hello", "x".repeat(5_000), `SQLite format 3\0${"\xff".repeat(5_000)}`]) {
    await writeFile(file, content, "latin1");
    await expectRefusedUntouched({ ...home, file }, "store_corrupt");
  }
});

test("a database that was cut short anywhere is refused and not touched", async () => {
  await using home = await filledHome();
  const whole = await readFile(home.file);
  for (const share of [0.05, 0.3, 0.5, 0.77, 0.999]) {
    await writeFile(home.file, whole);
    await truncate(home.file, Math.floor(whole.length * share));
    await expectRefusedUntouched(home, "store_corrupt");
  }
  await truncate(home.file, whole.length - 4096 > 0 ? 4096 : 1);
  await expectRefusedUntouched(home, "store_corrupt");
});

test("a page overwritten with noise is noticed, unless it holds nothing or only the search index", async () => {
  await using home = await filledHome(COUNT);
  const whole = await readFile(home.file);
  const pages = whole.length / 4096;
  for (let page = 0; page < pages; page++) {
    const damaged = Buffer.from(whole);
    damaged.fill(0xa5, page * 4096, page * 4096 + 200);
    await writeFile(home.file, damaged);
    if (rowsLeft(home.file) === COUNT) continue;
    await expectRefusedUntouched(home, "store_corrupt");
  }
});

test("a log without its database is not played into a new one", async () => {
  await using home = await tempHome();
  await writeFile(join(home.path, "gateway.db-wal"), "x".repeat(100));
  expect(await refusalToOpen(home.path)).toBe("store_corrupt");
  expect(await readdir(home.path)).toEqual(["gateway.db-wal"]);
});

test("a database that is a link to somewhere else is refused", async () => {
  await using home = await filledHome();
  await using other = await tempHome();
  await symlink(home.file, join(other.path, "gateway.db"));
  expect(await refusalToOpen(other.path)).toBe("home_unusable");
});

test("a database whose making was interrupted is made again", async () => {
  await using home = await tempHome();
  await writeFile(join(home.path, "gateway.db.new"), "half");
  expect(await refusalToOpen(home.path)).toBeNull();
  expect((await readdir(home.path)).toSorted()).toEqual(["audit.key", "gateway.db"]);
});

test("a check says what it finds, leaves nothing behind, and works beside a running gateway", async () => {
  await using empty = await tempHome();
  expect((await checkStore(empty.path)).kind).toBe("missing");
  expect(await readdir(empty.path)).toEqual([]);
  await using home = await filledHome();
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", version: NEWEST_VERSION });
  expect((await readdir(home.path)).toSorted()).toEqual(["audit.key", "gateway.db"]);
  await using store = await openStore(deps(), { home: home.path });
  await store.inbox.accept(row("late", "a"));
  expect((await checkStore(home.path)).kind).toBe("ok");
  expect(await store.inbox.accept(row("later", "a"))).toMatchObject({ kind: "stored" });
});
