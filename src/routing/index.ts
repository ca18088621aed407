/**
 * Routing: who speaks to which agent in which session, with which role and priority.
 * Pure functions; it knows neither channels nor queue nor agents, and refuses whoever it does not know.
 */
export {
  type Access,
  type AccessFacts,
  type AccessPolicy,
  type AccessRules,
  decideAccess,
  type GroupPolicy,
} from "./access.ts";
export { decideGrant, type GrantDecision, type GrantedRoles, openRoleGrants, type RoleGrants } from "./grants.ts";
export { OPERATOR } from "./identity.ts";
export { type ChosenSession, chooseSession } from "./named-session.ts";
export {
  type AccessDoors,
  createRouter,
  DEFAULT_AGENT,
  explainRoute,
  lowerRole,
  type Explanation,
  type RouteFacts,
  type RoutingConfig,
} from "./router.ts";
export { buildSessionKey, delegateSessionKey, parseSessionText, type SessionName } from "./session-key.ts";
