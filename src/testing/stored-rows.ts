/** Looks into the tables of a state directory, past the doors of the store, with one statement that both engines understand. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { systemClock } from "../kit/clock.ts";
import { connect } from "../store/postgres/connection.ts";
import { storeUrlOf } from "./postgres/home-database.ts";

/** The rows of a `select`; none of a statement that changes something. Names of columns that are not in small letters have to be quoted. */
export async function storedRows<Row = Record<string, unknown>>(home: string, text: string): Promise<readonly Row[]> {
  const url = await storeUrlOf(home);
  if (url) return inPostgres<Row>(url.reveal(), text);
  using db = new Database(join(home, "gateway.db"), { readwrite: true });
  return db.prepare<Row, []>(text).all();
}

/** Over a connection of the product, which gives numbers as numbers. */
async function inPostgres<Row>(url: string, text: string): Promise<readonly Row[]> {
  const connection = await connect({ clock: systemClock, url });
  try {
    return (await connection.ask({ text, values: [], name: null })).rows as Row[];
  } finally {
    await connection.close();
  }
}

/** The names of all tables that hold rows of their own. */
export async function tableNames(home: string): Promise<readonly string[]> {
  const own =
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like '%_index%'";
  const theirs = "select tablename as name from pg_tables where schemaname = 'public'";
  const rows = await storedRows<{ readonly name: string }>(home, (await storeUrlOf(home)) ? theirs : own);
  return rows.map(({ name }) => name);
}
