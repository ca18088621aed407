/** Messages as a channel would make them, for tests of what comes after the channel. */
import type { InboundMessage } from "../contracts/chat.ts";
import type { AgentId, Principal, SessionKey } from "../contracts/ids.ts";
import type { QueueEntry } from "../contracts/queue.ts";

let made = 0;

export function inbound(text: string, overrides: Partial<InboundMessage> = {}): InboundMessage {
  return {
    eventId: `event-${++made}`,
    fingerprint: `print of ${text}`,
    address: { channel: "webchat", account: "default", chat: "1" },
    scope: "dm",
    sender: { principal: "operator" as Principal, name: "You" },
    text,
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: 1_700_000_000_000,
    ...overrides,
  };
}

export function entry(session: string, text: string, overrides: Partial<QueueEntry> = {}): QueueEntry {
  return {
    sessionKey: `agent:default:webchat:dm:${session}` as SessionKey,
    agentId: "default" as AgentId,
    role: "owner",
    priority: 10,
    message: inbound(text, { address: { channel: "webchat", account: "default", chat: session } }),
    ...overrides,
  };
}
