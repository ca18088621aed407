/** The owner's answer to a question, the same for the API and the socket. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import { RULE_REACHES, type RuleReach } from "../../contracts/tools/approval-rule.ts";
import type { ApprovalDecision, Approvals } from "../../contracts/tools/approval.ts";
import type { HttpDeps } from "../types.ts";

const DECISIONS = ["once", "session", "always", "deny"] as const satisfies readonly ApprovalDecision[];

/** `rule` says how far an `always` goes; without it, to exactly this call. */
export const DECISION = {
  decision: Type.Unsafe<ApprovalDecision>({ enum: DECISIONS }),
  rule: Type.Optional(Type.Unsafe<RuleReach>({ enum: RULE_REACHES })),
};

interface Decided {
  readonly id: string;
  readonly decision: ApprovalDecision;
  readonly rule?: RuleReach;
}

/** Throws `not_found` for a question that is not open: an answer is used once. */
export async function decideApproval(
  { tools }: Pick<HttpDeps, "tools">,
  { id, decision, rule }: Decided,
  by: Principal,
): Promise<{ readonly decision: ApprovalDecision }> {
  if (rule !== undefined && decision !== "always")
    throw new GatewayError("bad_request", "a rule without always", { say: "`rule` belongs to the decision `always`." });
  const wish = decision === "always" ? { always: rule ?? "call" } : decision;
  requireDecided(await tools.approvals.decide(id, wish, by));
  return { decision };
}

/** Throws for a decision that did not count. */
export function requireDecided(decided: Awaited<ReturnType<Approvals["decide"]>>): void {
  if (decided === "done") return;
  if (decided === "not_allowed") throw new GatewayError("forbidden", "the decision is not allowed");
  if (decided !== "unknown") throw new GatewayError(decided, "no rule was made");
  throw new GatewayError("not_found", "no such open question", {
    say: "This question is not open any more: somebody has answered it, it ran out of time, or its turn has ended.",
  });
}

/** Throws `not_found` for a rule that is not there any more. */
export async function removeRule(
  { tools }: Pick<HttpDeps, "tools">,
  id: string,
  by: Principal,
): Promise<{ readonly removed: true }> {
  if (await tools.approvalRules.remove(id, by)) return { removed: true };
  throw new GatewayError("not_found", "no such rule", {
    say: "There is no such approval rule: it was removed, or its time is over.",
  });
}
