/** Which tables a move copies, by what key and in which order, and why the others stay. A test holds the lists to the tables that there are. */
import type { Tables } from "../schema.ts";

export interface MovedTable {
  readonly name: keyof Tables;
  /** The primary key: rows are read and counted by it, piece by piece. */
  readonly key: readonly string[];
}

const SEQ = ["seq"];

/** A table comes after those that its rows refer to. */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: "sessions", key: ["key"] },
  { name: "turns", key: SEQ },
  { name: "inbox", key: SEQ },
  { name: "outbox", key: SEQ },
  { name: "session_branches", key: ["session_key", "from_key"] },
  { name: "conversations", key: ["file"] },
  { name: "platform_messages", key: SEQ },
  { name: "reactions", key: ["message_id", "principal"] },
  { name: "tool_calls", key: SEQ },
  { name: "audit_entries", key: SEQ },
  { name: "audit_marks", key: ["name"] },
  { name: "approvals", key: SEQ },
  { name: "approval_grants", key: ["session_key", "tool"] },
  { name: "approval_rules", key: SEQ },
  { name: "media", key: ["id"] },
  { name: "sign_ins", key: ["digest"] },
  { name: "role_grants", key: ["principal"] },
  { name: "pairings", key: ["id"] },
  { name: "api_keys", key: ["id"] },
  { name: "push_subscriptions", key: ["id"] },
  { name: "channel_facts", key: ["channel", "account", "key"] },
  { name: "spoken_words", key: ["digest"] },
  { name: "system_events", key: SEQ },
  { name: "jobs", key: ["id"] },
  { name: "job_runs", key: SEQ },
  { name: "job_alerts", key: SEQ },
  { name: "dead_files", key: ["file"] },
  { name: "hook_marks", key: ["hook", "mark"] },
  { name: "notes", key: SEQ },
  { name: "tasks", key: SEQ },
  { name: "usage", key: ["day", "id"] },
  { name: "usage_days", key: ["what", "day", "key"] },
  { name: "session_tools", key: ["session_key", "tool"] },
  { name: "responses", key: ["id"] },
  { name: "idempotent_answers", key: ["principal", "key"] },
];

/** Tables that are not copied, and why. */
export const LEFT_TABLES: Readonly<Record<string, string>> = {
  migrations: "each engine has its own",
  meta: "the number of starts is written at the end; everything else in it is about one database file",
  nodes: "the gateways of the source have ended",
  node_leases: "the gateways of the source have ended, and hold nothing any more",
  node_letters: "they are for the moment",
  batches: "it says which batch of writes a connection to this Postgres committed last",
  files: "each engine keeps files in its own way; they are moved behind the rows",
  file_chunks: "each engine keeps files in its own way; they are moved behind the rows",
  person_logins: "people connect to Postgres alone; see row level security",
  notes_index: "the target makes its own full-text index",
  message_index: "the target makes its own full-text index",
};
