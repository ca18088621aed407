/** What people answered with a single sign. One for each message of ours; the assistant hears of it with its next turn, once. */
import type { OutboxRow } from "../delivery.ts";
import type { SessionKey, TurnId } from "../ids.ts";

export interface ReactionStore {
  /** Null takes it back. Null as an answer: there is no such message of ours. */
  react(messageId: string, emoji: string | null): Promise<OutboxRow | null>;
  /** What is new in this session, told to this turn from now on; asked again by the same turn, the same. Oldest first. */
  tell(sessionKey: SessionKey, turnId: TurnId): Promise<readonly ToldReaction[]>;
}

export interface ToldReaction {
  readonly emoji: string;
  /** Of the message it is about. */
  readonly text: string;
}
