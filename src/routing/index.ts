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
  groupContextOf,
  type GroupPolicy,
} from "./access.ts";
export { createAccessPolicies, channelPolicy } from "./channel-policy.ts";
export { decideGrant, type GrantDecision, type GrantedRoles, openRoleGrants, type RoleGrants } from "./grants.ts";
export { idsOfPerson, lesserRole, personOf } from "./identity.ts";
export { type ChosenSession, chooseSession, namedSession } from "./named-session.ts";
export {
  type AccessPolicies,
  createRouter,
  explainRoute,
  lowerRole,
  type Explanation,
  type RoutingConfig,
} from "./router.ts";
export { createRoleDirectory } from "./role-directory.ts";
export { createSessionChats } from "./session-chats.ts";
export { type HeldRights, rightsNow, type RightsRules } from "./rights.ts";
export { openPairing, type PairingDeps } from "./pairing/pairing.ts";
export {
  buildSessionKey,
  cronSessionKey,
  delegateSessionKey,
  heartbeatSessionKey,
  webhookSessionKey,
  targetSessionKey,
  parseSessionText,
  type SessionName,
} from "./session-key.ts";
