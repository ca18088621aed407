/** A message on Discord → who said what where. Pure. Null for what is not said by a person: bots, system lines, our own words. */
import type { APIAttachment, APIMessage, APIUser } from "discord-api-types/v10";
import type { ChatAddress, InboundMessage, QuotedText } from "../../../contracts/chat.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { CHANNEL } from "../settings.ts";

/** As the gateway tells it; what is read over REST has no `guild_id`. */
export type SaidMessage = APIMessage & { readonly guild_id?: string };

export interface Translated {
  readonly message: Omit<InboundMessage, "attachments" | "receivedAt">;
  readonly attachments: readonly APIAttachment[];
  /** Its one attachment is spoken. */
  readonly voice: boolean;
}

interface TranslateContext {
  readonly me: string;
  readonly address: ChatAddress;
  /** The server it was said in; null: a direct message. */
  readonly guild: string | null;
}

/** Ordinary messages and replies; everything else is about something that happened. */
const SAID_TYPES: ReadonlySet<number> = new Set([0, 19]);
const VOICE_FLAG = 1 << 13;
const FORWARD = 1;
const MAX_ATTACHMENTS = 10;
const MAX_REPLY_CHARS = 300;
/** Discord does not say who wrote what is forwarded. */
const UNKNOWN = { id: null, name: "" } as const;

export function translate(said: SaidMessage, { me, address, guild }: TranslateContext): Translated | null {
  const { author, content } = said;
  if (author.bot || author.system || said.webhook_id !== undefined || !SAID_TYPES.has(said.type)) return null;
  const scope = guild === null ? "dm" : "group";
  const forwarded = forwardedOf(said);
  const attachments = [...said.attachments, ...forwarded.flatMap((one) => one.attachments ?? [])].slice(
    0,
    MAX_ATTACHMENTS,
  );
  const passedOn = forwarded.map((one): QuotedText => ({
    how: "forward",
    author: UNKNOWN,
    text: (one.content ?? "").trim(),
  }));
  const quoted = [...repliedTo(said, me), ...passedOn];
  const text = readable(content, said.mentions, me);
  return {
    message: {
      eventId: said.id,
      messageIds: [said.id],
      fingerprint: fingerprintOf([text, ...passedOn.map((one) => one.text)].join("\n"), attachments),
      address,
      scope,
      sender: senderOf(author),
      text,
      quoted,
      mentioned: scope === "dm" || isMentioned(said, me),
      ...(guild === null ? {} : { place: guild }),
      ...(forwarded.length > 0 ? {} : { answering: { to: said.message_reference?.message_id ?? null, text } }),
    },
    attachments,
    voice: ((said.flags ?? 0) & VOICE_FLAG) !== 0,
  };
}

export function senderOf({
  id,
  global_name,
  username,
}: Pick<APIUser, "id" | "global_name" | "username">): InboundMessage["sender"] {
  return { principal: `${CHANNEL}:user:${id}` as Principal, name: global_name ?? username };
}

export function fingerprintOf(text: string, attachments: readonly Pick<APIAttachment, "id">[]): string {
  const parts = [text, ...attachments.map(({ id }) => id)];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** By name, or because it answers something of ours. */
function isMentioned({ mentions, referenced_message: answered }: SaidMessage, me: string): boolean {
  return mentions.some(({ id }) => id === me) || answered?.author.id === me;
}

/** The message that this one replies to. Its words are missing when it was deleted; its number is known even then. */
function repliedTo({ message_reference: reference, referenced_message: answered }: SaidMessage, me: string) {
  if (reference?.type === FORWARD || reference?.message_id === undefined) return [];
  const words = (answered?.content ?? "").trim();
  const text = words.length > MAX_REPLY_CHARS ? `${words.slice(0, MAX_REPLY_CHARS).toWellFormed()}…` : words;
  const author = answered ? authorOf(answered.author, me) : UNKNOWN;
  return [{ how: "reply", author, text, message: reference.message_id } satisfies QuotedText];
}

function authorOf({ id, global_name, username }: APIUser, me: string): QuotedText["author"] {
  return { id: `${CHANNEL}:user:${id}`, name: id === me ? "you, the assistant" : (global_name ?? username) };
}

interface Forwarded {
  readonly content?: string;
  readonly attachments?: readonly APIAttachment[];
}

function forwardedOf({
  message_reference: reference,
  message_snapshots: snapshots,
}: SaidMessage): readonly Forwarded[] {
  if (reference?.type !== FORWARD) return [];
  return (snapshots ?? []).map(({ message }) => message as Forwarded);
}

/** Names instead of numbers; our own at the beginning is only the way to get our attention. */
function readable(content: string, mentions: SaidMessage["mentions"], me: string): string {
  const addressed = content.replace(new RegExp(`^(?:\\s*<@!?${me}>)+[\\s,:]*`), "");
  const names = new Map(mentions.map(({ id, global_name, username }) => [id, global_name ?? username]));
  return addressed
    .replace(/<@!?(\d{17,20})>/g, (all, id: string) => (names.has(id) ? `@${names.get(id)}` : all))
    .trim();
}
