/** The tables of jobs as types; part of schema.ts, which names them. */
import type { Generated } from "kysely";
import type { AlertKind, Job, RunStatus } from "../contracts/automation/job.ts";
import type { AgentId, InstanceId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";

/** SQLite has no boolean. */
type Flag = 0 | 1;

export interface JobTable {
  id: string;
  source: Job["source"];
  created_by: Principal;
  role: Role;
  agent_id: AgentId;
  channel: string;
  account: string;
  chat: string;
  thread: string | null;
  kind: Job["schedule"]["kind"];
  expr: string;
  timezone: string | null;
  mode: Job["mode"];
  delivery: Job["delivery"];
  delete_after_run: Flag;
  catch_up: Job["catchUp"];
  overlap: Job["overlap"];
  timeout_ms: number | null;
  state: Job["state"];
  because: string | null;
  created_at: number;
  anchor_at: number;
  next_at: number | null;
  failures: number;
  revision: number;
  task: string;
  session_key: SessionKey | null;
  webhook: string | null;
  /** A JSON list. */
  needs: string | null;
  slot_zone: string | null;
}

export interface JobRunTable {
  seq: Generated<number>;
  id: string;
  job_id: string;
  slot: number;
  manual: Flag;
  status: RunStatus;
  reason: string | null;
  attempt: number;
  started_at: number | null;
  ms: number | null;
  turn_id: TurnId | null;
  retry_at: number | null;
  written_at: number;
  /** The gateway that runs it. */
  node: InstanceId | null;
}

export interface DeadFileTable {
  file: string;
}

export interface JobAlertTable {
  seq: Generated<number>;
  id: string;
  job_id: string;
  kind: AlertKind;
  failures: number;
  because: string | null;
  at: number;
}
