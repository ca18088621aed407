/**
 * Brings the tables of a Postgres database up to date, in one transaction and one gateway at a time. The table `migrations` holds the names
 * of those that were applied, and which versions work with them. Never steps back.
 */
import { GatewayError } from "../../contracts/errors.ts";
import { retention } from "../migrations/038-retention.ts";
import { activity } from "../migrations/040-activity.ts";
import { channelTraffic } from "../migrations/041-channel-traffic.ts";
import type { Migration } from "../migrations/migration.ts";
import { askPostgres } from "../ask-rows.ts";
import type { Connection } from "./connection.ts";
import { refuseOtherEncoding } from "./encoding.ts";
import { type AppliedMigration, planMigrations } from "./migration-plan.ts";
import { approvalRuleTables } from "./tables/approval-rules.ts";
import { fileTables } from "./tables/files.ts";
import { branchTables } from "./tables/branches.ts";
import { messageTables, retriedReplyColumns } from "./tables/messages.ts";
import { letterTables, nodeLeaseTables, nodeTables, outboxOwnerTables, ownerColumns } from "./tables/nodes.ts";
import { idempotentAnswerTables, peopleTables } from "./tables/people.ts";
import { pushSubscriptionTables } from "./tables/push-subscriptions.ts";
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
  { name: "idempotent-answers", sql: idempotentAnswerTables },
  { name: "push-subscriptions", sql: pushSubscriptionTables },
  {
    name: "node-versions",
    sql: 'alter table nodes add column settings text collate "C", add column plugins text collate "C"',
  },
  { name: "approval-rules", sql: approvalRuleTables },
  { name: "sign-in-browsers", sql: 'alter table sign_ins add column browser text collate "C"' },
  { name: "retried-replies", sql: retriedReplyColumns },
];

const LOCK = "select pg_advisory_xact_lock(hashtext('pi-gateway migrations'))";
const NAMES = `create table if not exists migrations (name text collate "C" primary key, applied_at bigint not null);
  alter table migrations add column if not exists works_from text collate "C"`;
const HAS_NODES = "select to_regclass('nodes') is not null as there";
const LIVE = `select version from nodes where state <> 'gone' and expires_at > extract(epoch from clock_timestamp()) * 1000`;

const OLDEST = "0.0.0";

export interface MigrateOptions {
  readonly at: number;
  /** Of this gateway. Undefined: older than all. */
  readonly version?: string | undefined;
  /** For tests: those of another version. */
  readonly migrations?: readonly Migration[];
}

interface Migrated {
  /** Names of what was applied. */
  readonly applied: readonly string[];
  /** Names of what a later start applies, because a gateway lives that would not work with it. */
  readonly waiting: readonly string[];
}

/**
 * Applies what is missing. Throws `store_newer` when only a newer version works on these tables, and `store_failed` when the database has
 * another encoding than is needed; nothing is changed then.
 */
export async function migratePostgres(connection: Connection, options: MigrateOptions): Promise<Migrated> {
  await refuseOtherEncoding(connection);
  return locked(connection, async () => {
    const { apply, wait } = await planFor(connection, options);
    for (const { name, sql, worksFrom = null } of apply) {
      await connection.control(sql);
      const text = "insert into migrations (name, applied_at, works_from) values ($1, $2, $3)";
      await connection.ask({ text, values: [name, options.at, worksFrom], name: null });
    }
    return { applied: apply.map(({ name }) => name), waiting: wait.map(({ name }) => name) };
  });
}

/** Once others can see that this gateway lives: one that started at the same moment may not have seen it, and have taken something away. */
export async function stillWorksOn(connection: Connection, options: MigrateOptions): Promise<void> {
  await locked(connection, () => planFor(connection, options));
}

async function planFor(connection: Connection, { version = OLDEST, migrations = POSTGRES_MIGRATIONS }: MigrateOptions) {
  const ask = askPostgres(connection);
  const applied = await ask<AppliedMigration>('select name, works_from as "worksFrom" from migrations');
  const [nodes] = await ask<{ there: boolean }>(HAS_NODES);
  const live = nodes?.there ? await ask<{ version: string }>(LIVE) : [];
  const plan = planMigrations({ applied, known: migrations, version, live: live.map((node) => node.version) });
  if (plan.kind === "too old") throw newer(plan);
  return plan;
}

/** In a transaction, and one gateway at a time. */
async function locked<T>(connection: Connection, run: () => Promise<T>): Promise<T> {
  await connection.control("begin");
  try {
    await connection.control(LOCK);
    await connection.control(NAMES);
    const value = await run();
    await connection.control("commit");
    return value;
  } catch (error) {
    await connection.control("rollback").catch(() => undefined); // the first error says more
    throw error;
  }
}

function newer({ migration, worksFrom }: { readonly migration: string; readonly worksFrom: string }): GatewayError {
  return new GatewayError("store_newer", "the database has a newer version", {
    fields: { migration, worksFrom },
    say: `The Postgres database was changed by a newer pi-gateway (its migration ${migration} works from version ${worksFrom} on). Nothing was changed. Start version ${worksFrom} or newer, or set store.url to another database.`,
  });
}
