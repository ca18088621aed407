/**
 * What happens to a reply part next: tried, left to wait, sent once more, or given up. Pure: it is told the time and the chance, and reads
 * nothing but the part and its channel. After a doubtful send it never calls a part dead, because it may have arrived.
 */
import { errorText } from "../contracts/errors.ts";
import { type Channel, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { PartEnd, PendingPart } from "../contracts/delivery.ts";

/** Nobody wants yesterday's answer on their phone. Channels whose repeat is safe show the stored reply however old it is. */
export const REPLY_TTL_MS = 60 * 60 * 1_000;
/** How often a channel that is not ready is asked again. */
const READY_POLL_MS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** A pause is shorter by up to this share, so that chats which failed together do not come back together. */
const JITTER_SHARE = 0.2;
const MAX_DOUBLINGS = 10;
const MAX_BECAUSE_CHARS = 300;

export type Before =
  | { readonly kind: "try" }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "end"; readonly end: PartEnd };

export type After =
  | { readonly kind: "again"; readonly part: PendingPart; readonly because: string }
  | { readonly kind: "end"; readonly end: PartEnd };

/** A part that an earlier life left in the middle of a send has one more send whose end nobody knows. */
export function asFound(part: PendingPart): PendingPart {
  return part.state === "sending" ? { ...part, state: "pending", lost: part.lost + 1 } : part;
}

export function beforeTry(part: PendingPart, channel: Channel, now: number): Before {
  if (mustNotRepeat(part, channel, now)) return { kind: "end", end: doubtful() };
  const expiresInMs = channel.repeat === "safe" ? REPLY_TTL_MS : part.createdAt + REPLY_TTL_MS - now;
  if (expiresInMs <= 0) return { kind: "end", end: givenUp(part, "expired") };
  const pauseMs = (part.nextTryAt ?? now) - now;
  if (pauseMs > 0) return { kind: "wait", ms: Math.min(pauseMs, expiresInMs) };
  return channel.ready(part.to) ? { kind: "try" } : { kind: "wait", ms: READY_POLL_MS };
}

/** It comes with a platform or a plugin that may still be starting, or be back soon: nobody's reply is given up for that alone. */
export function withoutChannel(part: PendingPart, now: number): Before {
  if (part.createdAt + REPLY_TTL_MS > now) return { kind: "wait", ms: READY_POLL_MS };
  return { kind: "end", end: givenUp(part, `no channel ${part.to.channel}`) };
}

export function afterSend(part: PendingPart, channel: Channel, receipt: SendReceipt, now: number): PartEnd {
  const providerId = receipt.providerId === undefined ? {} : { providerId: receipt.providerId };
  if (part.lost > 0 && isRisky(part, channel, now)) return { ...doubtful(), ...providerId };
  if (receipt.doubt !== undefined)
    return { state: "ambiguous", because: receipt.doubt.slice(0, MAX_BECAUSE_CHARS), ...providerId };
  return { state: "sent", because: null, ...providerId };
}

export function afterError(
  part: PendingPart,
  channel: Channel,
  error: unknown,
  { now, chance }: { readonly now: number; readonly chance: number },
): After {
  const failure = error instanceof SendError ? error : new SendError("retry", wordsOf(error));
  const because = failure.message.slice(0, MAX_BECAUSE_CHARS);
  if (failure.kind === "permanent") return { kind: "end", end: givenUp(part, because) };
  const lost = failure.kind === "lost" ? part.lost + 1 : part.lost;
  const next: PendingPart = { ...part, state: "pending", lost, nextTryAt: now + pauseOf(part, failure, chance) };
  if (mustNotRepeat(next, channel, now)) return { kind: "end", end: doubtful() };
  return { kind: "again", part: next, because };
}

/** One risky repeat in the life of a part, across all restarts; none when the channel holds such parts back. */
function mustNotRepeat(part: PendingPart, channel: Channel, now: number): boolean {
  if (part.lost === 0 || !isRisky(part, channel, now)) return false;
  return part.lost > 1 || channel.whenLost === "hold";
}

function isRisky({ firstTriedAt }: PendingPart, { repeat, dedupeMs }: Channel, now: number): boolean {
  if (repeat !== "deduplicated") return repeat === "risky";
  return dedupeMs !== undefined && firstTriedAt !== null && now - firstTriedAt >= dedupeMs;
}

export function givenUp(part: PendingPart, because: string): PartEnd {
  return { state: part.lost > 0 ? "ambiguous" : "dead", because };
}

function doubtful(): PartEnd {
  return { state: "ambiguous", because: "the answer to a send was lost" };
}

/** How long a platform wants to be left alone in this chat; null when it did not say. Kept to the millisecond, but not beyond reason. */
export function askedPauseOf(error: unknown): number | null {
  const asked = error instanceof SendError && error.kind === "limited" ? error.retryAfterMs : undefined;
  return asked !== undefined && asked >= 0 ? Math.min(Math.ceil(asked), REPLY_TTL_MS) : null;
}

function pauseOf(part: PendingPart, failure: SendError, chance: number): number {
  const askedMs = askedPauseOf(failure);
  if (askedMs !== null) return askedMs;
  const doublings = Math.min(Math.max(part.attempts - 1, 0), MAX_DOUBLINGS);
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** doublings, MAX_PAUSE_MS);
  return Math.round(pauseMs * (1 - JITTER_SHARE * chance));
}

function wordsOf(error: unknown): string {
  return errorText(error) || "the channel did not say why";
}
