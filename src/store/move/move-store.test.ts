/** A store moves to Postgres and back with every row, whatever stops it on the way. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId, TurnId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { secret } from "../../kit/secret.ts";
import { note } from "../../testing/contracts/store/notes-contract.ts";
import { end, intent, OPERATOR, row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { blankDisk } from "../../testing/disk.ts";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { type CallRow, createChainKey, endContent } from "../audit/links.ts";
import { verifyAudit } from "../audit/verify.ts";
import { readAuditKey } from "../secret-files.ts";
import { openStore } from "../open.ts";
import { openStateDirectory } from "../state-directory.ts";
import { moveStore, type MoveProgress } from "./move-store.ts";
import { LEFT_TABLES, MOVED_TABLES } from "./tables.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const NEVER = new AbortController().signal;
const SESSIONS = 4;
/** More than there are pieces. */
const MAX_RUNS = 200;
const BLANK = blankDisk();

const databaseIn = (home: TempHome): string => join(home.path, "gateway.db");

/** Rows by the doors of the store, and one row by hand in each table that is still empty. */
async function filledHome(): Promise<TempHome> {
  const home = await tempHome();
  await Bun.write(databaseIn(home), BLANK, { mode: 0o600 });
  {
    await using store = await openStore(DEPS, { home: home.path });
    for (let n = 0; n < SESSIONS; n++) await talk(store, `s${n}`);
    await store.notes.save(note({ title: "Bicycle", content: "The café has the spare tyre" }));
    const rejected = { kind: "config.rejected", at: 15, actor: "gateway", subject: "", detail: {} } as const;
    await store.audit.note(rejected);
  }
  fillEmptyTables(databaseIn(home));
  return home;
}

async function talk(store: Store, name: string): Promise<TurnId> {
  await store.inbox.accept(row(`in-${name}`, name, { text: `question \0 of ${name} 'quoted' €` }));
  await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
  await store.toolCalls.intend({ ...intent(`c-${name}`, `t-${name}`, true), sessionKey: sessionKey(name) });
  await store.toolCalls.settle(`c-${name}`, { status: "success", output: `ran for ${name}`, ms: 3 });
  await store.turns.finish(end(`t-${name}`));
  return `t-${name}` as TurnId;
}

const PICTURE = "med_large" as MediaId;
const LARGE = Buffer.from("picture ".repeat(100_000));
/** As long as the end of a turn says. */
const SAID = `${"said ".repeat(19)}last\n`;

/** Two of four session files are on the disk: one that goes on behind its last turn, and one in the folder of a process that was killed. */
async function homeWithFiles(): Promise<TempHome> {
  const home = await filledHome();
  {
    await using store = await openStore(DEPS, { home: home.path });
    const file = { mediaId: PICTURE, owner: OPERATOR, name: "p.png", mimeType: "image/png", data: LARGE, at: 1 };
    await store.media.put(file);
  }
  using db = new Database(databaseIn(home));
  db.run("delete from media where id <> ?", [PICTURE]);
  db.run("delete from conversations");
  const visit = join(home.path, "run", "sessions", "1-2-process");
  await mkdir(join(home.path, "sessions"), { recursive: true });
  await mkdir(visit, { recursive: true });
  await writeFile(join(home.path, "sessions", await sessionFileOf(home, "s0")), `${SAID}unfinished`);
  await writeFile(join(visit, await sessionFileOf(home, "s1")), SAID);
  return home;
}

async function sessionFileOf(home: TempHome, name: string): Promise<string> {
  using db = new Database(databaseIn(home));
  const found = db.query<{ file: string }, [string]>("select file from sessions where key = ?").get(sessionKey(name));
  return found?.file ?? "";
}

/** Values of the kind that the column takes; where it takes only some, the first of them. */
function fillEmptyTables(file: string): void {
  using db = new Database(file);
  db.run("delete from outbox where seq = 1"); // numbers that are given anew would show
  for (const { name } of MOVED_TABLES) {
    if (db.query(`select 1 from ${name}`).get()) continue;
    const schema = db.query<{ sql: string }, [string]>("select sql from sqlite_schema where name = ?").get(name);
    const columns = db
      .query<{ name: string; type: string }, [string]>("select name, type from pragma_table_info(?)")
      .all(name);
    const values = columns.map((column) => {
      const [, first] = new RegExp(`${column.name} in \\('(\\w+)'`).exec(schema?.sql ?? "") ?? [];
      if (column.name === "session_key") return sessionKey("s0");
      return column.type === "REAL" ? 0.1 + 0.2 : column.type === "INTEGER" ? 7 : (first ?? `${name} ${column.name}`);
    });
    db.run(`insert into ${name} values (${values.map(() => "?").join(", ")})`, values);
  }
}

