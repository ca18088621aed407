/** What a message says, in words: its sender's apart from those of others, with places, contacts, stickers and polls as text. */
import type { Message, MessageEntity } from "grammy/types";
import type { QuotedText } from "../../../contracts/chat.ts";
import type { Me } from "./arrived.ts";
import { passedOnBy, repliedText, shared } from "./quoted.ts";

interface Words {
  /** What its sender wrote. */
  readonly text: string;
  /** What others wrote. */
  readonly quoted: readonly QuotedText[];
  /** Telegram says so: by a mention, a command for this bot, or an answer to one of its messages. */
  readonly mentioned: boolean;
}

const MAX_LABEL_CHARS = 100;

/** Null: it is meant for another bot. */
export function wordsOf(message: Message, me: Me): Words | null {
  const raw = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  const answersUs = message.reply_to_message?.from?.id === me.id;
  const replied = repliedText(message, me);
  const quoted = replied ? [replied] : [];
  const author = passedOnBy(message);
  if (author) {
    // no mention and no command in it is its sender's
    const text = joined([raw.trim(), ...drawnBy(message), ...takenFrom(message)]);
    return { text: "", quoted: [...quoted, { how: "forward", author, text }], mentioned: answersUs };
  }
  const command = commandFor(raw, entities, me);
  if (command === "other") return null;
  const mentions = entities.filter((entity) => isMention(raw, entity, me));
  return {
    text: command ?? joined([withoutLeading(raw, mentions[0]), ...drawnBy(message)]),
    quoted: [...quoted, ...takenFrom(message).map(shared)],
    mentioned: mentions.length > 0 || answersUs || (command !== null && raw.includes("@")),
  };
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");

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

/** Things its sender made. */
function drawnBy({ location, poll, dice }: Message): readonly string[] {
  const things: (string | null)[] = [
    location ? `[Location: ${location.latitude}, ${location.longitude}]` : null,
    poll ? `[Poll: ${label(poll.question)} — ${poll.options.map(({ text }) => label(text)).join(" / ")}]` : null,
    dice ? `[${dice.emoji} ${dice.value}]` : null,
  ];
  return things.filter((thing) => thing !== null);
}

/** Things with names that somebody else gave them. */
function takenFrom({ sticker, venue, contact }: Message): readonly string[] {
  const things: (string | null)[] = [
    sticker ? `Sticker ${sticker.emoji ?? ""}${sticker.set_name ? ` of ${label(sticker.set_name)}` : ""}` : null,
    venue ? `Place: ${label(venue.title)}, ${label(venue.address)}` : null,
    contact
      ? `Contact: ${label([contact.first_name, contact.last_name].filter(Boolean).join(" "))}, ${label(contact.phone_number)}`
      : null,
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
