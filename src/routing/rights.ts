/** What somebody who once had access may do now: the access check, made again with the rules of now. Pure. */
import type { RightsNow } from "../contracts/channels/rights.ts";
import type { AgentId, Principal, Role } from "../contracts/ids.ts";
import type { ChatAddress } from "../contracts/chat.ts";
import { CLOSED_POLICY } from "./access.ts";
import type { GrantedRoles } from "./grants.ts";
import { lesserRole } from "./identity.ts";
import { type AccessPolicies, explainRoute, type RoutingConfig } from "./router.ts";

interface HeldRights {
  readonly principal: Principal;
  /** What they had. */
  readonly role: Role;
  readonly agentId: AgentId;
  /** The chat that the rights come from. */
  readonly at: ChatAddress;
  readonly scope: "dm" | "group";
  readonly place?: string | undefined;
}

interface RightsRules {
  readonly config: RoutingConfig;
  readonly policies: AccessPolicies;
  readonly grants: GrantedRoles;
}

export function rightsNow(held: HeldRights, { config, policies, grants }: RightsRules): RightsNow {
  const { principal, role, agentId, at, scope, place } = held;
  const sender = { principal, name: "" };
  const facts = { address: at, scope, sender, mentioned: true, agentId, ...(place === undefined ? {} : { place }) };
  const { verdict } = explainRoute(config, facts, policies, grants);
  if (verdict.kind === "accept") return { kind: "held", role: lesserRole(role, verdict.role) };
  const policy = policies.policyOf(at.channel, at.account);
  // nobody says anything about the channel: its plugin is being loaded anew, and what it allows is not known for a moment
  if (policy === CLOSED_POLICY && principal.startsWith(`${at.channel}:user:`)) return { kind: "held", role };
  // `place` is not stored: after a restart a chat of a listed place looks like one of no place, which proves nothing.
  const placeForgotten = scope === "group" && place === undefined && verdict.because === "group_not_listed";
  if (placeForgotten && policy.hasPlaces) return { kind: "held", role };
  return { kind: "lost", because: verdict.because, tell: verdict.tell !== "nothing" };
}
