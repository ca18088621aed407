/** For whom a request calls tools. Decided by how it was authenticated; nothing in its body counts. */
import type { AgentId, SessionKey } from "../../contracts/ids.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { NO_TURN, type ToolContext } from "../../contracts/tools/tool.ts";
import type { Identity } from "../access/auth.ts";

const OPERATOR_SESSION = "agent:default:api:dm:operator" as SessionKey;

/** Whoever holds the operator's token, or is signed in with it, is an owner who calls from outside of any turn. */
export function callerOf(identity: Identity | null): ToolContext {
  if (!identity) throw new GatewayError("unauthorized", "nobody is calling");
  const { principal } = identity;
  return {
    principal,
    sessionKey: OPERATOR_SESSION,
    turnId: NO_TURN,
    agentId: "default" as AgentId,
    role: "owner",
    origin: { channel: "api", account: "default", chat: principal },
    stats: () =>
      Promise.reject(
        new GatewayError("bad_request", "no agent is calling", {
          say: "There is no agent in this call, so there is no conversation to report on.",
        }),
      ),
  };
}