/** Of the runs of jobs: the one that is there has the number 7. */
async function nextNumber(url: string): Promise<number> {
  await using sql = new Bun.SQL(url, { max: 1 });
  const [row]: { next: string }[] = await sql`select nextval(pg_get_serial_sequence('job_runs', 'seq')) as next`;
  return Number(row?.next);
}

interface Stopping {
  /** Throws where the move is to stop. */
  readonly progress?: (now: MoveProgress) => void;
  readonly maxRows?: number;
}

const move = (home: TempHome, url: string, to: "postgres" | "sqlite", { progress, maxRows }: Stopping = {}) =>
  moveStore(
    DEPS,
    { home: home.path, url: secret(url), to, progress: progress ?? (() => undefined), ...(maxRows ? { maxRows } : {}) },
    NEVER,
  );

/** What a tool answered has U+0000 in it, and half of a surrogate pair. */
async function callWithOddResult(home: TempHome, id: string, url?: string): Promise<void> {
  await using store = await openStore(DEPS, { home: home.path, ...(url === undefined ? {} : { url: secret(url) }) });
  await store.toolCalls.intend(intent(id, `t-${id}`, true));
  await store.toolCalls.settle(id, { status: "success", output: "a\0b\ud800", ms: 1 });
}

/** The end of the only call linked by the text as it was given, which is how earlier versions did it. */
async function relinkAsGiven(home: TempHome): Promise<void> {
  const key = createChainKey(readAuditKey(home.path) ?? new Uint8Array());
  using db = new Database(databaseIn(home));
  const call = db.query<CallRow, []>("select * from tool_calls").get();
  if (!call) throw new Error("there is no call");
  const hash = key.linkHash(call.intent_hash ?? "", { no: 2, kind: "end" }, endContent(call));
  const head = { no: 2, hash };
  db.query("update tool_calls set end_hash = ?").run(hash);
  db.query("update audit_marks set hash = ?, mac = ? where name = 'head'").run(hash, key.markMac("head", head));
  const file = JSON.stringify({ ...head, mac: key.markMac("file", head), at: 0 });
  await Bun.write(join(home.path, "audit-head.json"), file);
}

/** Stops where the rows are copied and nothing is compared yet. */
const whenCopied = ({ phase }: MoveProgress): void => {
  if (phase === "compare") throw new Error("killed");
};

/** A state directory without a database, of the same gateway. */
async function withoutDatabase(home: TempHome): Promise<TempHome> {
  const other = await tempHome();
  for (const file of ["audit.key", "audit-head.json"]) await copyFile(join(home.path, file), join(other.path, file));
  return other;
}

