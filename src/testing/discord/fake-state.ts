/** What a fake Discord knows: channels and their messages, numbered like the original's, and which nonces were used when. */
import { BOT, PLACES } from "./fake-people.ts";

interface FakeChannel {
  readonly id: string;
  readonly type: "dm" | "room" | "thread";
  readonly guild?: string;
  readonly parent?: string;
}

interface FakeAuthor {
  readonly id: string;
  readonly username: string;
  readonly global_name?: string;
  readonly bot?: boolean;
}

export interface FakeMessage {
  readonly id: string;
  readonly channel: string;
  readonly author: FakeAuthor;
  content: string;
  readonly at: number;
  editedAt: number | null;
  readonly nonce: string | null;
  /** Fields of the payload that are passed on as they are. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly files: readonly FakeFile[];
  components: unknown;
  readonly reactions: string[];
  pinned: boolean;
  /** Who was disturbed by it. */
  readonly pings: readonly string[];
  readonly replyTo: string | null;
}

export interface FakeFile {
  readonly name: string;
  readonly bytes: number;
}

export interface NewMessage {
  readonly channel: string;
  readonly author: FakeAuthor;
  readonly content: string;
  readonly nonce?: string | null;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly files?: readonly FakeFile[];
  readonly components?: unknown;
  readonly pings?: readonly string[];
  readonly replyTo?: string | null;
}

export interface FakeState {
  /** What the bot may do. */
  readonly application: { readonly id: string; flags: number };
  /** The servers it is in, with what it may do there. */
  readonly memberships: { id: string; permissions: string }[];
  readonly channels: ReadonlyMap<string, FakeChannel>;
  addChannel(channel: FakeChannel): void;
  removeChannel(id: string): void;
  add(message: NewMessage): FakeMessage;
  /** What was sent with this nonce a short while ago. Deleted since then, it is known all the same. */
  knownNonce(author: string, nonce: string): FakeMessage | "deleted" | null;
  find(channel: string, id: string): FakeMessage | null;
  edit(channel: string, id: string, content: string): FakeMessage | null;
  remove(channel: string, id: string): boolean;
  /** Oldest first. */
  messages(channel: string): readonly FakeMessage[];
  /** As REST shows it. */
  asPayload(message: FakeMessage): Record<string, unknown>;
  /** As the gateway tells it. */
  asEvent(message: FakeMessage): Record<string, unknown>;
  nextId(): string;
}

const DISCORD_EPOCH = 1_420_070_400_000;
const TIME_SHIFT = 22n;
const NONCE_MS = 180_000;
const MESSAGE_CONTENT_FLAG = 1 << 18;
const ALL_PERMISSIONS = String((1n << 50n) - 1n);

export function createFakeState({ now }: { now(): number }): FakeState {
  const channels = new Map<string, FakeChannel>();
  const messages = new Map<string, FakeMessage[]>();
  const sent: FakeMessage[] = [];
  let count = 0n;
  const nextId = () => String((BigInt(now() - DISCORD_EPOCH) << TIME_SHIFT) + ++count);
  const inChannel = (channel: string) => messages.get(channel) ?? [];
  const find = (channel: string, id: string) => inChannel(channel).find((one) => one.id === id) ?? null;
  const asPayload = (message: FakeMessage) => payloadOf(message);

  return {
    memberships: [{ id: PLACES.guild, permissions: ALL_PERMISSIONS }],
    application: { id: BOT.applicationId, flags: MESSAGE_CONTENT_FLAG },
    channels,
    nextId,
    find,
    asPayload,
    addChannel: (channel) => void channels.set(channel.id, channel),
    removeChannel: (id) => void channels.delete(id),
    add({
      channel,
      author,
      content,
      nonce = null,
      more = {},
      files = [],
      components = [],
      pings = [],
      replyTo = null,
    }) {
      const times = { at: now(), editedAt: null };
      const marks = { reactions: [] as string[], pinned: false };
      const made = { id: nextId(), channel, author, content, nonce, more, files, components, pings, replyTo };
      const message: FakeMessage = { ...made, ...times, ...marks };
      messages.set(channel, [...inChannel(channel), message]);
      if (nonce !== null) sent.push(message);
      return message;
    },
    knownNonce(author, nonce) {
      const known = sent.findLast((one) => one.author.id === author && one.nonce === nonce);
      if (!known || now() - known.at >= NONCE_MS) return null;
      return find(known.channel, known.id) ?? "deleted";
    },
    edit(channel, id, content) {
      const message = find(channel, id);
      if (!message) return null;
      message.content = content;
      message.editedAt = now();
      return message;
    },
    remove(channel, id) {
      const left = inChannel(channel).filter((one) => one.id !== id);
      const removed = left.length < inChannel(channel).length;
      messages.set(channel, left);
      return removed;
    },
    messages: inChannel,
    asEvent(message) {
      const guild = channels.get(message.channel)?.guild;
      return { ...asPayload(message), ...(guild ? { guild_id: guild, member: { roles: [] } } : {}) };
    },
  };
}

function payloadOf(message: FakeMessage): Record<string, unknown> {
  const mentionsBot = message.content.includes(`<@${BOT.id}>`);
  return {
    id: message.id,
    channel_id: message.channel,
    author: message.author,
    content: message.content,
    timestamp: new Date(message.at).toISOString(),
    edited_timestamp: message.editedAt === null ? null : new Date(message.editedAt).toISOString(),
    type: 0,
    mentions: mentionsBot ? [{ id: BOT.id, username: BOT.name, bot: true }] : [],
    mention_roles: [],
    attachments: message.files.map((file, at) => ({ id: String(at), filename: file.name, size: file.bytes, url: "" })),
    embeds: [],
    nonce: message.nonce,
    pinned: message.pinned,
    ...message.more,
  };
}
