/** Earlier conversations: what /new ended, and what can be taken up again. A session file belongs to one session at a time, or waits here. */
import type { Usage } from "../chat.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../ids.ts";

export interface ConversationStore {
  /** What can be resumed in this chat, latest first. The conversation that goes on in it now is not among them. */
  list(asker: ConversationAsker, limit: number): Promise<readonly Conversation[]>;
  /**
   * Makes it the current conversation of the chat, in one transaction: the one that was current is kept like any other, and a chat whose
   * current conversation is taken away begins a new one.
   */
  resume(
    asker: ConversationAsker,
    file: string,
    by: { readonly turnId: TurnId; readonly at: number },
  ): Promise<Resumed>;
  /** What this command has resumed already; null when it has not. After a crash a command runs again, and the list has changed. */
  resumedBy(sessionKey: SessionKey, turnId: TurnId): Promise<Conversation | null>;
}

/** Who asks, and where. Only conversations with the same agent are found. */
export interface ConversationAsker {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  /** Finds the other chats in which this person alone speaks. Null, as in a group: only this chat's own conversations. */
  readonly principal: Principal | null;
}

export interface Conversation {
  readonly file: string;
  /** The chat it was last spoken in. */
  readonly sessionKey: SessionKey;
  readonly title: string;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly turns: number;
  readonly usage: Usage;
}

export type Resumed =
  | { readonly kind: "resumed"; readonly conversation: Conversation }
  /** It is being answered in another chat right now. */
  | { readonly kind: "busy" }
  | { readonly kind: "gone" };
