/** A channel translates between a platform and the gateway, and nothing more. */
import type { QuestionMessages } from "./channels/question.ts";
import type { ChatAddress, InboundMessage } from "./chat.ts";
import type { OutboxRow } from "./delivery.ts";
import type { InboxId, SessionKey } from "./ids.ts";

/** A connected account. Optional methods are abilities: absent means the platform cannot. Their callers have checked whose chat it is. */
export interface Channel {
  readonly id: string;
  /** Its messages have no other ids than the gateway's: it is the gateway's own. */
  readonly ownIds?: true;
  /** Its senders can be told "not now" before anything is acknowledged. Where they cannot, what is too much is kept as overflow. */
  readonly canRefuse: boolean;
  /**
   * What it means when a part is sent a second time under its id. `safe`: nothing; its clients drop an id they have, and read the stored
   * parts anyway. `deduplicated`: the platform drops it, within `dedupeMs` of the first try if there is such a limit. `risky`: people may
   * see it twice.
   */
  readonly repeat: "safe" | "deduplicated" | "risky";
  readonly dedupeMs?: number;
  /** For a risky repeat after a send whose end nobody knows: `resend` once (the default), or `hold` it back. */
  readonly whenLost?: "resend" | "hold";
  /**
   * Sends one stored part, whose id is the same for ever. Rejects with a SendError that says what is known; any other rejection counts as
   * `lost`: it may have come after the send. When the signal aborts it rejects soon, with `lost` unless it knows better.
   */
  send(part: OutboxRow, signal: AbortSignal): Promise<SendReceipt>;
  /** For a channel that may send one part as several messages. Doubt is counted for each message, and the others are not given up with it. */
  readonly messages?: PartMessages;
  /**
   * False while it cannot send at all, for example before its connection is up. Parts wait then, and no try is counted. `to` matters only
   * where one channel stands for several accounts.
   */
  ready(to?: ChatAddress): boolean;
  health(): { readonly ok: boolean; readonly detail: string };
  react?(target: MessageTarget, reaction: Reaction, signal: AbortSignal): Promise<ActionResult>;
  /** Only what we sent ourselves; whatever else the platform would allow. */
  edit?(target: MessageTarget, text: string, signal: AbortSignal): Promise<ActionResult>;
  delete?(target: MessageTarget, signal: AbortSignal): Promise<ActionResult>;
  pin?(target: MessageTarget, unpin: boolean, signal: AbortSignal): Promise<ActionResult>;
  /** How it shows questions with buttons; absent: they are plain messages there. */
  readonly questions?: QuestionMessages;
}

/** How far a part has come that is sent as several messages. Survives a crash; asked only while the channel is ready for that chat. */
export interface PartMessages {
  /** How many of its messages, from the first on, are not to be sent again: they have arrived, or were skipped. */
  delivered(part: OutboxRow, signal: AbortSignal): Promise<number>;
  /** The next message may have arrived and must not be repeated: it counts as delivered. False: no message comes after it. */
  skip(part: OutboxRow, signal: AbortSignal): Promise<boolean>;
}

/** One chat, and the conversation it is. A channel uses the one it knows messages by, and leaves everything outside of it alone. */
export interface ChatSession {
  readonly to: ChatAddress;
  readonly sessionKey: SessionKey;
}

export interface MessageTarget extends ChatSession {
  /** As the platform numbers it; our own id where the platform is the gateway itself. */
  readonly messageId: string;
}

export interface Reaction {
  readonly emoji: readonly string[];
  readonly remove: boolean;
}

/**
 * `because`: one sentence for a model. `reactions`: ours to the message from now on, where the platform takes fewer than were asked for.
 */
export type ActionResult =
  | { readonly kind: "done"; readonly reactions?: readonly string[] }
  | { readonly kind: "refused"; readonly because: string };

export interface SendReceipt {
  /** The platform's id of what was sent, if it has one. */
  readonly providerId?: string;
  /** All of them, in order, when it took several messages. */
  readonly providerIds?: readonly string[];
  /** It was sent, but something of it may stand in the chat beside it. One sentence for the operator. */
  readonly doubt?: string;
}

/**
 * `retry`: nothing was sent, it may be tried again. `limited`: the same, for this chat not before `retryAfterMs`. `permanent`: nothing was
 * sent and trying again will not help. `lost`: the answer was lost, it may have been sent or not.
 */
export type SendErrorKind = "retry" | "limited" | "permanent" | "lost";

export class SendError extends Error {
  override readonly name = "SendError";
  readonly kind: SendErrorKind;
  readonly retryAfterMs?: number;

  /** `detail` is for the operator and never contains what was said. */
  constructor(kind: SendErrorKind, detail: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(detail, { cause: options.cause });
    this.kind = kind;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

/** The one way in. Never throws for ordinary reasons: the receipt says what became of the message. */
export interface Receiver {
  receive(message: InboundMessage, signal: AbortSignal): Promise<Receipt>;
}

/** For chats of platforms, where text may also answer what a running turn has asked. */
export interface ChatReceiver {
  receiveChat(message: InboundMessage, signal: AbortSignal): Promise<Receipt | AnswerReceipt>;
}

/** It answered a question, and is no message to an agent. */
export interface AnswerReceipt {
  readonly kind: "answered";
  readonly sessionKey: SessionKey;
}

export type Receipt =
  | { readonly kind: "queued"; readonly id: InboxId; readonly sessionKey: SessionKey; readonly position: number }
  /** Seen before. `sameContent` is false when one event id was used for two different messages. */
  | { readonly kind: "duplicate"; readonly id: InboxId; readonly sessionKey: SessionKey; readonly sameContent: boolean }
  | {
      readonly kind: "refused";
      readonly because: RefusedBecause;
      readonly say: string;
      readonly retryAfterMs?: number;
    };

/**
 * `ignored`: the message is not for the gateway, or its sender may not know that there is one; say nothing. `no_such_answer`: it was meant as
 * an answer, and is none of the possible ones.
 */
export type RefusedBecause =
  | "empty"
  | "too_long"
  | "session_full"
  | "gateway_full"
  | "stopping"
  | "unknown_agent"
  | "not_allowed"
  | "ignored"
  | "no_such_answer";
