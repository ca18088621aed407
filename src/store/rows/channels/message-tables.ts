/** The tables about messages besides the messages themselves, as types. */
import type { Generated } from "kysely";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";

export interface MessageTables {
  platform_messages: PlatformMessageTable;
  reactions: ReactionTable;
  message_index: MessageIndexTable;
}

/** What a platform calls a message of ours, or of a person: one row for each message that it takes there. */
export interface PlatformMessageTable {
  seq: Generated<number>;
  /** Of the inbox or of the outbox. */
  message_id: string;
  channel: string;
  account: string;
  chat: string;
  platform_id: string;
}

/** What one person reacted with to a message of ours. */
export interface ReactionTable {
  message_id: string;
  principal: Principal;
  name: string;
  session_key: SessionKey;
  emoji: string; // separated by spaces
  at: number;
  /** The turn that was told of it. */
  turn_id: TurnId | null;
}

/** Filled a little after messages are stored; changes and deletions by triggers. Twice the seq of a message, and one more for a reply; its text cannot be read back. */
interface MessageIndexTable {
  rowid: number;
  text: string;
}
