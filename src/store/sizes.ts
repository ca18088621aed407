/**
 * How many rows each table has, how much room they take, and from when the oldest is. Both engines have to read much for it: SQLite does so
 * in a thread with a connection of its own, because statements block the thread they run in, and Postgres on its server.
 */
import { pathToFileURL } from "node:url";
import type { DatabaseSizes, TableSize } from "../contracts/store/retention.ts";
import type { Tables } from "./schema.ts";

/** Tables that grow with time, and the column that says when a row was written; null: it has none. */
const GROWING_TABLES = {
  inbox: "received_at",
  outbox: "created_at",
  turns: "begun_at",
  sessions: "created_at",
  conversations: "started_at",
  media: "at",
  tool_calls: "at",
  audit_entries: "at",
  approvals: "asked_at",
  usage: null,
  usage_days: null,
  job_runs: "written_at",
  responses: "created_at",
  system_events: "created_at",
  platform_messages: null,
  reactions: "at",
  session_branches: "at",
  session_tools: "at",
  approval_rules: null,
  approval_grants: null,
  spoken_words: "at",
  idempotent_answers: "at",
  hook_marks: null,
  sign_ins: null,
  notes: null,
  tasks: null,
} as const satisfies Partial<Record<keyof Tables, string | null>>;

/** Postgres keeps session files and media in the database; with SQLite they are in folders. */
export const GROWING_POSTGRES_TABLES = {
  ...GROWING_TABLES,
  files: null,
  file_chunks: null,
} as const satisfies Partial<Record<keyof Tables, string | null>>;

/** As text, so that a bundle and a single executable need no second file for it. A table that an index or a full-text index is of has its bytes too. */
const WORKER = `
import { constants, Database } from "bun:sqlite";
self.onmessage = ({ data }) => {
  const db = new Database(data.url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  db.exec("pragma trusted_schema = off");
  const one = (text) => Object.values(db.query(text).get() ?? {})[0] ?? null;
  const owners = new Map(db.query("select name, tbl_name from sqlite_schema").values());
  const bytes = new Map();
  for (const [name, size] of db.query("select name, pgsize from dbstat where aggregate = true").values()) {
    const owner = name.startsWith("message_index") ? "message_index" : owners.get(name) ?? name;
    bytes.set(owner, (bytes.get(owner) ?? 0) + size);
  }
  const tables = Object.entries(data.tables).map(([table, at]) => ({
    table,
    rows: one("select count(*) from " + table),
    bytes: bytes.get(table) ?? 0,
    oldestAt: at === null ? null : one("select min(" + at + ") from " + table),
  }));
  tables.push({ table: "message_index", rows: one("select count(*) from message_index_docsize"), bytes: bytes.get("message_index") ?? 0, oldestAt: null });
  const total = one("select page_count * page_size from pragma_page_count(), pragma_page_size()");
  db.close();
  postMessage({ bytes: total, tables });
};
`;

export async function sqliteSizes(databaseFile: string, signal: AbortSignal): Promise<DatabaseSizes> {
  signal.throwIfAborted();
  const source = URL.createObjectURL(new Blob([WORKER], { type: "application/javascript" }));
  const worker = new Worker(source);
  const { promise, resolve, reject } = Promise.withResolvers<DatabaseSizes>();
  const giveUp = () => reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    worker.onmessage = ({ data }: MessageEvent<DatabaseSizes>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ url: `${pathToFileURL(databaseFile).href}?mode=ro`, tables: GROWING_TABLES });
    return await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
    worker.terminate();
    URL.revokeObjectURL(source);
  }
}

/** Of a store that keeps nothing. */
export async function noSizes(): Promise<DatabaseSizes> {
  return { bytes: 0, tables: [] satisfies TableSize[] };
}
