/** Rows of several people in every table of the store, with the person's name in each text of a row. */
import { OWN_ROWS } from "../../store/postgres/row-security/own-rows.ts";

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Columns that name rows of other tables. */
const VALUES: Readonly<Record<string, (person: string) => string>> = {
  "sessions.key": (person) => `session ${person}`,
  "sessions.file": (person) => `file ${person}`,
  "turns.id": (person) => `turn ${person}`,
  "inbox.id": (person) => `message ${person}`,
  "inbox.sender": (person) => person,
  "platform_messages.message_id": (person) => `message ${person}`,
  "files.name": (person) => `file ${person}`,
  "file_chunks.file": (person) => `file ${person}`,
  "jobs.id": (person) => `job ${person}`,
  "jobs.created_by": (person) => person,
  "usage_days.what": () => "principal",
  "usage_days.key": (person) => person,
};
const VALUES_OF_ALL: Readonly<Record<string, (person: string) => string>> = {
  person: (person) => person,
  owner: (person) => person,
  principal: (person) => person,
  session_key: (person) => `session ${person}`,
  turn_id: (person) => `turn ${person}`,
  job_id: (person) => `job ${person}`,
};
/** Far from those that the store gives out. */
const FIRST_NUMBER = 1_000_000;
/** Referred to by others. */
const FIRST = ["sessions", "turns", "inbox"];

/**
 * One row for each person where rows are a person's, and one of `nobody` everywhere. That one is in `testing.foreign_rows` as well. The row of
 * a session that is nobody's has no person, as that of a group.
 */
export async function fillForPeople(sql: Bun.SQL, people: readonly string[], nobody: string): Promise<void> {
  await sql.unsafe("create schema testing");
  await sql.unsafe("create table testing.foreign_rows (tab text primary key, foreign_row jsonb not null)");
  await sql.unsafe("set session_replication_role = replica"); // without triggers
  for (const table of Object.keys(OWN_ROWS)) await sql.unsafe(`delete from ${table}`);
  const others = Object.keys(OWN_ROWS).filter((table) => !FIRST.includes(table));
  for (const table of [...FIRST, ...others]) {
    const columns = await columnsOf(sql, table);
    const checks = await checksOf(sql, table);
    const names = columns.map(({ name }) => name).join(", ");
    for (const [index, person] of (OWN_ROWS[table] === null ? [nobody] : [...people, nobody]).entries()) {
      const row = Object.fromEntries(
        columns.map((column) => [
          column.name,
          valueOf(table, column, { person, index, allowed: checks.get(column.name) }),
        ]),
      );
      if (person === nobody && "person" in row) row.person = null;
      const json = `'${JSON.stringify(row)}'::jsonb`;
      await sql.unsafe(
        `insert into ${table} (${names}) select ${names} from jsonb_populate_record(null::${table}, ${json})`,
      );
      if (person === nobody) await sql.unsafe(`insert into testing.foreign_rows values ('${table}', ${json})`);
    }
  }
  await sql.unsafe("set session_replication_role = default");
}

/** Without those that Postgres fills. */
async function columnsOf(sql: Bun.SQL, table: string): Promise<readonly Column[]> {
  return sql`select column_name::text as name, data_type::text as type from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER' order by ordinal_position`;
}

/** The first value that a column may have, where it may have only some. */
async function checksOf(sql: Bun.SQL, table: string): Promise<ReadonlyMap<string, string>> {
  const found: { text: string }[] = await sql`select pg_get_constraintdef(oid) as text from pg_constraint
    where contype = 'c' and conrelid = ${table}::regclass`;
  return new Map(
    found.map(({ text }) => {
      const [column = ""] = /\w+(?= = )/.exec(text) ?? [];
      const [, word, number] = /'([^']*)'|\b(\d+)\b/.exec(text) ?? [];
      return [column, word ?? number ?? ""];
    }),
  );
}

interface Cell {
  readonly person: string;
  readonly index: number;
  readonly allowed: string | undefined;
}

function valueOf(table: string, { name, type }: Column, { person, index, allowed }: Cell): unknown {
  const known = VALUES[`${table}.${name}`] ?? (type === "text" ? VALUES_OF_ALL[name] : undefined);
  if (known) return known(person);
  if (allowed !== undefined) return allowed;
  if (type === "text") return `${table} ${name} ${person}`;
  if (type === "bytea") return "\\x61";
  if (type === "boolean") return false;
  return type === "bigint" || type === "double precision" ? FIRST_NUMBER + index : null;
}
