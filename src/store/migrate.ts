/**
 * Brings the tables of a database up to date, in one transaction: a crash in the middle leaves the database as it was. The table
 * `migrations` holds the names of those that were applied; `user_version` holds their number, by which gateways from before that table
 * notice a database that is newer than they are. Never steps back.
 */
import type { Database } from "bun:sqlite";
import { firstMessage } from "./migrations/early/001-first-message.ts";
import { turnSpans } from "./migrations/early/002-turn-spans.ts";
import { outboxStates } from "./migrations/early/003-outbox-states.ts";
import { queueModes } from "./migrations/early/004-queue-modes.ts";
import { sessionSettings } from "./migrations/early/005-session-settings.ts";
import { toolCallChain } from "./migrations/early/007-tool-call-chain.ts";
import { notesAndTasks } from "./migrations/early/009-notes-and-tasks.ts";
import { postsAndFiles } from "./migrations/early/010-posts-and-files.ts";
import { jobs } from "./migrations/early/011-jobs.ts";
import { approvals } from "./migrations/early/012-approvals.ts";
import { systemEvents } from "./migrations/014-system-events.ts";
import { jobSessions } from "./migrations/015-job-sessions.ts";
import { channels } from "./migrations/020-channels.ts";
import { jobAlerts } from "./migrations/021-job-alerts.ts";
import { usage } from "./migrations/022-usage.ts";
import { webhookMarks } from "./migrations/023-webhook-marks.ts";
import { jobNeeds } from "./migrations/024-job-needs.ts";
import { slotZones } from "./migrations/025-slot-zones.ts";
import { quotedText } from "./migrations/026-quoted-text.ts";
import { partMessages } from "./migrations/027-part-messages.ts";
import { turnCrashes } from "./migrations/028-turn-crashes.ts";
import { auditEntries } from "./migrations/029-audit-entries.ts";
import { askedInput } from "./migrations/030-asked-input.ts";
import { messageIds } from "./migrations/031-message-ids.ts";
import { reactionsThatWake } from "./migrations/032-reactions-that-wake.ts";
import { outboxClaims } from "./migrations/033-outbox-claims.ts";
import { apiKeys } from "./migrations/034-api-keys.ts";
import { sessionTools } from "./migrations/035-session-tools.ts";
import { responses } from "./migrations/036-responses.ts";
import { sessionCare } from "./migrations/037-session-care.ts";
import { retention } from "./migrations/038-retention.ts";
import { nodes } from "./migrations/039-nodes.ts";
import { activity } from "./migrations/040-activity.ts";
import { channelTraffic } from "./migrations/041-channel-traffic.ts";
import { owners } from "./migrations/042-owners.ts";
import { nodeLeases } from "./migrations/043-node-leases.ts";
import { outboxOwners } from "./migrations/044-outbox-owners.ts";
import { branches } from "./migrations/045-branches.ts";
import { nodeKeys } from "./migrations/046-node-keys.ts";
import { idempotentAnswers } from "./migrations/047-idempotent-answers.ts";
import { pushSubscriptions } from "./migrations/048-push-subscriptions.ts";
import { nodeVersions } from "./migrations/049-node-versions.ts";
import { approvalRules } from "./migrations/050-approval-rules.ts";
import { indexLater } from "./migrations/051-index-later.ts";
import { signInBrowsers } from "./migrations/052-sign-in-browsers.ts";
import { retriedReplies } from "./migrations/053-retried-replies.ts";
import type { Migration } from "./migrations/migration.ts";

/**
 * In the order in which a new database gets them. The order up to `reactionsThatWake` never changes: a database from before the table of
 * names says only how many of them it has.
 */
const MIGRATIONS: readonly Migration[] = [
  firstMessage,
  turnSpans,
  outboxStates,
  queueModes,
  sessionSettings,
  toolCallChain,
  notesAndTasks,
  postsAndFiles,
  jobs,
  approvals,
  systemEvents,
  jobSessions,
  channels,
  jobAlerts,
  usage,
  webhookMarks,
  jobNeeds,
  slotZones,
  quotedText,
  partMessages,
  turnCrashes,
  auditEntries,
  askedInput,
  messageIds,
  reactionsThatWake,
  outboxClaims,
  apiKeys,
  sessionTools,
  responses,
  sessionCare,
  retention,
  nodes,
  activity,
  channelTraffic,
  owners,
  nodeLeases,
  outboxOwners,
  branches,
  nodeKeys,
  idempotentAnswers,
  pushSubscriptions,
  nodeVersions,
  approvalRules,
  indexLater,
  signInBrowsers,
  retriedReplies,
];

/** The `user_version` that this build writes. A file with a higher number belongs to a newer build. */
export const NEWEST_VERSION = MIGRATIONS.length;

/** Marks the file as ours ("piGW"), so that a stranger's SQLite file is refused and not filled with our tables. */
export const APPLICATION_ID = 0x70694757;

/** Applies what is missing, and returns its names. The caller has asked `unknownMigration` first. */
export function migrate(db: Database, at: number, migrations = MIGRATIONS): readonly string[] {
  const applyMissing = db.transaction((): readonly string[] => {
    if (!hasNames(db)) recordNumbered(db, at, migrations);
    const applied = new Set(appliedNames(db));
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const { name, sql } of missing) {
      db.exec(sql);
      record(db, name, at);
    }
    if (missing.length === 0) return [];
    db.exec(`pragma application_id = ${APPLICATION_ID}`);
    db.exec(`pragma user_version = ${applied.size + missing.length}`);
    return missing.map(({ name }) => name);
  });
  return applyMissing.immediate();
}

/** The name of a migration that only a newer build can have applied; undefined: all are known. Changes nothing. */
export function unknownMigration(db: Database): string | undefined {
  if (!hasNames(db)) return undefined;
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  return appliedNames(db).find((name) => !known.has(name));
}

/** Whether `migrate` would change nothing. */
export function isUpToDate(db: Database): boolean {
  if (!hasNames(db)) return false;
  const applied = new Set(appliedNames(db));
  return MIGRATIONS.every(({ name }) => applied.has(name));
}

/** Takes over a database that only has a number: so many of the first migrations were applied. */
function recordNumbered(db: Database, at: number, migrations: readonly Migration[]): void {
  db.exec("create table migrations (name text primary key, applied_at integer not null) strict, without rowid");
  const count = Number(firstColumn(db, "pragma user_version")[0]);
  for (const { name } of migrations.slice(0, count)) record(db, name, at);
}

function record(db: Database, name: string, at: number): void {
  db.run("insert into migrations (name, applied_at) values (?, ?)", [name, at]);
}

function hasNames(db: Database): boolean {
  return firstColumn(db, "select 1 from sqlite_schema where type = 'table' and name = 'migrations'").length > 0;
}

function appliedNames(db: Database): readonly string[] {
  return firstColumn(db, "select name from migrations").map(String);
}

/** Leaves no open statement behind, which would keep the file open. */
export function firstColumn(db: Database, text: string): readonly unknown[] {
  const statement = db.prepare(text);
  try {
    return statement.values().map((row) => row[0]);
  } finally {
    statement.finalize();
  }
}
