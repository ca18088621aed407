/** What a message says, in words: its text, what it answers or passes on, and places, contacts, stickers and polls as text. */
import type { Message, MessageEntity } from "grammy/types";
import type { Me } from "./arrived.ts";

export interface Words {
  readonly text: string;
  /** What its sender wrote, without what it answers or passes on. */
  readonly own: string;
  /** Telegram says so: by a mention, a command for this bot, or an answer to one of its messages. */
  readonly mentioned: boolean;
}

const MAX_QUOTE_CHARS = 300;
const MAX_LABEL_CHARS = 100;

/** Null: it is meant for another bot. */
export function wordsOf(message: Message, me: Me): Words | null {
  const raw = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  const command = commandFor(raw, entities, me);
  if (command === "other") return null;
  const mentions = entities.filter((entity) => isMention(raw, entity, me));
  const answersUs = message.reply_to_message?.from?.id === me.id;
  const text = command ?? withoutLeading(raw, mentions[0]);
  const parts = command === null ? [passedOn(message), quoted(message), text, ...thingsOf(message)] : [command];
  return {
    text: parts.filter((part) => part !== null && part !== "").join("\n"),
    own: text,
    mentioned: mentions.length > 0 || answersUs || (command !== null && raw.includes("@")),
  };
}

const cut = (raw: string, { offset, length }: MessageEntity): string => raw.slice(offset, offset + length);

function isMention(raw: string, entity: MessageEntity, me: Me): boolean {
  if (entity.type === "text_mention") return entity.user.id === me.id;
  return entity.type === "mention" && cut(raw, entity).toLowerCase() === `@${me.username.toLowerCase()}`;
}

/** `/new@our_bot words` → `/new words`. Null: no command. */
function commandFor(raw: string, entities: readonly MessageEntity[], me: Me): string | "other" | null {
  const first = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  if (!first) return null;
  const [name = "", bot] = cut(raw, first).split("@");
  if (bot !== undefined && bot.toLowerCase() !== me.username.toLowerCase()) return "other";
  return name + raw.slice(first.length);
}

function withoutLeading(raw: string, mention: MessageEntity | undefined): string {
  const rest = mention?.offset === 0 ? raw.slice(mention.length).replace(/^[\s,:]+/, "") : raw;
  return rest.trim() === "" ? raw.trim() : rest.trim();
}

function quoted({ reply_to_message: answered, quote }: Message): string | null {
  const text = quote?.text ?? answered?.text ?? answered?.caption;
  if (text === undefined || text.trim() === "") return null;
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return `[In answer to: ${flat.length > MAX_QUOTE_CHARS ? `${flat.slice(0, MAX_QUOTE_CHARS).toWellFormed()}…` : flat}]`;
}

function passedOn({ forward_origin: origin }: Message): string | null {
  if (!origin) return null;
  if (origin.type === "user") return `[Forwarded from ${label(origin.sender_user.first_name)}]`;
  if (origin.type === "hidden_user") return `[Forwarded from ${label(origin.sender_user_name)}]`;
  const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
  return `[Forwarded from ${label("title" in chat && chat.title ? chat.title : "a chat")}]`;
}

function thingsOf({ sticker, location, venue, contact, poll, dice }: Message): readonly string[] {
  const things: (string | null)[] = [
    sticker ? `[Sticker ${sticker.emoji ?? ""}${sticker.set_name ? ` of ${label(sticker.set_name)}` : ""}]` : null,
    venue ? `[Place: ${label(venue.title)}, ${label(venue.address)}]` : null,
    location ? `[Location: ${location.latitude}, ${location.longitude}]` : null,
    contact
      ? `[Contact: ${label([contact.first_name, contact.last_name].filter(Boolean).join(" "))}, ${label(contact.phone_number)}]`
      : null,
    poll ? `[Poll: ${label(poll.question)} — ${poll.options.map(({ text }) => label(text)).join(" / ")}]` : null,
    dice ? `[${dice.emoji} ${dice.value}]` : null,
  ];
  return things.filter((thing) => thing !== null);
}

/** On one line, and short. */
function label(text: string): string {
  return text
    .replaceAll(/[\s[\]]+/g, " ")
    .trim()
    .slice(0, MAX_LABEL_CHARS)
    .toWellFormed();
}
