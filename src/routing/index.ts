/**
 * Routing: who speaks to which agent in which session, with which role and priority.
 * Pure functions; it knows neither channels nor queue nor agents, and refuses whoever it does not know.
 */
export { createRouter, DEFAULT_AGENT, OPERATOR } from "./router.ts";
export { buildSessionKey, parseSessionText, type SessionName } from "./session-key.ts";
