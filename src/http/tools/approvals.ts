/** The owner's answer to a question, the same for the API and the socket. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { ApprovalDecision, Approvals } from "../../contracts/tools/approval.ts";
import type { HttpDeps } from "../types.ts";

export const DECISION = Type.Union([Type.Literal("once"), Type.Literal("session"), Type.Literal("deny")]);

/** Throws `not_found` for a question that is not open: an answer is used once. */
export async function decideApproval(
  { tools }: Pick<HttpDeps, "tools">,
  { id, decision }: { readonly id: string; readonly decision: ApprovalDecision },
  by: Principal,
): Promise<{ readonly decision: ApprovalDecision }> {
  requireDecided(await tools.approvals.decide(id, decision, by));
  return { decision };
}

/** Throws `forbidden` or `not_found` for a decision that did not count. */
export function requireDecided(decided: Awaited<ReturnType<Approvals["decide"]>>): void {
  if (decided === "done") return;
  if (decided === "not_allowed") throw new GatewayError("forbidden", "the decision is not allowed");
  throw new GatewayError("not_found", "no such open question", {
    say: "This question is not open any more: somebody has answered it, it ran out of time, or its turn has ended.",
  });
}
