/** How far a key reaches: scopes, agents, sessions. Pure decisions about who asks; the operator, who shows no key, reaches everything. */
import { type ApiKey, EVERYTHING, keyAllowsAgent, type KeyScope } from "../../contracts/api-keys.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Role, SessionKey } from "../../contracts/ids.ts";
import type { SessionReach } from "../../contracts/session-reach.ts";
import { isSessionOfKey } from "../../routing/index.ts";

/** One of the scopes is enough, and `admin` is always. */
export interface KeyNeed {
  readonly scopes: readonly KeyScope[];
  /** `checked`: the function looks at the agent itself. `all`: it is about the whole gateway, and so for keys of all agents. */
  readonly agents: "checked" | "all";
}

/** Whoever asks, as far as keys are concerned. */
export interface Asking {
  readonly key: ApiKey | null;
}

/** About the whole gateway: what it keeps. */
export const READ: KeyNeed = { scopes: ["read"], agents: "all" };
export const ADMIN: KeyNeed = { scopes: ["admin"], agents: "all" };
/** Within sessions that `requireOwn` or `requireSeen` allow. */
export const CHAT: KeyNeed = { scopes: ["chat"], agents: "checked" };
export const READ_SESSIONS: KeyNeed = { scopes: ["read"], agents: "checked" };
export const CHAT_OR_READ: KeyNeed = { scopes: ["chat", "read"], agents: "checked" };
/** Each call passes the gate of tools, with the agent and the tools of the key. */
export const TOOLS: KeyNeed = { scopes: ["tools"], agents: "checked" };
/** The event socket: each of its methods says what it needs. */
export const ANY_SCOPE: KeyNeed = { scopes: ["chat", "tools", "read"], agents: "checked" };

/** Throws `forbidden` when the key may not do what needs this. */
export function requireNeed({ key }: Asking, need: KeyNeed): void {
  if (key === null) return;
  if (!key.scopes.includes("admin") && !need.scopes.some((scope) => key.scopes.includes(scope)))
    throw beyond(`This key has no scope that allows this: ${need.scopes.join(" or ")}.`);
  if (need.agents === "all" && !key.agents.includes(EVERYTHING))
    throw beyond("This is about all agents, and this key is for some of them only.");
}

/** Throws `forbidden` unless the session is the key's own, or the key is the administrator's. */
export function requireOwn(asking: Asking, sessionKey: SessionKey): void {
  const { key } = asking;
  if (key === null) return;
  requireAgent(asking, agentOf(sessionKey));
  if (!key.scopes.includes("admin") && !isSessionOfKey(key, sessionKey))
    throw beyond("This key speaks in sessions of its own only. Use a short name, such as main.");
}

/** Throws `forbidden` when the key may not read this session. Asked before anybody looks whether there is one. */
export function requireSeen(asking: Asking, sessionKey: SessionKey): void {
  if (asking.key === null) return;
  requireAgent(asking, agentOf(sessionKey));
  if (!maySee(asking, sessionKey)) throw beyond("This key reads sessions of its own only.");
}

/** The sessions that `maySee` allows, for lists of pages. Null: all of them. */
export function reachOf({ key }: Asking): SessionReach | null {
  if (key === null) return null;
  const agents = key.agents.includes(EVERYTHING) ? null : key.agents;
  const seesOthers = key.scopes.includes("admin") || key.scopes.includes("read");
  return agents === null && seesOthers ? null : { agents, keyId: seesOthers ? null : key.id };
}

export function maySee({ key }: Asking, sessionKey: SessionKey): boolean {
  if (key === null) return true;
  if (!keyAllowsAgent(key, agentOf(sessionKey))) return false;
  return key.scopes.includes("admin") || key.scopes.includes("read") || isSessionOfKey(key, sessionKey);
}

/** What somebody is in a session that they may see: with `admin` an owner, also when the key is for some agents only. */
export function roleIn({ key }: Asking): Role {
  return key === null || key.scopes.includes("admin") ? "owner" : "member";
}

/** Events without a session are about the whole gateway. */
export function mayHear(asking: Asking, { sessionKey }: { readonly sessionKey: SessionKey | null }): boolean {
  const { key } = asking;
  if (key === null) return true;
  if (sessionKey !== null) return maySee(asking, sessionKey);
  const reads = key.scopes.includes("read") || key.scopes.includes("admin");
  return reads && key.agents.includes(EVERYTHING);
}

function requireAgent({ key }: Asking, agentId: string): void {
  if (key && !keyAllowsAgent(key, agentId)) throw beyond(`This key is not for the agent ${agentId}.`);
}

function agentOf(sessionKey: SessionKey): string {
  return sessionKey.split(":")[1] ?? "";
}

function beyond(say: string): GatewayError {
  return new GatewayError("forbidden", "beyond the reach of the key", { say });
}
