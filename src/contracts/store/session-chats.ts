/** Where people are reached: the chat behind a session, and messages there that nobody asked for. */
import type { SessionChat } from "../channels/session-chats.ts";
import type { ChatAddress } from "../chat.ts";
import type { ReplyPart } from "../delivery.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../ids.ts";

/** The chat behind a session, as the last message in it shows. */
export interface LastHeardChat extends SessionChat {
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
  /** Null: nobody has said anything in this session. */
  of(sessionKey: SessionKey): Promise<LastHeardChat | null>;
  /** The direct conversation in which one of these people was active last; null: there is none. */
  lastOf(people: readonly Principal[]): Promise<LastHeardChat | null>;
  speakerOf(turnId: TurnId): Promise<Speaker | null>;
  /** Whether a tool has sent a message in this turn. */
  hasPosted(turnId: TurnId): Promise<boolean>;
  /**
   * Stores a message that nobody asked for: a turn that has ended, and its parts in the outbox. Makes the session if there is none. One
   * transaction; false: this turn is stored already, and nothing was written.
   */
  say(message: UnaskedMessage): Promise<boolean>;
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
