/** Decides where a message goes. Today one agent and one owner; every further rule becomes a branch of `decide`, with its reason. */
import type { InboundMessage } from "../contracts/chat.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { Router, Verdict } from "../contracts/routing.ts";
import { buildSessionKey } from "./session-key.ts";

export const DEFAULT_AGENT = "default" as AgentId;
/** Whoever signed in to the page or holds the operator's token. */
export const OPERATOR = "operator" as Principal;

const PRIORITY = { dm: 10, group: 5 } as const;

export function createRouter(): Router {
  return { decide };
}

function decide(message: InboundMessage): Verdict {
  if (message.sender.principal !== OPERATOR) {
    return { kind: "refuse", because: "unknown_sender", say: "This gateway does not know you." };
  }
  const { channel, chat } = message.address;
  return {
    kind: "accept",
    sessionKey: buildSessionKey({ agent: DEFAULT_AGENT, channel, scope: message.scope, id: chat }),
    agentId: DEFAULT_AGENT,
    role: "owner",
    priority: PRIORITY[message.scope],
  };
}
