/** The tables as types: what the query builder checks against. The tables themselves are made in migrations/. */
import type { OutboundMessage, ToolStatus } from "../contracts/chat.ts";
import type { OutboxState } from "../contracts/delivery.ts";
import type { AgentId, InboxId, MediaId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Generated } from "kysely";

/** SQLite has no boolean. */
export type Flag = 0 | 1;

export interface Tables {
  meta: MetaTable;
  sessions: SessionTable;
  inbox: InboxTable;
  turns: TurnTable;
  outbox: OutboxTable;
  tool_calls: ToolCallTable;
  audit_marks: AuditMarkTable;
  media: MediaTable;
  sign_ins: SignInTable;
}

export interface MetaTable {
  key: "epoch" | "clean";
  value: number;
}

export interface SessionTable {
  key: SessionKey;
  channel: string;
  agent_id: AgentId;
  title: string;
  /** Title and key in lower case: SQLite folds only ASCII. */
  search_text: string;
  created_at: number;
  last_activity_at: number;
  messages: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  file: string;
  settled_bytes: number;
}

export interface InboxTable {
  seq: Generated<number>;
  id: InboxId;
  session_key: SessionKey;
  agent_id: AgentId;
  role: Role;
  priority: number;
  channel: string;
  account: string;
  chat: string;
  thread: string | null;
  event_id: string;
  fingerprint: string;
  scope: "dm" | "group";
  sender: Principal;
  sender_name: string;
  text: string;
  attachments: string; // JSON
  mentioned: Flag;
  received_at: number;
  turn_id: TurnId | null;
  done: Flag;
}

export interface TurnTable {
  seq: Generated<number>;
  id: TurnId;
  session_key: SessionKey;
  agent_id: AgentId;
  attempt: number;
  state: "running" | "done" | "failed" | "aborted";
  unsafe: Flag;
  /** The session file of the latest attempt: a reset in the middle of a turn must not be undone by its end. */
  file: string;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  error_code: string | null;
  error_detail: string | null;
  begun_at: number;
  ended_at: number | null;
  spans: Generated<string>; // JSON
}

export interface OutboxTable {
  seq: Generated<number>;
  id: string;
  turn_id: TurnId;
  session_key: SessionKey;
  part: number;
  channel: string;
  account: string;
  chat: string;
  thread: string | null;
  kind: OutboundMessage["kind"];
  state: OutboxState;
  attempts: Generated<number>;
  lost: Generated<number>;
  first_tried_at: number | null;
  next_try_at: number | null;
  provider_id: string | null;
  /** Why it was not sent yet, or not at all; null when it was sent and there is no doubt. */
  because: string | null;
  created_at: number;
  /** Null until nothing more will happen to it. */
  ended_at: number | null;
  text: string;
}

export type NewReply = Omit<
  OutboxTable,
  "seq" | "state" | "attempts" | "lost" | "first_tried_at" | "next_try_at" | "provider_id" | "because" | "ended_at"
>;

/** What is read often comes first: a long input or output is not touched by a list that skips the row. */
export interface ToolCallTable {
  seq: Generated<number>;
  id: string;
  call_id: string;
  scope: string;
  turn_id: TurnId;
  session_key: SessionKey;
  principal: Principal;
  tool: string;
  origin: string;
  path: string;
  params_hash: string;
  idempotent: Flag;
  status: ToolStatus;
  ms: number | null;
  at: number;
  /** Places in the chain, and the hash there; null only for rows of an older version until the next start. */
  intent_no: number | null;
  intent_hash: string | null;
  end_no: number | null;
  end_hash: string | null;
  input: string; // JSON
  output: string | null;
  reply: string | null; // JSON
}

/** Where the chain of tool calls begins and ends. `mac`: only the gateway could have written it. */
export interface AuditMarkTable {
  name: "start" | "head";
  no: number;
  hash: string;
  mac: string;
}

export interface MediaTable {
  id: MediaId;
  owner: Principal;
  name: string;
  mime_type: string;
  bytes: number;
  at: number;
}

export interface SignInTable {
  digest: string;
  principal: Principal;
  created_at: number;
  expires_at: number;
  auth_digest: string;
}
