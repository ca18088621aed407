/** Ids are branded, so that a chat id cannot become a session key by accident. */
declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/** `agent:default:webchat:dm:42`; built only in routing/session-key.ts. */
export type SessionKey = Id<"SessionKey">;
export type TurnId = Id<"TurnId">;
export type AgentId = Id<"AgentId">;
/** One stored inbound message; what a client is told when it is accepted. */
export type InboxId = Id<"InboxId">;
/** Typed and immutable: `operator`, `telegram:user:123`. Names are for display only. */
export type Principal = Id<"Principal">;
export type MediaId = Id<"MediaId">;
/** One running gateway, from its start to its end. The next start has another. */
export type InstanceId = Id<"InstanceId">;

export type Role = "owner" | "member" | "guest";

/** The agent that answers when no other is named. */
export const DEFAULT_AGENT = "default" as AgentId;
/** Whoever holds the token of the gateway or signs in to its console; always an owner. */
export const OPERATOR = "operator" as Principal;
