/** The session a program or the page means by a text: a full key, or a short name. Whether its agent exists is decided when something is said in it. */
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

/** `agent`: asked for by name. A short name without one belongs to whom the bindings say. Null for what is no session of page or API. */
export function chooseSession(
  config: Pick<RoutingConfig, "bindings">,
  text: string,
  agent: string | undefined,
): ChosenSession | null {
  const found = parseSessionText(text, agent ?? (isShortName(text) ? agentFor(config, text) : ""));
  if (found?.name.form !== "chat") return null;
  const { name, key } = found;
  if (name.scope !== "dm" || name.account !== undefined || name.thread !== undefined || "person" in name.peer)
    return null;
  if (name.channel !== "webchat" && name.channel !== "api") return null;
  return { sessionKey: key, agentId: name.agent as AgentId, channel: name.channel, chat: name.peer.id };
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
