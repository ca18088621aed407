/**
 * Messages under the gateway's own ids (`inbox.id`, `outbox.id`), the ids that their platforms give them, and what was done to them. Own ids
 * are the only ones that tools return; they are translated here.
 */
import type { ChannelTraffic } from "../channels/channel-cards.ts";
import type { ChatAddress, TranscriptItem } from "../chat.ts";
import type { OutboxRow } from "../delivery.ts";
import type { Principal, Role, SessionKey, TurnId } from "../ids.ts";
import type { Page } from "../paging.ts";

export interface MessageStore {
  /** Null: the session has no such message, or it was deleted. Also found by the id that the platform gives it in the chat `to`. */
  find(chat: { readonly sessionKey: SessionKey; readonly to: ChatAddress }, id: string): Promise<StoredMessage | null>;
  /** The ids of one message on its platform; empty: it has none, or has not been delivered. */
  platformIds(id: string): Promise<readonly string[]>;
  /** The own id of the newest message under this platform id; null: none is stored. */
  idOf(to: ChatAddress, platformId: string): Promise<string | null>;
  /** Notes the assistant's reactions, and whether it is pinned. As the message is shown now; null: there is none. */
  mark(id: string, marks: MessageMarks, at: number): Promise<TranscriptItem | null>;
  /** Over this account of a channel. */
  traffic(channel: string, account: string): Promise<ChannelTraffic>;
  /** As it is shown now; null: there is none, or it was deleted. */
  item(id: string): Promise<TranscriptItem | null>;
  /** What was said in a session, newest page first, inside a page oldest first. Null: no message has the id `before`. */
  history(sessionKey: SessionKey, page: HistoryPage): Promise<readonly HistoryMessage[] | null>;
}

export interface StoredMessage {
  readonly id: string;
  readonly to: ChatAddress;
  /** The assistant's; false: a person's. */
  readonly ours: boolean;
  readonly platformIds: readonly string[];
  /** It waits for its delivery. */
  readonly pending: boolean;
  readonly files: number;
  /** The assistant's own. */
  readonly reactions: readonly string[];
}

export interface MessageMarks {
  readonly reactions?: readonly string[];
  readonly pinned?: boolean;
}

export interface HistoryPage extends Pick<Page, "limit"> {
  /** Only what was said before this message. */
  readonly before?: string;
}

export interface HistoryMessage {
  readonly id: string;
  readonly from: "assistant" | "person";
  /** Of a person. */
  readonly sender?: { readonly name: string; readonly principal: Principal; readonly role: Role };
  readonly text: string;
  readonly at: number;
  /** What attached files are called. */
  readonly files: readonly string[];
  readonly replyTo?: string;
}

/** Reactions of people to messages of ours. The assistant hears of each with its next turn, once. */
export interface ReactionStore {
  /** Null: there is no such message of ours. */
  react(messageId: string, change: ReactionChange, at: number): Promise<ReactedMessage | null>;
  /** What is new in this session, told to this turn from now on; asked again by the same turn, the same. Oldest first. */
  tell(sessionKey: SessionKey, turnId: TurnId): Promise<readonly ToldReaction[]>;
}

/** The message as it is now. `added`: emoji that this person had not under it before. */
export type ReactedMessage = OutboxRow & { readonly added: readonly string[] };

export interface ReactionChange {
  readonly by: { readonly principal: Principal; readonly name: string };
  /** `set`: these and no others, so none takes all back. Platforms tell either all of them or one that came or went. */
  readonly how: "set" | "add" | "remove";
  readonly emoji: readonly string[];
}

interface ToldReaction {
  /** Separated by a space when there are several. */
  readonly emoji: string;
  readonly by: { readonly principal: Principal; readonly name: string };
  /** The message it is about. */
  readonly messageId: string;
  readonly text: string;
}
