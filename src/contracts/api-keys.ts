/** Keys that let programs in: what each of them may do, and how they are made, found and revoked. */
import type { Principal, Role } from "./ids.ts";

/**
 * `chat`: speaks in sessions of its own. `tools`: calls tools. `read`: reads what the gateway keeps, and changes nothing. `admin`: everything
 * that the operator may do; for some agents, all sessions of theirs.
 */
export const KEY_SCOPES = ["chat", "tools", "read", "admin"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** In a list of agents or tools: all of them. */
export const EVERYTHING = "*";

export interface KeyRights {
  readonly scopes: readonly KeyScope[];
  /** Ids of agents, or `*` alone. */
  readonly agents: readonly string[];
  /** Names of tools that the key, and the turns it begins, may call. `notes_*`: all that begin so. */
  readonly tools: readonly string[];
  /** Null: no limit of its own. */
  readonly dailyUsd: number | null;
  readonly dailyTokens: number | null;
  readonly requestsPerMinute: number | null;
  /** Null: never. */
  readonly expiresAt: number | null;
}

/** What may be shown of a key. The secret is shown once, when it is made, and is kept by nobody but its owner. */
export interface ApiKey extends KeyRights {
  readonly id: string;
  /** For people; two keys may have the same. */
  readonly name: string;
  readonly createdAt: number;
  readonly createdBy: Principal;
  /** To the minute. Null: never. */
  readonly lastUsedAt: number | null;
}

export interface NewApiKey extends KeyRights {
  readonly name: string;
}

/** Who asks for a new key. `key` null: the operator. */
interface KeyMaker {
  readonly principal: Principal;
  readonly key: KeyRights | null;
}

type MadeKey =
  | { readonly kind: "made"; readonly key: ApiKey; readonly secret: string }
  | { readonly kind: "refused"; readonly say: string };

export interface ApiKeys {
  /** Newest first, expired ones included. */
  list(): readonly ApiKey[];
  /** No key gets more than the key that asks for it has. */
  make(asked: NewApiKey, by: KeyMaker): Promise<MadeKey>;
  /** Ends the key and all that runs in its name. False: there is no such key. */
  revoke(id: string, by: Principal): Promise<boolean>;
  /** By what a program shows. Null: unknown, revoked or expired, which look the same from outside. */
  find(secret: string): ApiKey | null;
  /** By the id under which the key acts. Null: revoked or expired, or no key at all. */
  of(principal: Principal): ApiKey | null;
  /** Aborts when the key is revoked or expires. */
  ending(id: string): AbortSignal;
  /** The key was used now. Never rejects, and writes once a minute at most. */
  used(id: string): void;
}

const KEY_PRINCIPAL = "key:user:";

/** The id under which a key acts. Every other kind of principal has another beginning. */
export function keyPrincipal(id: string): Principal {
  return `${KEY_PRINCIPAL}${id}` as Principal;
}

export function isKeyPrincipal(principal: Principal): boolean {
  return principal.startsWith(KEY_PRINCIPAL);
}

/** An owner reaches every agent: approvals, jobs, commands and tools ask for the role alone. So a key for some agents is a member, also with `admin`. */
export function keyRole({ scopes, agents }: Pick<KeyRights, "scopes" | "agents">): Role {
  return scopes.includes("admin") && agents.includes(EVERYTHING) ? "owner" : "member";
}

export function keyAllowsAgent({ agents }: Pick<KeyRights, "agents">, agentId: string): boolean {
  return agents.includes(EVERYTHING) || agents.includes(agentId);
}
