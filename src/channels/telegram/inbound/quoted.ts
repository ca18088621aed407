/** The parts of a message that its sender did not write, each with its real author. Names are for display; ids decide. */
import type { Chat, Message, MessageOrigin, User } from "grammy/types";
import type { QuotedText } from "../../../contracts/chat.ts";
import type { Me } from "./arrived.ts";

type Author = QuotedText["author"];

const MAX_REPLY_CHARS = 300;
const MAX_NAME_CHARS = 100;
const UNKNOWN: Author = { id: null, name: "" };

/** Whoever wrote a message that was only passed on: by a forward, by a channel's discussion group, or by an inline bot. Null: its sender. */
export function passedOnBy(message: Message): Author | null {
  if (message.forward_origin) return originOf(message.forward_origin);
  if (message.via_bot) return userOf(message.via_bot);
  if (message.is_automatic_forward) return message.sender_chat ? chatOf(message.sender_chat) : UNKNOWN;
  return "forward_date" in message ? UNKNOWN : null; // a Bot API server older than version 7
}

/** The message that this one replies to, here or elsewhere; null: none, or one elsewhere without words. */
export function repliedText(
  { reply_to_message: answered, external_reply: elsewhere, quote }: Message,
  me: Me,
): QuotedText | null {
  const text = (quote?.text ?? answered?.text ?? answered?.caption ?? "").trim();
  const message = answered && !elsewhere ? { message: String(answered.message_id) } : {};
  if (text === "" && !("message" in message)) return null;
  const author = elsewhere ? originOf(elsewhere.origin) : answered ? authorOf(answered, me) : UNKNOWN;
  const cut = text.length > MAX_REPLY_CHARS ? `${text.slice(0, MAX_REPLY_CHARS).toWellFormed()}…` : text;
  return { how: "reply", author, text: cut, ...message };
}

export function shared(text: string): QuotedText {
  return { how: "shared", author: UNKNOWN, text };
}

function authorOf(message: Message, me: Me): Author {
  if (message.from?.id === me.id) return { id: `telegram:user:${me.id}`, name: "you, the assistant" };
  const first = passedOnBy(message);
  if (first) return first;
  if (message.sender_chat) return chatOf(message.sender_chat);
  return message.from ? userOf(message.from) : UNKNOWN;
}

function originOf(origin: MessageOrigin): Author {
  switch (origin.type) {
    case "user":
      return userOf(origin.sender_user);
    case "hidden_user":
      return { id: null, name: origin.sender_user_name.slice(0, MAX_NAME_CHARS) };
    case "chat":
      return chatOf(origin.sender_chat);
    case "channel":
      return chatOf(origin.chat);
    default:
      return UNKNOWN; // Telegram may tell of a kind that is newer than this
  }
}

function userOf({ id, first_name: first, last_name: last }: User): Author {
  return { id: `telegram:user:${id}`, name: [first, last].filter(Boolean).join(" ").slice(0, MAX_NAME_CHARS) };
}

function chatOf(chat: Chat): Author {
  const name = "title" in chat && chat.title ? chat.title : "";
  return { id: `telegram:chat:${chat.id}`, name: name.slice(0, MAX_NAME_CHARS) };
}
