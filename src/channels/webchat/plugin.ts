/** The channel of the page (`webchat`) and of the HTTP API (`api`): the same translation under two names. */
import type { Channel } from "../../contracts/channel.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import { toInbound, type WebChatInput } from "./inbound.ts";
import { toTranscriptItem } from "./outbound.ts";

export interface WebChat extends Channel {
  toInbound(input: WebChatInput): InboundMessage;
}

export function createWebChat(deps: { readonly events: Events }, id: "webchat" | "api"): WebChat {
  return {
    id,
    canRefuse: true,
    toInbound: (input) => toInbound(id, input),
    repeat: "safe",
    async send(part) {
      deps.events.emit("message", { sessionKey: part.sessionKey, item: toTranscriptItem(part) });
      return {};
    },
    ready: () => true,
    health: () => ({ ok: true, detail: "served by the gateway itself" }),
  };
}
