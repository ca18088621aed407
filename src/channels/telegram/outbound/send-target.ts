/** A chat address → where Telegram is told to show something. */
import type { ChatAddress } from "../../../contracts/chat.ts";

export interface Place {
  readonly chat: string;
  readonly target: { readonly chat_id: string; readonly message_thread_id?: number };
}

/** The first topic of a forum has a number too, but does not want to hear it. */
const GENERAL_TOPIC = 1;

export function placeOf({ chat, thread }: Pick<ChatAddress, "chat" | "thread">): Place {
  const topic = Number(thread);
  const known = thread !== undefined && Number.isSafeInteger(topic) && topic > GENERAL_TOPIC;
  return { chat, target: { chat_id: chat, ...(known ? { message_thread_id: topic } : {}) } };
}
