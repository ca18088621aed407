/** Reply parts wait in the outbox until their channel has them: written in the transaction that ends the turn, sent in order. */
import type { ChatAddress, OutboundMessage, TurnOutcome } from "./chat.ts";
import type { Principal, SessionKey, TurnId } from "./ids.ts";

export interface ReplyPart {
  readonly part: number; // 0, 1, 2 … within the turn; below 0: said by a tool before the reply
  readonly message: OutboundMessage;
}

export interface OutboxRow extends ReplyPart {
  readonly id: string; // `${turnId}:${part}`; of a post `${turnId}:x…`
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly to: ChatAddress;
  readonly createdAt: number;
  /** Of the turn it belongs to. */
  readonly outcome: TurnOutcome;
  /** Its text was changed after it was stored. */
  readonly editedAt?: number;
  readonly deleted?: true;
  /** Of people. */
  readonly reaction?: string;
  /** Of the assistant. */
  readonly ownReactions?: readonly string[];
  readonly pinned?: true;
}

/** `pending → sending → sent | ambiguous | dead`. `ambiguous`: it may have arrived, once or twice, and is not sent again unless a person asks for it. */
export type OutboxState = "pending" | "sending" | "sent" | "ambiguous" | "dead";

/** A part that has not ended, without its text: what has to be known to decide when and whether it is sent. */
export interface PendingPart {
  /** Grows with every part that is stored. */
  readonly seq: number;
  readonly id: string;
  readonly to: ChatAddress;
  readonly createdAt: number;
  /** `sending` in a part that was read from the store: a previous process began to send it, and nobody knows how that ended. */
  readonly state: "pending" | "sending";
  readonly attempts: number;
  /** How many sends of its current message had an end that nobody knows. */
  readonly lost: number;
  /** The current message: how many messages of the part were delivered before it. Stays 0 where a part is one message. */
  readonly delivered: number;
  /** An earlier message of the part may be shown twice, or be missing. */
  readonly doubt: boolean;
  readonly firstTriedAt: number | null;
  readonly nextTryAt: number | null;
  /** A person had it sent again: it is as old as that, and the newest of its chat then. Absent: nobody did. */
  readonly retried?: PartRetry;
}

interface PartRetry {
  readonly at: number;
  /** How it had ended before; `ambiguous` if it ever had. */
  readonly from: TroubledState;
}

/** A part that a transaction has just stored, as it would be read. */
export interface StoredPart {
  readonly pending: PendingPart;
  readonly row: OutboxRow;
}

/** The last word about a part. */
export interface PartEnd {
  readonly state: "sent" | "ambiguous" | "dead";
  /** For the operator; null when it was sent and there is no doubt about it. */
  readonly because: string | null;
  readonly providerId?: string;
  /** All of them, when it took several messages. */
  readonly providerIds?: readonly string[];
  /**
   * Given up, and nobody knows that it arrived: somebody has to be told. `chat`: those who wait for it, where they wait. `owner`: the chat
   * takes nothing.
   */
  readonly tell?: "chat" | "owner";
}

/** A part that did not simply arrive, as the operator sees it. */
export interface TroubledPart extends OutboxRow {
  /** How it ended, or had ended before somebody had it sent again. */
  readonly state: TroubledState;
  readonly because: string;
  readonly attempts: number;
  readonly firstTriedAt: number | null;
  /** When it ended so, or was sent again. */
  readonly endedAt: number;
  readonly providerId: string | null;
  /** Somebody had it sent again; `now`: what has become of it since. The audit log says who. */
  readonly retried?: PartRetry & { readonly now: OutboxState };
}

export type TroubledState = "ambiguous" | "dead";

export interface RetryRequest {
  readonly by: Principal;
  /** The chat may show it twice, and whoever asks knows. Without it, a part in doubt is left as it is. */
  readonly mayRepeat: boolean;
}

/** What became of the wish to send a part again. Only `retried` has changed anything. */
export type PartRetried =
  | { readonly kind: "retried"; readonly from: TroubledState; readonly endedAt: number }
  /** There is none, or its session was deleted with it. */
  | { readonly kind: "unknown" }
  /** It may have arrived, and nobody said that it may be repeated. */
  | { readonly kind: "in_doubt" }
  /** It waits for its delivery, or has arrived. */
  | { readonly kind: "not_lost"; readonly state: "pending" | "sending" | "sent" }
  /** Its message was deleted since. */
  | { readonly kind: "deleted" };

export interface ReplyRetries {
  /** Sends a part again that was given up, or may not have arrived. Once, whoever else asks for it at the same moment. */
  retry(
    id: string,
    request: RetryRequest,
  ): Promise<PartRetried | { readonly kind: "no_channel"; readonly channel: string } | { readonly kind: "no_access" }>;
}

export interface Outbox extends AsyncDisposable {
  /** Something was committed; deliver it now. Returns at once. `stored`: all of it, so that it need not be read again. */
  wake(stored?: readonly StoredPart[]): void;
  /**
   * Parts came from another gateway, among them some that are older than what was read already, or one that had ended waits again (`retried`);
   * deliver them now. Returns at once.
   */
  lookAgain(retried?: { readonly from: TroubledState; readonly endedAt: number }): void;
  /** Resolves when nothing is pending. */
  drained(signal: AbortSignal): Promise<void>;
  /** Something said earlier in this chat is still to be delivered, or may be. */
  owes(to: ChatAddress): boolean;
  /** `dead` and `ambiguous`: how many ended that way within the last day. */
  stats(): { readonly pending: number; readonly dead: number; readonly ambiguous: number };
}

/** Tells an owner what concerns the gateway itself. */
export interface OwnerNotices {
  /** Told again under the same id, it is told once, also after a restart. Resolves when it cannot be lost any more. */
  tell(id: string, text: string): Promise<void>;
}
