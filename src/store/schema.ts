/** The tables as types: what the query builder checks against. The tables themselves are made in migrations/. */
import type { QueueMode, ThinkingLevel } from "../contracts/session-settings.ts";
import type { PairingRow } from "../contracts/channels/pairing.ts";
import type { SystemEvent } from "../contracts/automation/system-event.ts";
import type { MessageOrigin, ToolStatus } from "../contracts/chat.ts";
import type { AgentId, InboxId, InstanceId, MediaId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { AuditKind } from "../contracts/store/tool-calls.ts";
import type { FileChunkTable, FileTable } from "./files/file-tables.ts";
import type { MessageTables } from "./rows/channels/message-tables.ts";
import type { ApprovalTable, GrantTable, RuleTable } from "./rows/approval-tables.ts";
import type { ApiKeyTable } from "./rows/api-keys.ts";
import type { PushSubscriptionTable } from "./rows/push-subscriptions.ts";
import type { SessionToolTable } from "./rows/session-tools.ts";
import type { NodeLeaseTable } from "./rows/node-leases.ts";
import type { NodeTable } from "./rows/nodes.ts";
import type { OutboxTable } from "./rows/outbox-table.ts";
import type { IdempotentAnswerTable } from "./rows/idempotent-answers.ts";
import type { ResponseTable } from "./rows/responses.ts";
import type { SignInTable } from "./rows/sign-ins.ts";
import type { UsageTables } from "./rows/usage-tables.ts";
import type { TaskPriority, TaskStatus } from "../contracts/store/tasks.ts";
import type { Generated } from "kysely";
import type { DeadFileTable, JobAlertTable, JobRunTable, JobTable } from "./job-schema.ts";
import type { WebhookMarkTable } from "./rows/automation/webhook-marks.ts";

/** SQLite has no boolean. */
export type Flag = 0 | 1;

export interface Tables extends UsageTables, MessageTables {
  meta: MetaTable;
  nodes: NodeTable;
  node_leases: NodeLeaseTable;
  sessions: SessionTable;
  inbox: InboxTable;
  turns: TurnTable;
  outbox: OutboxTable;
  tool_calls: ToolCallTable;
  audit_marks: AuditMarkTable;
  audit_entries: AuditEntryTable;
  media: MediaTable;
  sign_ins: SignInTable;
  jobs: JobTable;
  job_runs: JobRunTable;
  job_alerts: JobAlertTable;
  dead_files: DeadFileTable;
  system_events: SystemEventTable;
  hook_marks: WebhookMarkTable;
  conversations: ConversationTable;
  session_branches: SessionBranchTable;
  role_grants: RoleGrantTable;
  pairings: PairingTable;
  channel_facts: ChannelFactTable;
  spoken_words: SpokenWordTable;
  notes: NoteTable;
  notes_index: NoteIndexTable;
  tasks: TaskTable;
  approvals: ApprovalTable;
  approval_grants: GrantTable;
  approval_rules: RuleTable;
  api_keys: ApiKeyTable;
  push_subscriptions: PushSubscriptionTable;
  session_tools: SessionToolTable;
  responses: ResponseTable;
  idempotent_answers: IdempotentAnswerTable;
  files: FileTable;
  file_chunks: FileChunkTable;
}

interface MetaTable {
  /** `indexed_…`: how far messages are in the full-text index. `index_…`: how far up it is to be filled again; not there when it is full. `write_attempts`: counted up to find out whether the disk takes writes again. */
  key: "epoch" | "clean" | "write_attempts" | "index_inbox" | "index_outbox" | "indexed_inbox" | "indexed_outbox";
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
  /** Who alone speaks here; null for groups and where several people do. */
  person: Principal | null;
  /** Null: the agent's own. */
  model: string | null;
  thinking: ThinkingLevel | null;
  /** 1: somebody gave it its title. */
  named: Generated<Flag>;
  switched_by: TurnId | null;
  /** Null: as its channel, and the gateway, say. */
  queue_mode: QueueMode | null;
  pinned_at: number | null;
  archived_at: number | null;
}

/** A conversation that is not the current one of any session. */
export interface ConversationTable {
  file: string;
  session_key: SessionKey;
  agent_id: AgentId;
  person: Principal | null;
  title: string;
  started_at: number;
  ended_at: number;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  settled_bytes: number;
}

/** A session begins with the turns of another one, up to one of them. */
export interface SessionBranchTable {
  session_key: SessionKey;
  from_key: SessionKey;
  up_to: number;
  at: number;
}

export interface RoleGrantTable {
  principal: Principal;
  role: Role;
  granted_by: Principal;
  at: number;
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
  quoted: string | null; // JSON; null: none
  attachments: string; // JSON
  mentioned: Flag;
  received_at: number;
  turn_id: TurnId | null;
  done: Flag;
  /** 1: came when its session was full, and is shown shortened. 2: is only counted. */
  overflow: Generated<0 | 1 | 2>;
  origin: Generated<Exclude<MessageOrigin, "reaction">>;
  /** Instead of `origin`, whose check does not know it. */
  begun_by: "reaction" | null;
  /** Its sender changed it while it waited. */
  edited_at: number | null;
  own_reactions: string | null; // JSON; the assistant's
  pinned_at: number | null;
  /** The gateway whose queue it is in. */
  node: InstanceId | null;
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
  /** In how many crashes of the gateway it was at work. */
  crashes: Generated<number>;
  /** A process of the gateway is working on it, or was when it died. */
  at_work: Generated<Flag>;
  /** The gateway that works on it, or took it over. */
  node: InstanceId | null;
  /** How long the session file was before its first words, and after its last ones; null: not known, or not yet. */
  began_bytes: number | null;
  settled_bytes: number | null;
  /** Its messages were sent anew, changed or not, or one before them was; it is shown no more. */
  superseded_at: number | null;
  /** What the model thought before it answered. */
  reasoning: string | null;
}

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
  /** What was asked for, where it is not `input`. */
  asked: string | null; // JSON
  /** The gateway that runs it. */
  node: InstanceId | null;
}

