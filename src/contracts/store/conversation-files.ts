/** What the store knows about the files of a conversation: which were attached to its messages, and when its tools were at work. */
import type { MediaId, SessionKey } from "../ids.ts";

export interface ConversationFileStore {
  /** Whether somebody attached this file to a message of this session. */
  isReceived(sessionKey: SessionKey, mediaId: MediaId): Promise<boolean>;
  /** Whether a tool of this session that can make files was running at that moment. */
  ranToolAt(sessionKey: SessionKey, at: number): Promise<boolean>;
}