describe.skipIf((await testPostgres()) === null)("a move", () => {
  test("to Postgres and back keeps every row of every table and the audit log, and leaves the source as it was", async () => {
    await using home = await filledHome();
    await using database = await createTestDatabase();
    const before = await readFile(databaseIn(home));
    const there = await move(home, database.url, "postgres");
    expect(there.audit).toEqual({ kind: "intact", links: 2 * SESSIONS + 1 });
    expect(there.tables.filter(({ rows }) => rows === 0)).toEqual([]);
    expect((await readFile(databaseIn(home))).equals(before)).toBe(true);
    await using other = await withoutDatabase(home);
    const back = await move(other, database.url, "sqlite");
    expect(back.tables).toEqual(there.tables);
    expect(back.audit).toEqual(there.audit);
    expect((await readdir(other.path)).filter((name) => name.startsWith("gateway."))).toEqual(["gateway.db"]);
    expect(await verifyAudit(other.path)).toMatchObject({ kind: "intact", links: 2 * SESSIONS + 1 });
  }, 30_000);

  test("takes session files and media along, there and back, goes on after it was stopped between two, and names those that are missing", async () => {
    await using home = await homeWithFiles();
    await using database = await createTestDatabase(STORE_TABLES);
    let stops = 3;
    const stopBetween = ({ phase, doneRows }: MoveProgress): void => {
      if (phase === "files" && doneRows === 2 && stops-- > 0) throw new Error("killed");
    };
    for (let run = 0; run < 3; run++)
      await expect(move(home, database.url, "postgres", { progress: stopBetween })).rejects.toThrow("killed");
    const there = await move(home, database.url, "postgres");
    expect(there.files).toEqual({
      files: 3,
      bytes: 100 + 100 + LARGE.length,
      missing: [await sessionFileOf(home, "s2"), await sessionFileOf(home, "s3")].toSorted(),
    });

    await using other = await withoutDatabase(home);
    const back = await move(other, database.url, "sqlite");
    expect(back.files).toEqual(there.files);
    const file = await sessionFileOf(home, "s0");
    expect(await readFile(join(other.path, "sessions", file), "utf8")).toBe(SAID); // without what no turn has finished
    await using store = await openStore(DEPS, { home: other.path });
    expect(LARGE.equals((await store.media.read(PICTURE)) ?? new Uint8Array())).toBe(true);
  }, 30_000);

  test("whose copy of a file is not what was written says so, and the next one begins anew", async () => {
    await using home = await homeWithFiles();
    await using database = await createTestDatabase(STORE_TABLES);
    {
      await using sql = new Bun.SQL(database.url, { max: 1 });
      await sql.unsafe(
        `create function spoil() returns trigger language plpgsql as $$ begin new.data := set_byte(new.data, 0, 7); return new; end $$`,
      );
      await sql.unsafe(`create trigger spoil before insert on file_chunks for each row execute function spoil()`);
    }
    const say = expect.stringContaining("These files differ: ");
    await expect(move(home, database.url, "postgres")).rejects.toMatchObject({ code: "store_differs", say });
    {
      await using sql = new Bun.SQL(database.url, { max: 1 });
      await sql`drop trigger spoil on file_chunks`;
    }
    expect(await move(home, database.url, "postgres")).toMatchObject({ isResumed: false, files: { files: 3 } });
  }, 30_000);

  test("gives each engine a store that finds notes and messages by their words and goes on with the numbers", async () => {
    await using home = await filledHome();
    await using database = await createTestDatabase(STORE_TABLES);
    await move(home, database.url, "postgres");
    expect(await nextNumber(database.url)).toBe(8);
    const goesOn = async (url?: string): Promise<void> => {
      await using store = await openStore(DEPS, { home: home.path, ...(url ? { url: secret(url) } : {}) });
      const [found] = await store.notes.search(OPERATOR, "cafe tyre", 5);
      expect(found?.title).toBe("Bicycle");
      const { items } = await store.sessions.searchMessages({ words: "question s2" }, { limit: 5 });
      expect(items.map(({ sessionKey: key }) => key)).toEqual([sessionKey("s2")]);
      const name = url ? "on-postgres" : "on-sqlite";
      expect((await store.sessions.transcript(sessionKey("s1"), { limit: 5 })).items.map(({ text }) => text)).toEqual([
        "question \ufffd of s1 'quoted' €",
        "",
        "answer of t-s1",
      ]);
      const turnId = await talk(store, name);
      expect((await store.turns.list({}, { limit: 1 })).items[0]?.turn.turnId).toBe(turnId);
      expect((await store.outbox.part(`t-${name}:0`))?.message.text).toBe(`answer of t-${name}`);
      expect(store.epoch).toBe(url ? 2 : 3);
    };
    await goesOn(database.url);
    await rename(databaseIn(home), `${databaseIn(home)}.before`);
    const back = await move(home, database.url, "sqlite");
    expect(back.audit).toEqual({ kind: "intact", links: 2 * (SESSIONS + 1) + 1 });
    await goesOn();
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact" });
  }, 30_000);

  test.each(["postgres", "sqlite"] as const)(
    "that is stopped after each piece goes on there, to %s, and has no row twice",
    async (to) => {
      await using home = await filledHome();
      await using database = await createTestDatabase(STORE_TABLES);
      let from = home;
      if (to === "sqlite") {
        await move(home, database.url, "postgres");
        from = await withoutDatabase(home);
      }
      await using _from = from;
      const seen: number[] = [0];
      const stopAfterPiece = ({ phase, doneRows }: MoveProgress): void => {
        if (phase === "compare" || doneRows <= (seen.at(-1) ?? 0)) return;
        seen.push(doneRows);
        throw new Error("killed");
      };
      const run = () => move(from, database.url, to, { progress: stopAfterPiece, maxRows: 2 });
      let moved: Awaited<ReturnType<typeof run>> | null = null;
      for (let runs = 0; moved === null && runs < MAX_RUNS; runs++) {
        const [outcome] = await Promise.allSettled([run()]);
        if (outcome.status === "fulfilled") moved = outcome.value;
        else expect(outcome.reason).toMatchObject({ code: "store_failed", say: expect.stringContaining("goes on") });
      }
      expect(seen.length).toBeGreaterThan(MOVED_TABLES.length); // a table with rows has a piece of its own
      expect(moved).toMatchObject({ isResumed: true, rows: seen.at(-1), audit: { kind: "intact" } });
    },
    30_000,
  );

  test("begins anew where the copy was changed, or where a gateway ran on the source since", async () => {
    await using home = await filledHome();
    await using database = await createTestDatabase(STORE_TABLES);
    await expect(move(home, database.url, "postgres", { progress: whenCopied })).rejects.toThrow("killed");
    {
      await using sql = new Bun.SQL(database.url, { max: 1 });
      await sql`update notes set title = 'Car'`;
      await sql`delete from tasks`;
    }
    await expect(move(home, database.url, "postgres")).rejects.toMatchObject({
      code: "store_differs",
      say: expect.stringContaining("notes (1 rows in the source, 1 in the copy), tasks (1 rows in the source, 0 in"),
    });
    await expect(move(home, database.url, "postgres", { progress: whenCopied })).rejects.toThrow("killed");
    {
      await using sql = new Bun.SQL(database.url, { max: 1 });
      expect(Array.from(await sql`select title from notes`)).toEqual([{ title: "Bicycle" }]);
    }
    {
      await using store = await openStore(DEPS, { home: home.path });
      await talk(store, "later");
    }
    const moved = await move(home, database.url, "postgres");
    expect(moved).toMatchObject({ isResumed: false, audit: { links: 2 * (SESSIONS + 1) + 1 } });
  }, 30_000);

  test("is refused while a gateway runs on either side, or where something is already", async () => {
    await using home = await filledHome();
    await using database = await createTestDatabase(STORE_TABLES);
    const refusal = (to: "postgres" | "sqlite" = "postgres") =>
      move(home, database.url, to).then(
        () => "moved",
        (error: { code?: string }) => error.code,
      );
    {
      await using _directory = await openStateDirectory(DEPS, home.path);
      expect(await refusal()).toBe("home_taken");
    }
    await using other = await tempHome();
    {
      await using store = await openStore(DEPS, { home: other.path, url: secret(database.url) });
      expect(await refusal()).toBe("store_taken");
      expect(await refusal("sqlite")).toBe("store_taken");
      await store.notes.save(note());
    }
    expect(await refusal()).toBe("store_not_empty");
    expect(await refusal("sqlite")).toBe("store_not_empty"); // there is gateway.db
  }, 30_000);

  test("that is not complete lets no gateway start on its target, and no move from elsewhere go on", async () => {
    await using home = await filledHome();
    await using stranger = await filledHome();
    await using database = await createTestDatabase(STORE_TABLES);
    await expect(move(home, database.url, "postgres", { progress: whenCopied })).rejects.toThrow("killed");
    await expect(openStore(DEPS, { home: home.path, url: secret(database.url) })).rejects.toMatchObject({
      code: "store_half_moved",
    });
    await expect(move(stranger, database.url, "postgres")).rejects.toMatchObject({ code: "store_not_empty" });
    expect(await move(home, database.url, "postgres")).toMatchObject({ isResumed: true });
    await using _store = await openStore(DEPS, { home: home.path, url: secret(database.url) });
  }, 30_000);

  test("of tool calls with characters that Postgres does not keep leaves the audit log intact, there and back", async () => {
    await using home = await tempHome();
    await callWithOddResult(home, "c1");
    await using database = await createTestDatabase(STORE_TABLES);
    expect(await move(home, database.url, "postgres")).toMatchObject({ audit: { kind: "intact", links: 2 } });
    await callWithOddResult(home, "c2", database.url);
    await rename(databaseIn(home), join(home.path, "moved.db"));
    expect(await move(home, database.url, "sqlite")).toMatchObject({ audit: { kind: "intact", links: 4 } });
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", links: 4 });
  }, 30_000);

  test("of a tool call that an earlier version linked as Postgres cannot keep it ends with a sentence about its place in the audit log", async () => {
    await using home = await tempHome();
    await callWithOddResult(home, "c1");
    await relinkAsGiven(home);
    await using database = await createTestDatabase(STORE_TABLES);
    await expect(move(home, database.url, "postgres")).rejects.toMatchObject({
      code: "store_differs",
      say: expect.stringMatching(/The end of call c1 \(echo\) is not what was written\..*U\+0000/),
    });
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact" });
  });

  test("knows every table that Postgres has", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const tables: { name: string }[] = await sql`select tablename as name from pg_tables where schemaname = 'public'`;
    const known = new Set<string>([...MOVED_TABLES.map(({ name }) => name), ...Object.keys(LEFT_TABLES)]);
    expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});
