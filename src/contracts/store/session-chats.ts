/** Where people are reached: the chat behind a conversation, and words that belong to no turn of theirs. */
import type { ChatAddress } from "../chat.ts";
import type { ReplyPart } from "../delivery.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../ids.ts";

export interface Place {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly to: ChatAddress;
  readonly scope: "dm" | "group";
  /** Who spoke there last, and when. */
  readonly principal: Principal;
  readonly heardAt: number;
}

/** For whom a turn worked. */
interface Speaker {
  readonly principal: Principal;
  readonly role: Role;
  readonly agentId: AgentId;
}

export interface SessionChatStore {
  /** As the newest thing that somebody said in it; null: nobody has. */
  of(sessionKey: SessionKey): Promise<Place | null>;
  /** The direct conversation in which one of these people was active last; null: there is none. */
  lastOf(people: readonly Principal[]): Promise<Place | null>;
  speakerOf(turnId: TurnId): Promise<Speaker | null>;
  /** A tool has sent something to a chat in this turn. */
  hasPosted(turnId: TurnId): Promise<boolean>;
  /**
   * Says something in a conversation that nobody asked there: a turn that is over, and its parts in the outbox. Makes the session if there is
   * none. One transaction; false: it was said before under this id, and nothing was written.
   */
  say(words: UnaskedMessage): Promise<boolean>;
}

export interface UnaskedMessage {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly principal: Principal;
  readonly to: ChatAddress;
  readonly reply: readonly ReplyPart[];
  readonly at: number;
}
