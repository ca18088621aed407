/** The calls that put text into a chat of Telegram, and the fields that texts and files share. */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { Chunk } from "../render/split.ts";

interface TextMessage {
  readonly to: ChatAddress;
  readonly chunk: Chunk;
  /** The message it replies to; what is no number of a message is left out. */
  readonly replyTo?: number | null;
  readonly markup?: ButtonMarkup;
  /** Nobody's phone makes a sound. */
  readonly silent?: boolean;
}

export type ButtonMarkup =
  | { readonly force_reply: true }
  | { readonly inline_keyboard: { readonly text: string; readonly callback_data: string }[][] };

/** The first topic of a forum has a number too, but Telegram refuses it as a target. */
const GENERAL_TOPIC = 1;
/** Telegram would fetch whatever address the model wrote, without anybody having pressed it. */
const NO_PREVIEW = { is_disabled: true };

export function targetOf({ chat, thread }: ChatAddress): {
  readonly chat_id: string;
  readonly message_thread_id?: number;
} {
  const topic = Number(thread);
  const isTopic = thread !== undefined && Number.isSafeInteger(topic) && topic > GENERAL_TOPIC;
  return { chat_id: chat, ...(isTopic ? { message_thread_id: topic } : {}) };
}

/** Where a message stands. */
export function messageAt(chat: string, messageId: string) {
  return { chat_id: chat, message_id: Number(messageId) };
}

/** Where a message goes, and what it replies to. One that is gone is answered without pointing at it. */
export function replyTarget(to: ChatAddress, replyTo: number | null) {
  if (replyTo === null || !Number.isSafeInteger(replyTo) || replyTo <= 0) return targetOf(to);
  return { ...targetOf(to), reply_parameters: { message_id: replyTo, allow_sending_without_reply: true as const } };
}

/** Resolves with the id of the message. */
export async function sendText(
  api: BotApi,
  { to, chunk, replyTo = null, markup, silent }: TextMessage,
  signal: AbortSignal,
): Promise<string> {
  const message = {
    ...replyTarget(to, replyTo),
    text: chunk.text,
    entities: [...chunk.entities] as never[],
    link_preview_options: NO_PREVIEW,
    ...(markup ? { reply_markup: markup } : {}),
    ...(silent ? { disable_notification: true } : {}),
  };
  return String((await api.call("sendMessage", message, signal)).message_id);
}

export async function editText(
  api: BotApi,
  { chat, messageId }: { readonly chat: string; readonly messageId: string },
  chunk: Chunk,
  signal: AbortSignal,
): Promise<void> {
  const edited = {
    ...messageAt(chat, messageId),
    text: chunk.text,
    entities: [...chunk.entities] as never[],
    link_preview_options: NO_PREVIEW,
  };
  await api.call("editMessageText", edited, signal);
}

export function captionFields({ text, entities }: Chunk) {
  return { caption: text, caption_entities: [...entities] as never[] };
}
