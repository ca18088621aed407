/** Reply parts wait in the outbox until their channel has them: written in the transaction that ends the turn, sent in order. */
import type { ChatAddress, OutboundMessage } from "./chat.ts";
import type { SessionKey, TurnId } from "./ids.ts";

export interface ReplyPart {
  readonly part: number; // 0, 1, 2 … within the turn
  readonly message: OutboundMessage;
}

export interface OutboxRow extends ReplyPart {
  readonly id: string; // `${turnId}:${part}`
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly to: ChatAddress;
  readonly createdAt: number;
}

export interface Outbox extends AsyncDisposable {
  /** Something was committed; deliver it now. Returns at once. */
  wake(): void;
  /** Resolves when nothing is pending. */
  drained(signal: AbortSignal): Promise<void>;
  stats(): { readonly pending: number };
}
