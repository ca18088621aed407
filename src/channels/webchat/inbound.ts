/** What the web console or a program said → InboundMessage. Who is speaking was decided at sign-in; nothing here is believed from the body. */
import type { InboundMessage, MediaRef, QuotedText } from "../../contracts/chat.ts";
import type { ClientRequest } from "../../contracts/client-request.ts";
import type { AgentId, Principal } from "../../contracts/ids.ts";

export interface WebChatInput {
  readonly chat: string;
  /** Chosen by the client, so that a message sent twice after a lost answer is stored once. */
  readonly eventId: string;
  readonly fingerprint: string;
  readonly text: string;
  readonly attachments: readonly MediaRef[];
  /** The message of this session that it replies to. */
  readonly answered?: QuotedText;
  readonly principal: Principal;
  readonly agentId: AgentId;
  readonly steer?: boolean;
  readonly client?: ClientRequest;
  /** Of client tools. */
  readonly results?: readonly QuotedText[];
  readonly receivedAt: number;
}

/** The console has one person at a time. */
export const SENDER_NAME = "You";

export function toInbound(channel: string, input: WebChatInput): InboundMessage {
  return {
    eventId: input.eventId,
    fingerprint: input.fingerprint,
    address: { channel, account: "default", chat: input.chat },
    scope: "dm",
    sender: { principal: input.principal, name: SENDER_NAME },
    text: input.text,
    quoted: [...(input.answered ? [input.answered] : []), ...(input.results ?? [])],
    attachments: input.attachments,
    mentioned: true,
    agentId: input.agentId,
    ...(input.steer ? { steer: true } : {}),
    ...(input.client ? { client: input.client } : {}),
    receivedAt: input.receivedAt,
  };
}
