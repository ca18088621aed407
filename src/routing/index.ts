/**
 * Routing: who speaks to which agent in which session, with which role and priority.
 * Pure functions; it knows neither channels nor queue nor agents, and refuses whoever it does not know.
 */
export { groupContextOf } from "./access.ts";
export { createAccessPolicies, channelPolicy } from "./channel-policy.ts";
export { type Changes, type GrantedRoles, openRoleGrants, type RoleGrants } from "./grants.ts";
export { idsOfPerson, lesserRole, personOf } from "./identity.ts";
export { chooseSession, isSessionOfKey, keySession, namedSession } from "./named-session.ts";
export { type AccessPolicies, createRouter, explainRoute, type Explanation, type RoutingConfig } from "./router.ts";
export { createRoleDirectory } from "./role-directory.ts";
export { createSessionChats } from "./session-chats.ts";
export { rightsNow } from "./rights.ts";
export { createApiKeys, openApiKeys } from "./keys/api-keys.ts";
export { isKeySecret } from "./keys/key-secret.ts";
export { openPairing } from "./pairing/pairing.ts";
export {
  cronSessionKey,
  delegateSessionKey,
  heartbeatSessionKey,
  requestSessionKey,
  webhookSessionKey,
  targetSessionKey,
} from "./session-key.ts";
