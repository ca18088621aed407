/** Conversations that a program holds through a door that is no channel: words in a session of its own, and the answer of their turn. */
import type { Usage } from "./chat.ts";
import type { Principal, SessionKey } from "./ids.ts";

export interface Conversations {
  /** The session that `session` names for this person. Throws GatewayError when it is none, or not theirs. */
  sessionOf(asked: ConversationName): SessionKey;
  /**
   * Says it and waits for the answer; what is said on the way goes to `show`. Throws GatewayError, or `signal.reason`: then the turn is
   * stopped. The same `onceKey` with the same words is one message.
   */
  say(said: SaidText, show: (delta: string) => void, signal: AbortSignal): Promise<ConversationAnswer>;
}

export interface ConversationName {
  readonly principal: Principal;
  /** A full session key, or a short name. */
  readonly session: string;
  readonly agent?: string | undefined;
}

interface SaidText extends ConversationName {
  readonly text: string;
  readonly onceKey: string;
}

interface ConversationAnswer {
  readonly turnId: string;
  readonly text: string;
  readonly usage: Usage;
}
