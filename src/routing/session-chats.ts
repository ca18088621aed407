/** Finds the chat behind a session or a job: where it was made, else where its person or an owner was active last, else one that is always there. */
import type { SessionChat, SessionChats } from "../contracts/channels/session-chats.ts";
import { DEFAULT_AGENT, OPERATOR, type Principal, type SessionKey } from "../contracts/ids.ts";
import type { SessionChatStore } from "../contracts/store/session-chats.ts";
import type { GrantedRoles } from "./grants.ts";
import { chooseSession } from "./named-session.ts";
import { type RoutingConfig } from "./router.ts";

interface SessionChatDeps {
  readonly sessionChatStore: Pick<SessionChatStore, "of" | "lastOf">;
  config(): Pick<RoutingConfig, "bindings" | "roles">;
  grants(): GrantedRoles;
}

/** A session of the operator that exists even when nothing was ever said. */
const OPERATOR_CHAT: SessionChat = {
  sessionKey: `agent:${DEFAULT_AGENT}:api:dm:${OPERATOR}` as SessionKey,
  agentId: DEFAULT_AGENT,
  to: { channel: "api", account: "default", chat: OPERATOR },
  scope: "dm",
};

export function createSessionChats({ sessionChatStore, config, grants }: SessionChatDeps): SessionChats {
  const at = async (sessionKey: SessionKey): Promise<SessionChat | null> => {
    const place = await sessionChatStore.of(sessionKey);
    if (place) return place;
    const chosen = chooseSession(config(), sessionKey, undefined);
    return chosen && { ...chosen, to: { channel: chosen.channel, account: "default", chat: chosen.chat }, scope: "dm" };
  };
  const lastOf = async (people: readonly Principal[]): Promise<SessionChat> =>
    (await sessionChatStore.lastOf(people)) ?? OPERATOR_CHAT;
  /** Everybody who is an owner now, the operator first. */
  const owners = (): readonly Principal[] => {
    const granted = [...grants()].filter(([, role]) => role === "owner").map(([principal]) => principal);
    return [OPERATOR, ...(config().roles.owners as readonly string[] as readonly Principal[]), ...granted];
  };
  return {
    at,
    ofOwner: () => lastOf(owners()),
    async of({ to, sessionKey, createdBy, agentId }) {
      if (!to || !sessionKey) return lastOf(owners().includes(createdBy) ? owners() : [createdBy]);
      const chat = await at(sessionKey);
      return chat ? { ...chat, to } : { sessionKey, agentId, to, scope: "dm" };
    },
  };
}
