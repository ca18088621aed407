/**
 * Brings the tables of a Postgres database up to date, in one transaction and one gateway at a time. The table `migrations` holds the names
 * of those that were applied. Never steps back.
 */
import { GatewayError } from "../../contracts/errors.ts";
import { retention } from "../migrations/038-retention.ts";
import { activity } from "../migrations/040-activity.ts";
import { channelTraffic } from "../migrations/041-channel-traffic.ts";
import type { Migration } from "../migrations/migration.ts";
import type { Connection } from "./connection.ts";
import { fileTables } from "./tables/files.ts";
import { branchTables } from "./tables/branches.ts";
import { messageTables } from "./tables/messages.ts";
import { letterTables, nodeLeaseTables, nodeTables, outboxOwnerTables, ownerColumns } from "./tables/nodes.ts";
import { peopleTables } from "./tables/people.ts";
import { recordTables } from "./tables/records.ts";
import { rowSecurityTables } from "./tables/row-security.ts";
import { sessionCareTables } from "./tables/session-care.ts";

/** What SQLite has after its migrations up to `responses`. From then on each change of tables is a migration on both engines. */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  { name: "first-tables", sql: [messageTables, peopleTables, recordTables].join("\n") },
  { name: "session-care", sql: sessionCareTables },
  retention,
  { name: "nodes", sql: nodeTables },
  activity,
  channelTraffic,
  { name: "owners", sql: ownerColumns },
  { name: "node-leases", sql: nodeLeaseTables },
  { name: "files", sql: fileTables },
  { name: "outbox-owners", sql: outboxOwnerTables },
  { name: "node-letters", sql: letterTables },
  { name: "row-security", sql: rowSecurityTables },
  { name: "branches", sql: branchTables },
  { name: "node-keys", sql: 'alter table nodes add column key_id text collate "C"' },
];

const LOCK = "select pg_advisory_xact_lock(hashtext('pi-gateway migrations'))";
const NAMES = 'create table if not exists migrations (name text collate "C" primary key, applied_at bigint not null)';

/** Applies what is missing, and returns its names. Throws `store_newer` and changes nothing when only a newer build can have made the tables. */
export async function migratePostgres(connection: Connection, at: number): Promise<readonly string[]> {
  await connection.control("begin");
  try {
    await connection.control(LOCK);
    await connection.control(NAMES);
    const { rows } = await connection.ask({ text: "select name from migrations", values: [], name: null });
    const applied = new Set(rows.map((row) => (row as { name: string }).name));
    const unknown = [...applied].find((name) => !POSTGRES_MIGRATIONS.some((known) => known.name === name));
    if (unknown !== undefined) throw newer(unknown);
    const missing = POSTGRES_MIGRATIONS.filter(({ name }) => !applied.has(name));
    for (const { name, sql } of missing) {
      await connection.control(sql);
      const text = "insert into migrations (name, applied_at) values ($1, $2)";
      await connection.ask({ text, values: [name, at], name: null });
    }
    await connection.control("commit");
    return missing.map(({ name }) => name);
  } catch (error) {
    await connection.control("rollback").catch(() => undefined); // the first error says more
    throw error;
  }
}

function newer(migration: string): GatewayError {
  return new GatewayError("store_newer", "the database has a newer version", {
    fields: { migration },
    say: `The Postgres database was written by a newer pi-gateway (its migration ${migration} is not known to this one). Nothing was changed. Start that newer version, or set store.url to another database.`,
  });
}
