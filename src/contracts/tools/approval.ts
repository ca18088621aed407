/** A call that waits for the owner's word. Bound to exactly this call, used once, gone after a while. */
import type { Caller } from "../agent.ts";
import type { Principal, SessionKey, TurnId } from "../ids.ts";

export interface Approvals {
  /**
   * Stores the question, shows it to owners, waits. `session`: the same tool need not ask again in this session. Nobody answered in time,
   * or the signal aborted: `expired`. A question that was open when the gateway died is expired at the next start.
   */
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
  pending(): readonly PendingApproval[];
  /** `unknown`: there is no such open question, any more. Only owners may; the caller of this has checked that. */
  decide(id: string, decision: ApprovalDecision, by: Principal): Promise<"done" | "unknown">;
}

export interface ApprovalQuestion {
  readonly tool: string;
  readonly callId: string;
  readonly caller: Caller;
  /** What it will run with, redacted, for people to read. */
  readonly shown: unknown;
  /** SHA-256 over tool, caller and the exact parameters: what is approved is what runs. */
  readonly hash: string;
}

export type ApprovalDecision = "once" | "session" | "deny";
export type ApprovalAnswer = ApprovalDecision | "expired";

export interface PendingApproval {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly principal: Principal;
  readonly askedAt: number;
  readonly expiresAt: number;
}
