/** What people say and what we say back, free of any platform. */
import type { ClientRequest } from "./client-request.ts";
import type { QueueMode, ThinkingLevel } from "./session-settings.ts";
import type { AgentId, InboxId, MediaId, Principal, Role, SessionKey, TurnId } from "./ids.ts";

/** Where a message came from and where an answer goes. */
export interface ChatAddress {
  readonly channel: string; // "webchat", "api", later "telegram"
  readonly account: string; // which bot, when there are several
  readonly chat: string;
  readonly thread?: string;
}

export interface InboundMessage {
  /** The platform's id of this event; with channel and account it is the durable dedup key. */
  readonly eventId: string;
  /** The ids of the messages that it is made of, as their platform numbers them, in order. Absent: nothing can be done to it there. */
  readonly messageIds?: readonly string[];
  /** Digest of the content, so that one id used for two different messages is noticed. */
  readonly fingerprint: string;
  readonly address: ChatAddress;
  readonly scope: "dm" | "group";
  /** A larger place that a group chat is part of, such as a Discord guild: its settings hold for chats without their own. Not stored. */
  readonly place?: string;
  readonly sender: { readonly principal: Principal; readonly name: string };
  /** What its sender wrote, and nothing else. */
  readonly text: string;
  /** What others wrote and its sender passes on. Required, so that no channel forgets to tell the two apart; mostly empty. */
  readonly quoted: readonly QuotedText[];
  readonly attachments: readonly MediaRef[];
  /** The platform says so; never guessed from the agent's name. */
  readonly mentioned: boolean;
  /** The agent its sender asked for by name, where a channel lets people choose. Routing decides when it is absent. */
  readonly agentId?: AgentId;
  /** Its sender wants it steered into the running answer, whatever the mode. Holds while it arrives; it is not stored. */
  readonly steer?: boolean;
  readonly receivedAt: number;
  /** What made it begin; absent: somebody said it. */
  readonly origin?: MessageOrigin;
  /** From a channel that shows questions: new words that may answer one. Not stored. */
  readonly answering?: AnsweringText;
  /** What a program gives with it for this one turn. Not stored: after a crash that program is gone, too. */
  readonly client?: ClientRequest;
}

/** Words of somebody else inside a message: never a command, never an answer, and marked as theirs wherever a model reads them. */
export interface QuotedText {
  /**
   * `reply`: the message that it replies to. `forward`: passed on as it is. `shared`: a contact, a place, a sticker. `result`: what a client tool
   * gave; its author is the tool, and the id that of the call.
   */
  readonly how: "reply" | "forward" | "shared" | "result";
  /** `id` is typed by its platform, `telegram:user:7`; null: the platform does not say. The name is for display. */
  readonly author: { readonly id: string | null; readonly name: string };
  readonly text: string;
  /** Of a reply: the message that it replies to, as its platform numbers it. */
  readonly message?: string;
  /** Of a reply in the gateway's own channels: the same message by our own id, under which it was found in this session. */
  readonly ownId?: string;
}

export interface AnsweringText {
  /** The message that it replies to, as its platform numbers it; null: it replies to none. */
  readonly to: string | null;
  /** What was said, without what the channel put around it. */
  readonly text: string;
}

/** `reaction`: a person reacted to a message of the assistant and wrote nothing; otherwise like a chat. */
export type MessageOrigin = "chat" | "cron" | "heartbeat" | "webhook" | "delegate" | "reaction";

/** A file in the media store. The name is what its sender called it and is never used on disk. */
export interface MediaRef {
  readonly mediaId: MediaId;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** How its sender wants it shown; left out, its type decides. */
  readonly as?: MediaKind;
}

export type MediaKind = "photo" | "audio" | "document" | "video";

export interface OutboundMessage {
  readonly text: string;
  /** `reply`: the agent's words. `notice`: the gateway's, when a turn failed or was stopped. */
  readonly kind: "reply" | "notice";
  readonly attachments?: readonly MediaRef[];
  /** The message of the same chat that this one answers: our own id of it when it is stored, its platform's when a channel gets it. */
  readonly replyTo?: string;
  /** How the text is to be read; left out, as the channel usually does. */
  readonly format?: "markdown" | "html" | "plain";
}

/** How a turn ended: answered, not answered, or stopped because somebody wanted that. */
export type TurnOutcome = "done" | "failed" | "aborted";

/** One line of a conversation as clients see it. Replies are read from the outbox: there is no second copy to drift. */
export interface TranscriptItem {
  readonly id: string;
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly at: number;
  readonly turnId: TurnId | null; // null: accepted, its turn has not begun
  readonly inboxId?: InboxId;
  /** On what nobody typed: why it is there. */
  readonly origin?: Exclude<MessageOrigin, "chat">;
  readonly kind?: OutboundMessage["kind"];
  /** On notices: a stop that somebody asked for need not look like a failure. */
  readonly outcome?: TurnOutcome;
  readonly attachments?: readonly MediaRef[];
  /** Said by a tool in the middle of a turn; the reply itself is another item. */
  readonly extra?: true;
  readonly replyTo?: string;
  readonly editedAt?: number;
  /** Withdrawn: an item that was shown before is to be shown no more. */
  readonly deleted?: true;
  /** Of people, to a message of the assistant; empty: it was removed. */
  readonly reaction?: string;
  /** Of the assistant, to any message. */
  readonly ownReactions?: readonly string[];
  readonly pinned?: true;
  /** The model thought before it answered; GET /api/turns/:id has what. */
  readonly reasoned?: true;
  /** How its text is to be read; absent: as Markdown. */
  readonly format?: OutboundMessage["format"];
  /** Who said it, in a group; absent: the only person there is. */
  readonly sender?: { readonly principal: Principal; readonly name: string; readonly role: Role };
  readonly tool?: string;
  readonly input?: unknown;
  readonly output?: string;
  readonly status?: ToolStatus;
  readonly ms?: number;
}

/** `pending`: it waits for the owner's word and has not begun. */
export type ToolStatus = "running" | "pending" | "success" | "error" | "blocked" | "unknown";

export interface Usage {
  readonly inputTokens: number;
  /** So many of the input came from the provider's cache. Absent: none, or nobody knows. */
  readonly cachedTokens?: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** What a session is about, for lists. */
export interface SessionSummary {
  readonly key: SessionKey;
  readonly channel: string;
  readonly title: string; // the first words said in it, or the name given to it
  readonly createdAt: number;
  readonly lastActivityAt: number;
  readonly messages: number;
  readonly usage: Usage;
  /** `provider/model`, when one was chosen for this session. */
  readonly model?: string;
  /** How much the model thinks, when that was chosen for this session. */
  readonly thinking?: ThinkingLevel;
  /** Chosen for this session; absent: as its channel, and the gateway, say. */
  readonly queueMode?: QueueMode;
  /** Who alone speaks here; absent for groups. */
  readonly person?: Principal;
  readonly pinnedAt?: number;
  readonly archivedAt?: number;
}
