/** The tables of approvals as types. */
import type { Generated } from "kysely";
import type { AgentId, InstanceId, Principal, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { ApprovalEnd } from "../../contracts/store/approvals.ts";

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
  decision: ApprovalEnd["decision"] | null;
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
