/** Work on messages that are there, whatever platform shows them: by own id, done on the platform, and noted in the store. */
import type { ActionResult, ChatSession, Reaction } from "../channel.ts";

export interface ChatMessages {
  /** The own id of a message of this chat; null: there is none with this id. */
  find(place: ChatSession, messageId: string): Promise<string | null>;
  /** Refuses, with a sentence for a model, what is not there, not ours to change, or not possible on this channel. */
  act(
    target: ChatSession & { readonly messageId: string },
    action: MessageAction,
    signal: AbortSignal,
  ): Promise<ActionResult>;
}

export type MessageAction =
  | (Reaction & { readonly kind: "react" })
  | { readonly kind: "edit"; readonly text: string }
  | { readonly kind: "delete" }
  | { readonly kind: "pin"; readonly unpin: boolean };
