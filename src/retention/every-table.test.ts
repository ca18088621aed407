/**
 * Every table of the database has a rule that ends its rows, or a reason why it does not grow by itself; and the size view shows every table
 * that grows. A migration that adds a table turns this red until somebody has decided.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Store } from "../contracts/store.ts";
import { createEvents } from "../observe/index.ts";
import { configJsonSchema } from "../config/index.ts";
import { GROWING_POSTGRES_TABLES } from "../store/sizes.ts";
import { blankDisk } from "../testing/disk.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { retentionKinds, type RetentionSettings } from "./kinds.ts";
import { storageReport } from "./report.ts";

const MESSAGES = "retention.messagesDays";
const SESSIONS = "retention.sessionsDays";
const TOOL_CALLS = "tools.keepDays";

/** The setting that says how long its rows are kept. */
const BY_SETTING: Readonly<Record<string, string>> = {
  inbox: MESSAGES,
  outbox: MESSAGES,
  turns: MESSAGES,
  message_index: MESSAGES,
  platform_messages: MESSAGES,
  reactions: MESSAGES,
  sessions: SESSIONS,
  conversations: SESSIONS,
  session_branches: SESSIONS,
  files: SESSIONS,
  file_chunks: SESSIONS,
  media: "retention.mediaDays",
  usage: "retention.usageDays",
  usage_days: "retention.usageDays",
  tool_calls: TOOL_CALLS,
  audit_entries: TOOL_CALLS,
  session_tools: TOOL_CALLS,
  approvals: TOOL_CALLS,
  approval_rules: TOOL_CALLS,
  approval_grants: SESSIONS,
};

/** Ends by itself: how, and where the code is. */
const BY_ITSELF: Readonly<Record<string, readonly [how: string, file: string]>> = {
  job_runs: ["after seven days, but for the newest of each job", "automation/engine.ts"],
  dead_files: ["when the file is deleted", "store/rows/automation/run-sessions.ts"],
  system_events: ["when it is told, or expires", "store/rows/automation/system-events.ts"],
  hook_marks: ["when it expires", "store/rows/automation/webhook-marks.ts"],
  responses: ["after thirty days", "openai/responses/door.ts"],
  idempotent_answers: ["when no repeat is to be expected", "openai/repeats.ts"],
  spoken_words: ["some time after the recording was heard", "store/rows/channels/transcriptions.ts"],
  sign_ins: ["when it expires", "store/rows/sign-ins.ts"],
  pairings: ["when its code expires, unless it was approved", "store/rows/channels/pairings.ts"],
  nodes: ["some time after the gateway is gone", "store/rows/nodes.ts"],
  node_leases: ["with its session, or when it is given back", "store/rows/node-leases.ts"],
  batches: ["when the gateway that wrote it starts or stops", "store/postgres/open.ts"],
  node_letters: ["seconds after it was sent", "store/postgres/letters/outgoing.ts"],
  job_alerts: ["when the job is well again or removed", "store/rows/automation/job-alerts.ts"],
};

/** Rows that people or settings make, and time alone does not. */
const NOT_BY_TIME: Readonly<Record<string, string>> = {
  meta: "a few keys",
  migrations: "one row for each version of the schema",
  person_logins: "one row for each person who has a login of the database",
  audit_marks: "one row for the beginning of the audit log and one for its end",
  jobs: "people make and remove them",
  role_grants: "people give and take them",
  channel_facts: "one row for each fact of a channel",
  notes: "people's own; the assistant deletes them when asked",
  notes_index: "the index of notes",
  tasks: "people's own; the assistant deletes them when asked",
  api_keys: "people make and revoke them",
  push_subscriptions: "one row for each browser that wants notifications",
};

function tablesOf(file: string): readonly string[] {
  using db = new Database(file, { readonly: true });
  const names = db.query<{ name: string }, []>("select name from sqlite_schema where type = 'table'").all();
  const isShadow = (name: string) => /^(?:message_index|notes_index)_/.test(name);
  return names.map(({ name }) => name).filter((name) => !name.startsWith("sqlite_") && !isShadow(name));
}

/** As its statements say, so that no server is needed. */
async function postgresTables(): Promise<readonly string[]> {
  const folder = join(import.meta.dir, "../store/postgres");
  const texts = [...new Bun.Glob("**/*.ts").scanSync(folder)].map((name) => Bun.file(join(folder, name)).text());
  const created = (await Promise.all(texts))
    .join("\n")
    .matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+) \(/g);
  return [...created].map(([, name = ""]) => name);
}

test("every table of the schema has a rule that ends its rows, or a reason why it does not grow", async () => {
  await using home = await tempHome();
  const file = join(home.path, "gateway.db");
  await Bun.write(file, blankDisk());
  const decided = [BY_SETTING, BY_ITSELF, NOT_BY_TIME].flatMap((rules) => Object.keys(rules));
  const tables = new Set([...tablesOf(file), ...(await postgresTables())]);
  expect(decided.toSorted()).toEqual([...tables].toSorted());
});

test("the code that ends the rows of a table by itself is where the rule says, and deletes them", async () => {
  for (const [table, [, path]] of Object.entries(BY_ITSELF)) {
    const text = await Bun.file(join(import.meta.dir, "..", path)).text();
    expect([table, /deleteFrom|prune|delete from/i.test(text)]).toEqual([table, true]);
  }
});

test("every setting of retention exists, has a default, and drives a kind that deletes", () => {
  const settings = [...new Set(Object.values(BY_SETTING))];
  for (const setting of settings) expect([setting, defaultOf(setting)]).toEqual([setting, expect.any(Number)]);
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  const days: RetentionSettings = {
    messagesDays: 101,
    sessionsDays: 102,
    mediaDays: 103,
    usageDays: 104,
    toolCallsDays: 105,
  };
  const kinds = retentionKinds({ clock, events, store: { retention: {} } as Store }, () => days);
  expect(new Set(kinds.map(({ keepDays }) => keepDays()))).toEqual(new Set(Object.values(days)));
});

function defaultOf(setting: string): unknown {
  type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly default?: unknown };
  let schema = configJsonSchema() as Schema;
  for (const name of setting.split(".")) schema = schema.properties?.[name] ?? {};
  return schema.default;
}

test("the size view shows each table that grows once, under the setting that ends it", async () => {
  const growing = [...Object.keys(GROWING_POSTGRES_TABLES), "message_index"];
  const named = [...Object.keys(BY_SETTING), "job_runs", "system_events", "hook_marks", "responses"];
  const more = ["idempotent_answers", "spoken_words", "sign_ins", "notes", "tasks"];
  expect(growing.toSorted()).toEqual([...named, ...more].toSorted());
  const settings: RetentionSettings = {
    messagesDays: 1,
    sessionsDays: 1,
    mediaDays: 1,
    usageDays: 100,
    toolCallsDays: 1,
  };
  for (const table of growing) {
    const tables = growing.map((name) => ({ table: name, rows: 0, bytes: name === table ? 7 : 0, oldestAt: null }));
    const sizes = async () => ({ bytes: 7, tables, folders: [] });
    const report = await storageReport({ retention: { sizes }, settings: () => settings }, AbortSignal.timeout(1_000));
    const shown = report.kinds.filter(({ bytes }) => bytes === 7);
    expect([table, shown.length]).toEqual([table, 1]);
    expect([table, shown[0]?.setting]).toEqual([table, BY_SETTING[table] ?? null]);
  }
});