/** Where the chain of tool calls begins and ends. `mac`: only the gateway could have written it. */
export interface AuditMarkTable {
  name: "start" | "head";
  no: number;
  hash: string;
  mac: string;
}

export interface AuditEntryTable {
  seq: number;
  kind: AuditKind;
  at: number;
  actor: string;
  subject: string;
  no: number;
  hash: string;
  detail: string;
}

export interface MediaTable {
  id: MediaId;
  owner: Principal;
  name: string;
  mime_type: string;
  bytes: number;
  at: number;
}

export interface SystemEventTable {
  seq: Generated<number>;
  id: string;
  session_key: SessionKey;
  source: string;
  kind: SystemEvent["kind"];
  text: string;
  created_at: number;
  expires_at: number;
  /** 1: one too many, only counted. */
  hidden: Generated<Flag>;
  /** The turn that shows it. */
  turn_id: TurnId | null;
  /** 1: that turn ended well. */
  shown: Generated<Flag>;
}

export interface PairingTable {
  id: string;
  channel: string;
  account: string;
  principal: Principal;
  name: string;
  digest: string;
  state: PairingRow["state"];
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by: Principal | null;
}

export interface ChannelFactTable {
  channel: string;
  account: string;
  key: string;
  value: string;
}

export interface SpokenWordTable {
  digest: string;
  words: string;
  at: number;
}

export interface NoteTable {
  seq: Generated<number>;
  id: string;
  owner: Principal;
  /** 1, 2, 3 … for each person. */
  number: number;
  /** The owner as one word of the search index. */
  owner_key: string;
  /** Equal for the same note of the same work. */
  once: string;
  title: string;
  content: string;
  tags: string; // one per line
  created_at: number;
  /** On Postgres alone: what the full-text search looks in. */
  words: Generated<string>;
}

/** Read by rowid, which is the note's seq. */
interface NoteIndexTable extends Pick<NoteTable, "owner_key" | "title" | "content" | "tags"> {
  rowid: number;
}

export interface TaskTable {
  seq: Generated<number>;
  id: string;
  owner: Principal;
  /** 1, 2, 3 … for each person. */
  number: number;
  once: string;
  title: string;
  due_date: string | null;
  priority: TaskPriority;
  status: TaskStatus;
  /** Where it stands among those of its status. */
  place: number;
  created_at: number;
  completed_at: number | null;
}
