/** Messages a tool sends besides the reply of its turn, and what may still be done to a message that was sent. */
import type { ChatAddress, OutboundMessage } from "../chat.ts";
import type { OutboxRow } from "../delivery.ts";
import type { SessionKey, TurnId } from "../ids.ts";

export interface PostStore {
  /**
   * Puts one more message into the outbox, before the parts of its turn's reply and after earlier posts. One transaction, fsynced. Posting
   * again under the same `onceKey` changes nothing and gives the same id.
   */
  post(post: NewPost): Promise<Posted>;
  /** The text of a message of this session from now on; null takes it back. Null as an answer: the session has no such message of ours. */
  rewrite(sessionKey: SessionKey, id: string, text: string | null, at: number): Promise<OutboxRow | null>;
}

export interface NewPost {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  /** Equal for the same message of the same call. */
  readonly onceKey: string;
  readonly to: ChatAddress;
  readonly message: OutboundMessage;
  readonly at: number;
}

export type Posted =
  | { readonly kind: "posted"; readonly id: string }
  /** The turn has sent as many as one turn may. */
  | { readonly kind: "full"; readonly max: number }
  /** There is no such turn in this session, so there is no conversation this could be part of. */
  | { readonly kind: "no_turn" };

/** Stores a post and has it delivered. */
export interface ChatPoster {
  post(post: Omit<NewPost, "at">): Promise<Posted>;
}
