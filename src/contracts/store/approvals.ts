/** Questions to the owner about tool calls, with their answers; and what was allowed for the rest of a conversation. */
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { ApprovalDecision, PlainDecision } from "../tools/approval.ts";
import type { NewApprovalRule } from "./approval-rules.ts";

export interface ApprovalStore {
  /** Who allowed this in this conversation, which has not been begun anew since; null: nobody. It is a tool, or what an end `covers`. */
  grantedBy(sessionKey: SessionKey, covered: string): Promise<Principal | null>;
  put(asked: AskedApproval): Promise<void>;
  /** The hash of the call of an approval that is open; null: there is none, any more. */
  openHash(id: string): Promise<string | null>;
  /** The first end counts; `session` is remembered with it. False: there is no open question with this id, any more. */
  end(id: string, end: ApprovalEnd): Promise<boolean>;
  /**
   * Ends it as `always`, and makes the rule with it; the same rule made again is made anew. `over`: there is no open question with this id, any
   * more. `full`: the agent of the rule has as many as `max`. Then nothing is written.
   */
  endWithRule(id: string, rule: NewApprovalRule, max: number): Promise<"ended" | "over" | "full">;
  /** Those that have ended, latest question first. */
  ended(page: Page): Promise<Listed<EndedApproval>>;
  /** Takes away some of the ended ones that were asked before this. 0: there are none left. */
  prune(before: number): Promise<number>;
}

export interface AskedApproval {
  readonly id: string;
  /** Of exactly the call that will run. */
  readonly hash: string;
  readonly tool: string;
  readonly callId: string;
  readonly because: string;
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly agentId: AgentId;
  readonly principal: Principal;
  readonly role: Role;
  /** Redacted. */
  readonly input: unknown;
  readonly askedAt: number;
  readonly expiresAt: number;
}

export type ApprovalEnd = { readonly at: number } &
  /** `covers`: what `session` allows, where that is not every call of the tool. */
  (
    | {
        readonly decision: PlainDecision;
        readonly by: Principal;
        readonly covers?: string;
        /** Where it was decided, if that is worth a word in the audit log. */
        readonly via?: "notification";
      }
    | { readonly decision: "expired"; readonly by: null } // nobody decided
  );

export interface EndedApproval extends AskedApproval {
  readonly decision: ApprovalDecision | "expired";
  readonly decidedBy: Principal | null;
  readonly decidedAt: number;
}
