/** The session a program or the page means by a text: a full key, or a short name. Whether its agent exists is decided when something is said in it. */
import { type ApiKey, keyAllowsAgent, keyPrincipal, keyRole } from "../contracts/api-keys.ts";
import { OPERATOR, type AgentId, type SessionKey } from "../contracts/ids.ts";
import type { Caller } from "../contracts/agent.ts";
import type { SessionStore } from "../contracts/store.ts";
import { boundAgent, type RoutingConfig } from "./router.ts";
import { buildSessionKey, isShortName, parseSessionText } from "./session-key.ts";

interface ChosenSession {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly channel: "webchat" | "api";
  readonly chat: string;
}

/**
 * `agent`: asked for by name. A short name without one belongs to whom the bindings say. Null for what is no session of page or API.
 * `apiKey`: the key that asks; a short name means a session of its own.
 */
export function chooseSession(
  config: Pick<RoutingConfig, "bindings">,
  text: string,
  agent: string | undefined,
  apiKey: ApiKey | null = null,
): ChosenSession | null {
  if (apiKey && isShortName(text))
    return keySession(apiKey, text, (agent ?? agentForKey(config, apiKey, text)) as AgentId);
  const found = parseSessionText(text, agent ?? (isShortName(text) ? agentFor(config, text) : ""));
  if (found?.name.form !== "chat") return null;
  const { name, key } = found;
  if (name.scope !== "dm" || name.account !== undefined || name.thread !== undefined || "person" in name.peer)
    return null;
  if (name.channel !== "webchat" && name.channel !== "api") return null;
  return { sessionKey: key, agentId: name.agent as AgentId, channel: name.channel, chat: name.peer.id };
}

/** The dot keeps sessions of keys apart from those of all others: no short name has one. */
export function keySession(key: Pick<ApiKey, "id">, name: string, agentId: AgentId): ChosenSession {
  const chat = `${key.id}.${name}`;
  const sessionKey = buildSessionKey({ form: "chat", agent: agentId, channel: "api", scope: "dm", peer: { id: chat } });
  return { sessionKey, agentId, channel: "api", chat };
}

/** Whether a session was named by this key, and is so its own. */
export function isSessionOfKey({ id }: Pick<ApiKey, "id">, sessionKey: SessionKey): boolean {
  const [, , channel, scope, peer = ""] = sessionKey.split(":");
  return channel === "api" && scope === "dm" && peer.startsWith(`${id}.`);
}

/** A key for some agents talks to the first of them when the bindings name another. */
function agentForKey(config: Pick<RoutingConfig, "bindings">, key: ApiKey, chat: string): string {
  const peer = keyPrincipal(key.id);
  const bound = boundAgent(config, { channel: "api", account: "default", chat, peer, role: keyRole(key) });
  return keyAllowsAgent(key, bound) ? bound : (key.agents[0] ?? bound);
}

function agentFor(config: Pick<RoutingConfig, "bindings">, chat: string): AgentId {
  return boundAgent(config, { channel: "api", account: "default", chat, peer: OPERATOR, role: "owner" });
}

/** A full key names its session; anything else is the id of a chat of the caller's own channel and agent, never a chat elsewhere. */
export async function namedSession(
  sessions: Pick<SessionStore, "get">,
  name: string,
  { origin: { channel, account }, agentId: agent }: Pick<Caller, "origin" | "agentId">,
): Promise<SessionKey | null> {
  const chats = [{}, { account }].flatMap((of) =>
    (["dm", "group"] as const).map(
      (scope) => ({ form: "chat", agent, channel, scope, peer: { id: name }, ...of }) as const,
    ),
  );
  const keys = name.startsWith("agent:") ? [name as SessionKey] : chats.map(buildSessionKey);
  for (const key of keys) if (await sessions.get(key)) return key;
  return null;
}
