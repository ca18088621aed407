/** A channel translates between a platform and the gateway, and nothing more. */
import type { InboundMessage } from "./chat.ts";
import type { OutboxRow } from "./delivery.ts";
import type { InboxId, SessionKey } from "./ids.ts";

/** A connected account. Optional methods (from later channels) are abilities: absent means the platform cannot. */
export interface Channel {
  readonly id: string;
  /** Sends one stored part. Its id is stable across crashes, so that a platform that can deduplicate is able to. Rejects when it may be tried again. */
  send(part: OutboxRow, signal: AbortSignal): Promise<void>;
  health(): { readonly ok: boolean; readonly detail: string };
}

/** The one way in. Never throws for ordinary reasons: the receipt says what became of the message. */
export interface Receiver {
  receive(message: InboundMessage, signal: AbortSignal): Promise<Receipt>;
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

/** `ignored`: the message is not for the gateway, or its sender may not know that there is one; say nothing. */
export type RefusedBecause =
  "empty" | "too_long" | "session_full" | "gateway_full" | "stopping" | "unknown_agent" | "not_allowed" | "ignored";
