/** Approval rules as they are stored. Nothing is remembered outside of the database: a rule that is removed allows nothing from then on. */
import type { Principal, SessionKey } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { ApprovalRule, RuledCall } from "../tools/approval-rule.ts";

export interface ApprovalRuleStore {
  /** Those of this person, agent and tool that hold at this time, in no certain order. */
  of(call: Pick<RuledCall, "tool" | "agentId" | "principal">, at: number): Promise<readonly ApprovalRule[]>;
  /** Counts a use, with its audit entry. False: the rule does not hold any more, and allows nothing. */
  use(id: string, use: RuleUse): Promise<boolean>;
  /** Those that hold at this time, newest first. */
  list(at: number, page: Page): Promise<Listed<ApprovalRule>>;
  /** Removes it; its audit entry stays. False: there was none. */
  remove(id: string, by: Principal, at: number): Promise<boolean>;
  /** Takes away some of those that ended before this. 0: there are none left. */
  prune(before: number): Promise<number>;
}

/** A call that a rule allows. */
export interface RuleUse {
  readonly at: number;
  readonly callId: string;
  /** Of exactly the call that will run. */
  readonly callHash: string;
  readonly sessionKey: SessionKey;
}

export type NewApprovalRule = Omit<ApprovalRule, "lastUsedAt" | "uses">;
