/** Both engines have the same tables: a change of one that the other did not get would show only where somebody uses it. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { migrate } from "../migrate.ts";
import { type Connection, connect } from "./connection.ts";

/** Tables and columns that one engine alone needs; a full-text index is tables on SQLite and a column on Postgres. */
const OF_ONE_ENGINE =
  /^(?:batches\b|node_letters\b|files\b|file_chunks\b|person_logins\b|migrations\b|sqlite_|(?:notes|message)_index|\w+\.words$)/;
const INDEX_OF_POSTGRES = /_words$|^files_unfinished$/;
const POSTGRES_TYPES: Readonly<Record<string, string>> = {
  INTEGER: "bigint",
  REAL: "double precision",
  TEXT: "text",
};

function sqliteColumns(db: Database): string[] {
  const columns = db
    .query<{ table: string; name: string; type: string; notnull: number; pk: number }, []>(
      `select tables.name as "table", columns.name, columns.type, columns."notnull", columns.pk
       from sqlite_schema as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`,
    )
    .all();
  return columns.map(({ table, name, type, notnull, pk }) =>
    [`${table}.${name}`, POSTGRES_TYPES[type] ?? type, notnull === 1 || pk > 0 ? "not null" : "null"].join(" "),
  );
}

/** Every check of ours is a list of values; Postgres writes it in another way. */
function sqliteChecks(db: Database): string[] {
  const tables = db
    .query<{ name: string; sql: string }, []>("select name, sql from sqlite_schema where type = 'table'")
    .all();
  return tables
    .flatMap(({ name, sql }) => [...sql.matchAll(/check \(\w+ in \([^)]*\)\)/g)].map(([text]) => checkOf(name, text)))
    .toSorted();
}

function checkOf(table: string | undefined, text: string): string {
  const [column] = /\w+(?= in | = )/.exec(text) ?? [];
  const values = [...text.matchAll(/'([^']*)'|\b(\d+)\b/g)].map(([, word, number]) => word ?? number);
  return `${table}.${column}: ${values.join(", ")}`;
}

async function rowsOf(connection: Connection, text: string): Promise<readonly Record<string, string>[]> {
  return (await connection.ask({ text, values: [], name: null })).rows as Record<string, string>[];
}

const ours = (named: readonly string[]): string[] =>
  named.filter((name) => !OF_ONE_ENGINE.test(name.split(" ")[0] ?? "")).toSorted();

describe.skipIf((await testPostgres()) === null)("the tables of both engines", () => {
  test("have the same columns, of the same kind and with the same indexes", async () => {
    using sqlite = new Database(":memory:");
    migrate(sqlite, 0);
    await using database = await createTestDatabase(STORE_TABLES);
    const connection = await connect({ clock: systemClock, url: database.url });
    const columns = await rowsOf(
      connection,
      `select table_name || '.' || column_name as name, data_type as type, is_nullable as nullable, collation_name as collation
       from information_schema.columns where table_schema = current_schema()`,
    );
    const indexes = await rowsOf(
      connection,
      "select indexname as name from pg_indexes where schemaname = current_schema()",
    );
    const checks = await rowsOf(
      connection,
      `select conrelid::regclass::text as "table", pg_get_constraintdef(oid) as text from pg_constraint
       where contype = 'c' and connamespace = current_schema()::regnamespace`,
    );
    await connection.close();
    expect(
      ours(columns.map(({ name, type, nullable }) => `${name} ${type} ${nullable === "NO" ? "not null" : "null"}`)),
    ).toEqual(ours(sqliteColumns(sqlite)));
    expect(columns.filter(({ type, collation }) => type === "text" && collation !== "C")).toEqual([]);
    expect(checks.map(({ table, text = "" }) => checkOf(table, text)).toSorted()).toEqual(sqliteChecks(sqlite));
    const named = sqlite.query<{ name: string }, []>(
      "select name from sqlite_schema where type = 'index' and sql is not null",
    );
    const known = new Set(indexes.map(({ name }) => name));
    expect(named.all().filter(({ name }) => !known.has(name))).toEqual([]);
    const sqliteIndexes = new Set(named.all().map(({ name }) => name));
    const extra = indexes.filter(({ name = "" }) => !/_(?:pkey|key)$/.test(name) && !sqliteIndexes.has(name));
    expect(extra.filter(({ name = "" }) => !INDEX_OF_POSTGRES.test(name))).toEqual([]);
  });
});
