/** The SQLite file as source or target of a move. As target it is made under another name, and gets its own when it is complete. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { askSqlite, placeholders } from "../ask-rows.ts";
import { FILL_MESSAGE_INDEX } from "../health/text-indexes.ts";
import { damagedLog, DATABASE_FILE, inspect, openReadOnly } from "../inspect.ts";
import { migrate } from "../migrate.ts";
import { ensurePrivateFile, syncFile, syncFolder } from "../private-files.ts";
import { createNoteWords } from "../rows/notes/note-words.ts";
import { createSql } from "../sqlite-sql.ts";
import { runAtOnce } from "../steps.ts";
import type { Row } from "./digest.ts";
import { filesOnDisk } from "./file-places.ts";
import { MARK_TABLE } from "./mark.ts";
import { quoted } from "./pieces.ts";
import { type MoveSource, type MoveTarget, SET_EPOCH } from "./sides.ts";
import type { MovedTable } from "./tables.ts";

const PRAGMAS = ["journal_mode = delete", "synchronous = full", "foreign_keys = on", "trusted_schema = off"];

type NoteRow = Parameters<ReturnType<typeof createNoteWords>["index"]>[0];

/** The caller holds the state directory, so nobody writes to the file. Throws `store_newer`, `store_corrupt`, `bad_request`. */
export async function openSqliteSource(home: string): Promise<MoveSource> {
  const file = join(home, DATABASE_FILE);
  const damage = await damagedLog(file);
  if (damage) throw new GatewayError("store_corrupt", "the write-ahead log is damaged", { say: damage.say });
  const found = await inspect(file, { thorough: true });
  if (found.kind === "missing") throw refused(`There is no database in ${home}, so there is nothing to move.`);
  if (found.kind !== "ok")
    throw new GatewayError(found.kind === "newer" ? "store_newer" : "store_corrupt", "the source cannot be read", {
      say: found.say,
    });
  if (!found.upToDate)
    throw refused(
      `The database ${file} was written by an earlier version. Start the gateway once, stop it, and move then. Nothing was changed.`,
    );
  const db = openReadOnly(file, !existsSync(`${file}-wal`));
  db.exec("begin"); // one moment for all questions
  return {
    ask: askSqlite(db),
    files: filesOnDisk(home),
    checkUnused: async () => undefined,
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

/** `fresh`: what an earlier move left is thrown away. Throws `store_not_empty`. */
export async function openSqliteTarget(home: string, at: number, fresh: boolean): Promise<MoveTarget> {
  const file = join(home, DATABASE_FILE);
  const draft = `${file}.moving`;
  if ((await inspect(file, { thorough: false })).kind !== "missing")
    throw new GatewayError("store_not_empty", "there is a database", {
      fields: { file },
      say: `There is a database in ${file} already. If it is the one from before you moved to Postgres, move the file away first. Nothing was changed.`,
    });
  if (fresh) for (const leftover of [draft, `${draft}-journal`]) await rm(leftover, { force: true });
  await ensurePrivateFile(draft);
  const db = new Database(draft, { readwrite: true });
  for (const pragma of PRAGMAS) db.exec(`pragma ${pragma}`);
  migrate(db, at);
  const sql = createSql(db);
  const ask = askSqlite(db);
  const noteWords = createNoteWords(sql);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) sql.close();
    isOpen = false;
  };
  return {
    ask,
    files: filesOnDisk(home),
    hasMark: (await ask("select 1 from sqlite_schema where name = $1", [MARK_TABLE])).length > 0,
    async inTransaction(run) {
      db.exec("begin immediate");
      try {
        await run();
        db.exec("commit");
      } catch (error) {
        if (db.inTransaction) db.exec("rollback");
        throw error;
      }
    },
    async insert(table, columns, rows) {
      insertRows(db, table, columns, rows);
      // messages and replies come into their index after the move
      if (table.name === "notes") for (const row of rows) runAtOnce(noteWords.index(row as NoteRow));
    },
    async complete(epoch) {
      await ask(`drop table ${MARK_TABLE}`);
      await ask(SET_EPOCH, [epoch]);
      db.exec(FILL_MESSAGE_INDEX);
      close();
      await syncFile(draft);
      await rename(draft, file);
      await syncFolder(home);
    },
    [Symbol.asyncDispose]: async () => close(),
  };
}

function insertRows(db: Database, { name }: MovedTable, columns: readonly string[], rows: readonly Row[]): void {
  const text = `insert into ${name} (${quoted(columns)}) values (${placeholders(columns.length)})`;
  const statement = db.prepare<unknown, SQLQueryBindings[]>(text);
  try {
    for (const row of rows) statement.run(...columns.map((column) => row[column] as SQLQueryBindings));
  } finally {
    statement.finalize();
  }
}

function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "the store cannot be moved", { say });
}
