/** Values ↔ columns: JSON, addresses, messages and usage. JSON that comes back from the disk is untrusted until it has passed here. */
import type { ChatAddress, MediaKind, MediaRef, OutboundMessage, Usage } from "../../contracts/chat.ts";
import type { MediaId } from "../../contracts/ids.ts";
import type { ToolOutcome } from "../../contracts/tools/tool.ts";
import { parseJson } from "../../kit/json.ts";

const LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 256 };

export function encodeJson(value: unknown): string {
  return JSON.stringify(value) ?? "null"; // undefined has no JSON
}

/** Null when the column is damaged. */
export function decodeJson(text: string): unknown {
  const parsed = parseJson(text, LIMITS);
  return parsed.ok ? parsed.value : null;
}

/** What a caller was told, as it was stored. Null when the column is damaged. */
export function decodeReply(text: string): ToolOutcome | null {
  const value = decodeJson(text);
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : null;
  return kind === "ok" || kind === "refused" || kind === "pending" || kind === "failed" ? (value as ToolOutcome) : null;
}

export function encodeAttachments(attachments: readonly MediaRef[]): string {
  return attachments.length === 0 ? "[]" : JSON.stringify(attachments.map(bareRef));
}

/** Null when the column is damaged. */
export function decodeAttachments(text: string): readonly MediaRef[] | null {
  if (text === "[]") return [];
  const value = decodeJson(text);
  return Array.isArray(value) && value.every(isMediaRef) ? value.map(bareRef) : null;
}

function bareRef({ mediaId, name, mimeType, bytes, as }: MediaRef): MediaRef {
  return { mediaId, name, mimeType, bytes, ...(as === undefined ? {} : { as }) };
}

const KINDS: readonly unknown[] = ["photo", "audio", "document", "video", undefined] satisfies (
  MediaKind | undefined
)[];

function isMediaRef(value: unknown): value is MediaRef {
  if (typeof value !== "object" || value === null) return false;
  const { mediaId, name, mimeType, bytes, as } = value as Partial<Record<keyof MediaRef, unknown>>;
  const texts = typeof name === "string" && typeof mimeType === "string";
  return isMediaId(mediaId) && texts && Number.isSafeInteger(bytes) && KINDS.includes(as);
}

/** Safe as a file name: no dots, no separators. */
export function isMediaId(value: unknown): value is MediaId {
  return typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(value);
}

interface AddressColumns {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly thread: string | null;
}

export function toAddressColumns(address: ChatAddress): AddressColumns {
  return {
    channel: address.channel,
    account: address.account,
    chat: address.chat,
    thread: address.thread ?? null,
  };
}

export function fromAddressColumns({ channel, account, chat, thread }: AddressColumns): ChatAddress {
  return thread === null ? { channel, account, chat } : { channel, account, chat, thread };
}

interface MessageColumns {
  readonly text: string;
  readonly kind: OutboundMessage["kind"];
  readonly attachments: string;
  readonly reply_to: string | null;
  readonly format: NonNullable<OutboundMessage["format"]> | null;
}

/** The one way into the outbox: what people are to read is stored without the secrets the gateway knows. */
export function toMessageColumns(message: OutboundMessage, mask: (text: string) => string): MessageColumns {
  const { text, kind, attachments = [], replyTo, format } = message;
  const files = attachments.map((file) => ({ ...file, name: mask(file.name) }));
  return {
    text: mask(text),
    kind,
    attachments: encodeAttachments(files),
    reply_to: replyTo ?? null,
    format: format ?? null,
  };
}

export function fromMessageColumns(row: MessageColumns): OutboundMessage {
  const attachments = decodeAttachments(row.attachments) ?? [];
  return {
    text: row.text,
    kind: row.kind,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(row.reply_to === null ? {} : { replyTo: row.reply_to }),
    ...(row.format === null ? {} : { format: row.format }),
  };
}

export interface UsageColumns {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

/** Numbers come from a model provider in the end; an odd one must not keep a turn from ending. */
export function toUsageColumns(usage: Usage): UsageColumns {
  return {
    input_tokens: wholeNumber(usage.inputTokens),
    output_tokens: wholeNumber(usage.outputTokens),
    cost_usd: Number.isFinite(usage.costUsd) ? usage.costUsd : 0,
  };
}

export function wholeNumber(count: number): number {
  return Number.isFinite(count) ? Math.round(count) : 0;
}

export function fromUsageColumns(row: UsageColumns): Usage {
  return { inputTokens: row.input_tokens, outputTokens: row.output_tokens, costUsd: row.cost_usd };
}
