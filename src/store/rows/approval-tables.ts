/** The tables of approvals as types. */
import type { Generated } from "kysely";
import type { AgentId, InstanceId, Principal, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { EndedApproval } from "../../contracts/store/approvals.ts";
import type { RuleReach } from "../../contracts/tools/approval-rule.ts";

export interface ApprovalTable {
  seq: Generated<number>;
  id: string;
  hash: string;
  tool: string;
  call_id: string;
  because: string;
  session_key: SessionKey;
  turn_id: TurnId;
  agent_id: AgentId;
  principal: Principal;
  role: Role;
  asked_at: number;
  expires_at: number;
  /** Null: open. */
  decision: EndedApproval["decision"] | null;
  decided_by: Principal | null;
  decided_at: number | null;
  input: string; // JSON
  /** The gateway in which the call waits. */
  node: InstanceId | null;
}

/** A tool that need not ask again in a conversation. */
export interface GrantTable {
  session_key: SessionKey;
  tool: string;
  given_by: Principal;
  at: number;
}

/** A standing yes to calls like one that an owner has seen. */
export interface RuleTable {
  seq: Generated<number>;
  id: string;
  tool: string;
  agent_id: AgentId;
  principal: Principal;
  origins: string; // JSON
  because: string;
  reach: RuleReach;
  /** A digest of the call, the name of a program, or a folder. */
  value: string;
  says: string;
  shown: string;
  approval_id: string;
  call_hash: string;
  made_by: Principal;
  made_at: number;
  expires_at: number;
  last_used_at: number | null;
  uses: Generated<number>;
}
