/** The channel of the web console (`webchat`) and of the HTTP API (`api`): the same translation under two names. */
import type { Channel } from "../../contracts/channel.ts";
import type { ShownQuestion } from "../../contracts/channels/question.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Principal } from "../../contracts/ids.ts";
import { type AbilityDeps, takeReaction, webChatAbilities } from "./abilities.ts";
import { SENDER_NAME, toInbound, type WebChatInput } from "./inbound.ts";
import { toTranscriptItem } from "./outbound.ts";

export interface WebChat extends Channel {
  toInbound(input: WebChatInput): InboundMessage;
  /** A person's reaction to a message of ours; null takes it back. False: there is no such message. */
  takeReaction(messageId: string, emoji: string | null, by: Principal): Promise<boolean>;
}

/** The web console shows questions by itself, from events, and programs ask for them: there is nothing to send, and nothing to withdraw. */
const NO_LIMITS = { maxButtons: Number.MAX_SAFE_INTEGER, maxLabelChars: Number.MAX_SAFE_INTEGER };
const SHOWN: ShownQuestion = { messageId: null, close: async () => undefined };

export function createWebChat(deps: AbilityDeps, id: "webchat" | "api"): WebChat {
  return {
    ...webChatAbilities(deps),
    id,
    ownIds: true,
    canRefuse: true,
    toInbound: (input) => toInbound(id, input),
    async takeReaction(messageId, emoji, principal) {
      const by = { principal, name: SENDER_NAME };
      const change = { by, how: "set", emoji: emoji === null ? [] : [emoji] } as const;
      return takeReaction(deps, messageId, change);
    },
    repeat: "safe",
    async send(part) {
      deps.events.emit("message", { sessionKey: part.sessionKey, item: toTranscriptItem(part) });
      return {};
    },
    questions: { ...NO_LIMITS, show: async () => SHOWN },
    ready: () => true,
    health: () => ({ ok: true, detail: "served by the gateway itself" }),
  };
}
