/** For whom a request calls tools. Decided by how it was authenticated; nothing in its body counts. */
import { type ApiKey, keyAllowsAgent, keyRole } from "../../contracts/api-keys.ts";
import { type AgentId, DEFAULT_AGENT, OPERATOR, type SessionKey } from "../../contracts/ids.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { NO_TURN, type ToolContext } from "../../contracts/tools/tool.ts";
import { keySession } from "../../routing/index.ts";
import type { Identity } from "../access/auth.ts";

const OPERATOR_CALLS = {
  sessionKey: "agent:default:api:dm:operator" as SessionKey,
  agentId: DEFAULT_AGENT,
  chat: OPERATOR,
};

/** A key for some agents calls with the tools of the first of them. */
function agentOf(key: ApiKey): AgentId {
  return keyAllowsAgent(key, DEFAULT_AGENT) ? DEFAULT_AGENT : ((key.agents[0] ?? DEFAULT_AGENT) as AgentId);
}

/** Whoever holds the operator's token, or is signed in with it, is an owner who calls from outside of any turn. A key calls as itself. */
export function callerOf(identity: Identity | null): ToolContext {
  if (!identity) throw new GatewayError("unauthorized", "nobody is calling");
  const { principal, key } = identity;
  const { sessionKey, agentId, chat } = key === null ? OPERATOR_CALLS : keySession(key, "main", agentOf(key));
  return {
    principal,
    sessionKey,
    turnId: NO_TURN,
    agentId,
    role: key === null ? "owner" : keyRole(key),
    origin: { channel: "api", account: "default", chat },
    stats: () =>
      Promise.reject(
        new GatewayError("bad_request", "no agent is calling", {
          say: "There is no agent in this call, so there is no conversation to report on.",
        }),
      ),
  };
}
