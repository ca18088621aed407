/** A Postgres database as source or target of a move. Refuses one that a gateway uses, and as target one with rows of its own. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import { type AskRows, askPostgres, placeholders } from "../ask-rows.ts";
import { endOfNode, judgeNode } from "../node-expiry.ts";
import { type Connection, connect } from "../postgres/connection.ts";
import { migratePostgres, POSTGRES_MIGRATIONS } from "../postgres/migrate.ts";
import { createPostgresSql } from "../postgres/sql.ts";
import type { NodeTable } from "../rows/nodes.ts";
import { createNoteWords } from "../rows/notes/note-words.ts";
import type { Bucket } from "../files/bucket.ts";
import { createStoredFiles } from "../files/stored-files.ts";
import type { Sql } from "../sql.ts";
import { runWaiting, type Steps } from "../steps.ts";
import type { Row } from "./digest.ts";
import { type FilePlace, filesInDatabase } from "./file-places.ts";
import { MARK_TABLE } from "./mark.ts";
import { quoted } from "./pieces.ts";
import { type MoveSource, type MoveTarget, SET_EPOCH } from "./sides.ts";
import { MOVED_TABLES, type MovedTable } from "./tables.ts";

interface PostgresDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly url: Secret;
  readonly bucket: Bucket | null;
}

type NoteRow = Parameters<ReturnType<typeof createNoteWords>["index"]>[0];

const TABLES = "select tablename as name from pg_tables where schemaname = current_schema()";
const MOVE_LOCK = "select pg_try_advisory_lock(hashtext('pi-gateway move')) as free";
const ONE_MOMENT = "begin isolation level repeatable read read only";
const NOT_GONE = `select name, version, state, state_directory, started_at, renewed_at, expires_at,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, floor(extract(epoch from pg_postmaster_start_time()) * 1000)::bigint as up from nodes where state <> 'gone'`;
const WITH_TRIGGERS = `select distinct relname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
  where not tgisinternal and relnamespace = current_schema()::regnamespace`;
const NUMBERED = `select table_name as name, column_name as column from information_schema.columns
  where table_schema = current_schema() and is_identity = 'YES'`;

/** Throws `store_taken`, `store_failed`, `bad_request`. */
export async function openPostgresSource(deps: PostgresDeps): Promise<MoveSource> {
  const connection = await reach(deps);
  const ask = askPostgres(connection);
  try {
    await checkTables(ask);
    await checkUnused(ask);
    await connection.control(ONE_MOMENT);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    ask,
    files: filesOf(deps, { sql: createPostgresSql(), commit: (run) => runWaiting(run(), connection.ask) }),
    async checkUnused() {
      await connection.control("commit");
      await checkUnused(ask);
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** `fresh`: what an earlier move left is thrown away. Throws `store_taken`, `store_not_empty`, `store_newer`, `store_failed`. */
export async function openPostgresTarget(deps: PostgresDeps, fresh: boolean): Promise<MoveTarget> {
  const connection = await reach(deps);
  const ask = askPostgres(connection);
  try {
    const [lock] = await ask<{ free: boolean }>(MOVE_LOCK); // released by the end of the connection
    if (!lock?.free) throw new GatewayError("store_taken", "a move is under way", { say: ANOTHER_MOVE });
    const known = await namesOf(ask, TABLES);
    if (known.has("nodes")) await checkUnused(ask);
    const hadMark = known.has(MARK_TABLE);
    if (fresh && hadMark) await clear(ask, known);
    if (!hadMark) await checkEmpty(ask, known);
    await migratePostgres(connection, { at: deps.clock.now() });
    const triggered = await namesOf(ask, WITH_TRIGGERS);
    return createTarget(deps, connection, { hasMark: hadMark && !fresh, triggered });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

const ANOTHER_MOVE = "Another move to this database is under way. Wait for its end.";

/** For a gateway that starts. Throws `store_half_moved`. */
export async function refuseHalfMoved(connection: Pick<Connection, "ask">): Promise<void> {
  if ((await namesOf(askPostgres(connection), TABLES)).has(MARK_TABLE))
    throw new GatewayError("store_half_moved", "a move to this database is not complete");
}

/** `commit` runs work over the connection; of a target, in a transaction. */
function filesOf(
  deps: PostgresDeps,
  { sql, commit }: { readonly sql: Sql; commit<T>(run: () => Steps<T>): Promise<T> },
): FilePlace {
  return filesInDatabase(createStoredFiles({ ...deps, sql, read: commit, write: commit }, deps.bucket), commit);
}

function createTarget(
  deps: PostgresDeps,
  connection: Connection,
  { hasMark, triggered }: { readonly hasMark: boolean; readonly triggered: ReadonlySet<string> },
): MoveTarget {
  const ask = askPostgres(connection);
  const sql = createPostgresSql();
  const noteWords = createNoteWords(sql);
  const inTransaction = async <T>(run: () => Promise<T>): Promise<T> => {
    await connection.control("begin");
    try {
      const value = await run();
      await connection.control("commit");
      return value;
    } catch (error) {
      if (!connection.isLost()) await connection.control("rollback").catch(() => connection.close()); // it rolls back then
      throw error;
    }
  };
  return {
    ask,
    files: filesOf(deps, { sql, commit: (run) => inTransaction(() => runWaiting(run(), connection.ask)) }),
    hasMark,
    inTransaction,
    async insert(table, columns, rows) {
      // replies would get new numbers from their trigger
      const isTriggered = triggered.has(table.name);
      if (isTriggered) await connection.control(`alter table ${table.name} disable trigger user`);
      await insertRows(ask, table, columns, rows);
      if (isTriggered) await connection.control(`alter table ${table.name} enable trigger user`);
      if (table.name === "notes")
        for (const row of rows) await runWaiting(noteWords.index(row as NoteRow), connection.ask);
    },
    complete: (epoch) =>
      inTransaction(async () => {
        for (const { name, column } of await ask<{ name: string; column: string }>(NUMBERED)) {
          const highest = `(select max("${column}") from ${name})`;
          await ask(`select setval(pg_get_serial_sequence($1, $2), coalesce(${highest}, 1), ${highest} is not null)`, [
            name,
            column,
          ]);
        }
        await ask(SET_EPOCH, [epoch]);
        await ask(`drop table ${MARK_TABLE}`);
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

async function insertRows(
  ask: AskRows,
  { name }: MovedTable,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const tuples = rows.map((_, index) => `(${placeholders(columns.length, index * columns.length + 1)})`);
  const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null));
  await ask(`insert into ${name} (${quoted(columns)}) values ${tuples.join(", ")}`, values);
}

async function reach({ clock, url }: PostgresDeps): Promise<Connection> {
  try {
    return await connect({ clock, url: url.reveal() });
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    // without its cause: an error about an address may hold the address, and so the password
    throw new GatewayError("store_failed", "Postgres cannot be reached", {
      say: `Postgres cannot be reached (${because}). Check the address, and that the server runs and accepts this user.`,
    });
  }
}

async function checkTables(ask: AskRows): Promise<void> {
  const known = await namesOf(ask, TABLES);
  const applied = known.has("migrations") ? await namesOf(ask, "select name from migrations") : new Set<string>();
  if (applied.size === 0)
    throw refused("There are no tables of a gateway in this Postgres database, so there is nothing to move.");
  if (known.has(MARK_TABLE)) throw new GatewayError("store_half_moved", "a move to the source is not complete");
  const isCurrent =
    applied.size === POSTGRES_MIGRATIONS.length && POSTGRES_MIGRATIONS.every(({ name }) => applied.has(name));
  if (!isCurrent)
    throw refused(
      "The Postgres database was written by another version. Start the gateway of this version once, stop it, and move then. Nothing was changed.",
    );
}

/** Also a gateway of this state directory that died counts, until its time is over. */
async function checkUnused(ask: AskRows): Promise<void> {
  for (const node of await ask<NodeTable & { readonly now: number; readonly up: number }>(NOT_GONE)) {
    const { now, up: upSince } = node;
    if (judgeNode(node, { stateDirectory: "", now, upSince }) !== "live") continue;
    const seconds = Math.ceil((endOfNode(node, { upSince }) - now) / 1_000);
    throw new GatewayError("store_taken", "a gateway lives on this database", {
      fields: { name: node.name, version: node.version },
      say: `A gateway uses this database: ${node.name} (version ${node.version}). Stop it first. If it has died without a word, the database is free in ${seconds} s.`,
    });
  }
}

/** One question for all tables. The two rows of `audit_marks` come with their table. */
async function checkEmpty(ask: AskRows, known: ReadonlySet<string>): Promise<void> {
  const names = MOVED_TABLES.map(({ name }) => name).filter((name) => known.has(name));
  if (names.length === 0) return;
  const isFilled = (name: string): string =>
    `exists (select 1 from ${name}${name === "audit_marks" ? " where no > 0" : ""})`;
  const [filled] = await ask<Row>(`select ${names.map((name) => `${isFilled(name)} as ${name}`).join(", ")}`);
  const name = names.find((one) => filled?.[one] === true);
  if (name === undefined) return;
  throw new GatewayError("store_not_empty", "the target has rows", {
    fields: { table: name },
    say: `The Postgres database is not empty: there are rows in the table ${name}. Name an empty database. If a move to it was completed, set store.url. Nothing was changed.`,
  });
}

async function clear(ask: AskRows, known: ReadonlySet<string>): Promise<void> {
  const names = MOVED_TABLES.map(({ name }) => name).filter((name) => known.has(name));
  if (names.length > 0) await ask(`truncate ${[...names, "files", "file_chunks"].join(", ")}`);
  await ask(`drop table ${MARK_TABLE}`);
}

async function namesOf(ask: AskRows, text: string): Promise<ReadonlySet<string>> {
  return new Set((await ask<{ name: string }>(text)).map(({ name }) => name));
}

function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "the store cannot be moved", { say });
}
