/** Telegram update → what happened, by whom, where. Pure. Null for what we do not speak. Names are for display; ids decide. */
import type { Message, Update, User } from "grammy/types";
import type { AnsweringText, ChatAddress, InboundMessage } from "../../../contracts/chat.ts";
import type { Arrival } from "../../../contracts/channels/platform.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { passesOn } from "../../../kit/marks/quoted.ts";
import { type FileSpec, filesOf } from "./files.ts";
import { wordsOf } from "./message-text.ts";

export interface Me {
  readonly id: number;
  readonly username: string;
}

export interface Arrived extends Arrival {
  readonly updateId: number;
  /** The message is stored under this: its number in its chat, and for an edit the number of the update as well. */
  readonly eventId: string;
  /** The event id of the message that this is an edit of; null: it is no edit. */
  readonly edits: string | null;
  /** When Telegram got it, in seconds. */
  readonly date: number;
  readonly messageId: number;
  /** What its sender wrote, without the mention it began with; places and polls as text. */
  readonly text: string;
  readonly quoted: InboundMessage["quoted"];
  readonly files: readonly FileSpec[];
  /** The number of the album that it is a piece of. */
  readonly album: string | null;
  readonly press: Press | null;
  /** As an answer to a question of ours. Null: it cannot be one. */
  readonly answering: AnsweringText | null;
}

interface Press {
  readonly callbackId: string;
  readonly data: string;
}

/** The account the message came to. */
export interface Here {
  readonly channel: string;
  readonly account: string;
  readonly me: Me;
  /** What the gateway calls a chat that Telegram may have given another number. */
  chatOf(chat: string): string;
}

const MAX_NAME_CHARS = 100;

export function readUpdate(update: Update, here: Here): Arrived | null {
  const { callback_query: press } = update;
  if (press) {
    if (!press.message || press.data === undefined || press.from.is_bot) return null;
    return {
      ...common(update, press.message, here),
      edits: null,
      kind: "action",
      sender: senderOf(press.from),
      mentioned: true,
      text: "",
      quoted: [],
      files: [],
      album: null,
      press: { callbackId: press.id, data: press.data },
      answering: null,
    };
  }
  const message = update.message ?? update.edited_message;
  if (!message?.from || (message.from.is_bot && !message.sender_chat)) return null;
  const said = wordsOf(message, here.me);
  const files = filesOf(message);
  if (said === null) return null;
  if (said.text === "" && files.length === 0 && said.quoted.every(({ text }) => text === "")) return null;
  const edited = update.edited_message !== undefined;
  if (edited && message.text === undefined && message.caption === undefined) return null; // a place that moves, for example
  const about = common(update, message, here);
  return {
    ...about,
    ...(edited ? { eventId: `${about.eventId}#${about.updateId}`, edits: about.eventId } : { edits: null }),
    kind: edited ? "edit" : "message",
    sender: authorOf(message, message.from),
    mentioned: message.chat.type === "private" || said.mentioned,
    text: said.text,
    quoted: said.quoted,
    files,
    album: message.media_group_id ?? null,
    press: null,
    answering: edited || passesOn(said.quoted) ? null : { to: repliedTo(message), text: said.text },
  };
}

function repliedTo({ reply_to_message: answered }: Message): string | null {
  return answered ? String(answered.message_id) : null;
}

/** The number a group had and the one it has now, when that is what the update is about. Telegram says it in both of them. */
export function moveOf({ message }: Update): { readonly from: string; readonly to: string } | null {
  if (!message) return null;
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message;
  if (to !== undefined) return { from: String(chat.id), to: String(to) };
  return from === undefined ? null : { from: String(from), to: String(chat.id) };
}

interface InChat {
  readonly message_id: number;
  readonly chat: { readonly id: number; readonly type: string };
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
  readonly date?: number;
}

function common({ update_id: updateId }: Update, message: InChat, { channel, account, chatOf }: Here) {
  const { chat, message_id: messageId, message_thread_id: thread, date = 0 } = message;
  const inTopic = message.is_topic_message === true && thread !== undefined;
  const address: ChatAddress = {
    channel,
    account,
    chat: chatOf(String(chat.id)),
    ...(inTopic ? { thread: String(thread) } : {}),
  };
  const scope = chat.type === "private" ? ("dm" as const) : ("group" as const);
  const eventId = messageId > 0 ? `${chat.id}/${messageId}` : String(updateId);
  return { updateId, eventId, messageId, address, scope, date };
}

/** Who speaks as a group or a channel is nobody in particular, whatever account Telegram puts in their place. */
function authorOf({ sender_chat: chat }: Message, from: User): Arrived["sender"] {
  if (!chat) return senderOf(from);
  const name = ("title" in chat ? chat.title : undefined) ?? "a chat";
  return { principal: `telegram:chat:${chat.id}` as Principal, name: name.slice(0, MAX_NAME_CHARS) };
}

export function senderOf({ id, first_name: first, last_name: last }: User): Arrived["sender"] {
  const name = [first, last].filter(Boolean).join(" ").slice(0, MAX_NAME_CHARS);
  return { principal: `telegram:user:${id}` as Principal, name };
}
