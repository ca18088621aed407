/** Which rows of each table are a person's: what somebody may read who is not the gateway. A test holds this list to the tables that there are. */

/** Evaluated once for a query, and not for each row. */
const PERSONS = "(select gateway_persons())::text[]";
const is = (column: string): string => `${column} = any (${PERSONS})`;
/** The policy of the other table decides which of its rows count. */
const among = (column: string, other: string, key: string): string => `${column} in (select ${key} from ${other})`;
const OF_SESSION = among("session_key", "sessions", "key");
const OF_JOB = among("job_id", "jobs", "id");
/** Nobody's but the gateway's. */
const NONE = null;

export const OWN_ROWS: Readonly<Record<string, string | null>> = {
  sessions: is("person"),
  conversations: is("person"),
  turns: OF_SESSION,
  inbox: is("sender"),
  outbox: OF_SESSION,
  platform_messages: [among("message_id", "inbox", "id"), among("message_id", "outbox", "id")].join(" or "),
  reactions: is("principal"),
  system_events: OF_SESSION,
  session_branches: OF_SESSION,
  session_tools: OF_SESSION,
  media: is("owner"),
  files: [
    among("name", "sessions", "file"),
    among("name", "conversations", "file"),
    among("name", "media", "'media/' || id"),
  ].join(" or "),
  file_chunks: among("file", "files", "name"),
  notes: is("owner"),
  tasks: is("owner"),
  tool_calls: is("principal"),
  approvals: is("principal"),
  approval_grants: OF_SESSION,
  approval_rules: is("principal"),
  jobs: is("created_by"),
  job_runs: OF_JOB,
  job_alerts: OF_JOB,
  responses: is("principal"),
  idempotent_answers: is("principal"),
  usage: is("principal"),
  usage_days: `what = 'principal' and ${is("key")}`,
  role_grants: is("principal"),
  // digests of what people sign in with are for the gateway alone
  sign_ins: NONE,
  pairings: NONE,
  api_keys: NONE,
  push_subscriptions: NONE,
  person_logins: NONE,
  spoken_words: NONE,
  audit_marks: NONE,
  audit_entries: NONE,
  channel_facts: NONE,
  hook_marks: NONE,
  dead_files: NONE,
  meta: NONE,
  batches: NONE,
  nodes: NONE,
  node_leases: NONE,
  node_letters: NONE,
};

/** Tables without row level security, and why. */
export const UNSECURED_TABLES: Readonly<Record<string, string>> = {
  migrations: "it is read before there are policies",
  store_move: "the move that makes it also removes it",
};
