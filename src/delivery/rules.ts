/**
 * What happens to a reply part next: tried, left to wait, sent once more, or given up. Pure: it is told the time and the chance, and reads
 * nothing but the part and its channel. After a doubtful send it never calls a part dead, because it may have arrived.
 */
import { errorText } from "../contracts/errors.ts";
import { type Channel, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { PartEnd, PendingPart } from "../contracts/delivery.ts";

/** Nobody wants yesterday's answer on their phone. Channels whose repeat is safe show the stored reply however old it is. */
const REPLY_TTL_MS = 60 * 60 * 1_000;
/** How often a channel that is not ready is asked again. */
const READY_POLL_MS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** A pause is shorter by up to this share, so that chats which failed together do not come back together. */
const JITTER_SHARE = 0.2;
const MAX_DOUBLINGS = 10;
const MAX_BECAUSE_CHARS = 300;

type Before =
  | { readonly kind: "try" }
  /** Its current message may have arrived and must not be repeated. */
  | { readonly kind: "skip" }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "end"; readonly end: PartEnd };

type After =
  | { readonly kind: "again"; readonly part: PendingPart; readonly because: string }
  | { readonly kind: "end"; readonly end: PartEnd };

/**
 * The part at the message it has come to, `delivered` being how many came before that one. Lost responses count against their own message
 * only. A part that an earlier process left in the middle of a send has one more send whose end nobody knows.
 */
export function atMessage(part: PendingPart, channel: Channel, delivered: number, now: number): PendingPart {
  const current = delivered > part.delivered ? onward(part, channel, delivered, now) : part;
  return current.state === "sending" ? { ...current, state: "pending", lost: current.lost + 1 } : current;
}

function onward(part: PendingPart, channel: Channel, delivered: number, now: number): PendingPart {
  const doubt = part.doubt || (part.lost > 0 && isRisky(part, channel, now));
  return { ...part, delivered, doubt, lost: 0 };
}

/** The message in doubt is left as it is, and the next one is the current one. */
export function afterSkip(part: PendingPart): PendingPart {
  return { ...part, delivered: part.delivered + 1, doubt: true, lost: 0 };
}

export function beforeTry(part: PendingPart, channel: Channel, now: number): Before {
  const expiresInMs = channel.repeat === "safe" ? REPLY_TTL_MS : expiryOf(part) - now;
  if (expiresInMs <= 0) return { kind: "end", end: givenUp(part, EXPIRED, "chat") };
  if (mustNotRepeat(part, channel, now)) return { kind: "skip" };
  const pauseMs = (part.nextTryAt ?? now) - now;
  return pauseMs > 0 ? { kind: "wait", ms: Math.min(pauseMs, expiresInMs) } : { kind: "try" };
}

/** A part that a person has sent again is as old as their wish. */
function expiryOf({ createdAt, retried }: PendingPart): number {
  return (retried?.at ?? createdAt) + REPLY_TTL_MS;
}

/** While its channel cannot send, nothing is known about its messages, so nothing but its age decides. */
export function whileAway(part: PendingPart, channel: Channel, now: number): Before {
  if (channel.repeat === "safe" || expiryOf(part) > now) return { kind: "wait", ms: READY_POLL_MS };
  return { kind: "end", end: givenUp(part, EXPIRED, "chat") };
}

/** It comes with a platform or a plugin that may still be starting, or be back soon: nobody's reply is given up for that alone. */
export function withoutChannel(part: PendingPart, now: number): Before {
  if (expiryOf(part) > now) return { kind: "wait", ms: READY_POLL_MS };
  return { kind: "end", end: givenUp(part, `no channel ${part.to.channel}`, "owner") };
}

export function afterSend(part: PendingPart, channel: Channel, receipt: SendReceipt, now: number): PartEnd {
  const { providerId: first, providerIds } = receipt;
  const providerId = {
    ...(first === undefined ? {} : { providerId: first }),
    ...(providerIds === undefined ? {} : { providerIds }),
  };
  if (part.doubt || (part.lost > 0 && isRisky(part, channel, now)))
    return { state: "ambiguous", because: LOST, ...providerId };
  if (receipt.doubt !== undefined)
    return { state: "ambiguous", because: receipt.doubt.slice(0, MAX_BECAUSE_CHARS), ...providerId };
  return { state: "sent", because: null, ...providerId };
}

export function afterError(
  part: PendingPart,
  error: unknown,
  { now, chance }: { readonly now: number; readonly chance: number },
): After {
  // any other error may have come after the send, from a note about it for example
  const failure = error instanceof SendError ? error : new SendError("lost", reasonOf(error));
  const because = failure.message.slice(0, MAX_BECAUSE_CHARS);
  if (failure.kind === "permanent") return { kind: "end", end: givenUp(part, because, "owner") };
  const lost = failure.kind === "lost" ? part.lost + 1 : part.lost;
  const next: PendingPart = { ...part, state: "pending", lost, nextTryAt: now + pauseOf(part, failure, chance) };
  return { kind: "again", part: next, because };
}

/** One risky repeat in the life of a message, across all restarts; none when the channel holds such messages back. */
function mustNotRepeat(part: PendingPart, channel: Channel, now: number): boolean {
  if (part.lost === 0 || !isRisky(part, channel, now)) return false;
  return part.lost > 1 || channel.whenLost === "hold";
}

function isRisky({ firstTriedAt }: PendingPart, { repeat, dedupeMs }: Channel, now: number): boolean {
  if (repeat !== "deduplicated") return repeat === "risky";
  return dedupeMs !== undefined && firstTriedAt !== null && now - firstTriedAt >= dedupeMs;
}

export function givenUp(part: PendingPart, because: string, tell: NonNullable<PartEnd["tell"]>): PartEnd {
  const maybeArrived = part.lost > 0 || part.doubt || part.state === "sending" || part.retried?.from === "ambiguous";
  return { state: maybeArrived ? "ambiguous" : "dead", because, tell };
}

const LOST = "the answer to a send was lost";
const EXPIRED = "it waited too long to be sent";

export function doubtful(): PartEnd {
  return { state: "ambiguous", because: LOST, tell: "chat" };
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

function reasonOf(error: unknown): string {
  return errorText(error) || "the channel did not say why";
}
