/** Approval rules: an owner's standing yes to calls like one that was shown. For one person with one agent, and never wider than what was chosen. */
import type { AgentId, Principal } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { ToolOrigin } from "./tool.ts";

/** How far a rule goes: exactly this call, every simple command of one program, or every file below one folder. */
export const RULE_REACHES = ["call", "program", "folder"] as const;
export type RuleReach = (typeof RULE_REACHES)[number];

/** A rule that may be made of an open approval. */
export interface RuleChoice {
  readonly reach: RuleReach;
  /** A digest of the call, the name of the program, or the folder. */
  readonly value: string;
  /** What it would allow, as people read it: "every git command". */
  readonly says: string;
}

/** A call as rules see it. */
export interface RuledCall {
  readonly tool: string;
  readonly agentId: AgentId;
  readonly principal: Principal;
  /** Where it has its beginning, and where everything began that led to it. */
  readonly origins: readonly ToolOrigin[];
  /** Why the owner would be asked: a rule answers no other question than the one that it was made from. */
  readonly because: string;
  /** Of the tool with its schema, the exact parameters and the file that they lead to. */
  readonly digest: string;
  /** Of a shell command that starts one program and nothing else; null: it is none. */
  readonly program: string | null;
  /** The file that it reads or changes, without links; null: it is about none. */
  readonly file: string | null;
}

export interface ApprovalRule
  extends RuleChoice, Pick<RuledCall, "tool" | "agentId" | "principal" | "origins" | "because"> {
  readonly id: string;
  /** The call it was made from, redacted, as it was shown; cut when it is long. */
  readonly shown: string;
  readonly approvalId: string;
  /** Of the call that was approved. */
  readonly callHash: string;
  readonly madeBy: Principal;
  readonly madeAt: number;
  readonly expiresAt: number;
  /** Null: never. */
  readonly lastUsedAt: number | null;
  readonly uses: number;
}

export interface ApprovalRules {
  /** Newest first; those that still hold. */
  list(page: Page): Promise<Listed<ApprovalRule>>;
  /** Holds from the next call on, at every gateway. False: there is no such rule, any more. */
  remove(id: string, by: Principal): Promise<boolean>;
}
