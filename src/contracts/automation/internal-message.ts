/** What the gateway itself puts into the inbox. Whoever does that has decided where it goes and with which rights, so routing is not asked. */
import type { Receipt } from "../channel.ts";
import type { InboundMessage, MessageOrigin } from "../chat.ts";
import type { QueueEntry } from "../queue.ts";

export interface InternalMessage extends Omit<QueueEntry, "message" | "whenFull"> {
  readonly message: InboundMessage & { readonly origin: Exclude<MessageOrigin, "chat"> };
}

export interface InternalReceiver {
  /** Put in twice under the same event id it is there once. */
  put(entry: InternalMessage, signal: AbortSignal): Promise<Receipt>;
}
