/**
 * One step in the life of a reply part: decided by rules.ts, done here, and written down before anybody acts on it. A send that must not be
 * repeated blindly is announced in the store first; a note that cannot be written is written again, never skipped.
 */
import { type Channel, type PartMessages, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { OutboxRow, PartEnd, PendingPart } from "../contracts/delivery.ts";
import type { GivenUpPart } from "./undelivered.ts";
import type { Events } from "../contracts/events.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { OutboxStore } from "../contracts/store.ts";
import { chanceOf } from "../kit/chance.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { EXPIRED_NOTICE, GAP_NOTICE } from "./notices.ts";
import {
  afterError,
  afterSend,
  afterSkip,
  askedPauseOf,
  atMessage,
  beforeTry,
  doubtful,
  givenUp,
  whileAway,
  withoutChannel,
} from "./rules.ts";
import { whoDelivers } from "./who-delivers.ts";

export interface OutboxDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Pick<Events, "emit">;
  readonly store: OutboxStore;
  readonly channels: { get(id: string): Channel | undefined };
  /** Whether no other gateway can have taken over from this one; it would send what waits here. */
  isHeld(): boolean;
  /** Whether the chat may still get this part; asked right before each try. */
  mayReceive(row: OutboxRow): Promise<boolean>;
  /** What the platform calls a message that is named by our own id; empty: it has no id there. */
  platformIds(id: string): Promise<readonly string[]>;
  /** Told before a part is given up that nobody in its chat can be told about. */
  tellOwner(about: GivenUpPart): Promise<void>;
  /** Null: there are no other gateways on this database. */
  readonly others: OtherSenders | null;
}

/** Other gateways: one of them may have the platform of a part. */
export interface OtherSenders {
  readonly me: InstanceId;
  /** The gateway that receives for the platform of this channel; null: none does. */
  holderOf(channel: string): Promise<InstanceId | null>;
  /** That gateway has parts of this one now, and has to know. */
  handed(to: InstanceId): void;
}

/** The outbox as one part sees it. */
export interface DeliverDeps extends OutboxDeps {
  /** A notice was stored. */
  wake(): void;
}

export type Step =
  | (ChatCooldown & { readonly kind: "ended"; readonly state: PartEnd["state"] })
  | (ChatCooldown & { readonly kind: "wait"; readonly part: PendingPart; readonly ms: number })
  /** Another gateway has claimed the part, or was handed it: it records what becomes of it. */
  | (ChatCooldown & { readonly kind: "taken" })
  /** The outbox is being stopped; the row tells the next process where this one was. */
  | { readonly kind: "stopped" };

/** The platform wants nothing more in this chat until then, whatever becomes of the part it said so about. */
interface ChatCooldown {
  readonly pausedUntil?: number;
}

const STOPPED = { kind: "stopped" } as const satisfies Step;
export const STORE_RETRY_MS = 1_000;
const SEND_MS = 60_000;
/** How long a claim holds: a send, and as much again to record its end. */
const CLAIM_MS = 2 * SEND_MS;

/** `fresh`: its row, if it was stored just now. */
export async function deliverPart(
  deps: DeliverDeps,
  found: PendingPart,
  fresh: OutboxRow | null,
  signal: AbortSignal,
): Promise<Step> {
  const now = deps.clock.now();
  const channel = deps.channels.get(found.to.channel);
  const away = channel ? (channel.ready(found.to) ? null : whileAway(found, channel, now)) : withoutChannel(found, now);
  if (away?.kind === "end") return end(deps, found, away.end, signal);
  if (!channel || away) return handOver(deps, { part: found, ms: away?.kind === "wait" ? away.ms : 0 }, signal);
  const row = fresh ? { value: fresh } : await stored(deps, () => deps.store.part(found.id), signal);
  if (!row) return STOPPED;
  if (!row.value) return end(deps, found, givenUp(found, "not in the store", "owner"), signal);
  const sendable = row.value;
  const allowed = await stored(deps, () => deps.mayReceive(sendable), signal);
  if (!allowed) return STOPPED;
  if (!allowed.value) return end(deps, found, withheld(found), signal);
  const readable = await stored(deps, () => withPlatformReply(deps, channel, sendable), signal);
  if (!readable) return STOPPED;
  const known = await counted(deps, channel, { part: found, row: readable.value }, signal);
  if (!known) return STOPPED;
  const sending: Sending = { part: known, row: readable.value };
  const before = beforeTry(known, channel, now);
  if (before.kind === "end") return end(deps, known, before.end, signal);
  if (before.kind === "wait") return { kind: "wait", part: known, ms: before.ms };
  if (before.kind === "skip") return skipMessage(deps, channel, sending, signal);
  const trying: PendingPart = { ...known, attempts: known.attempts + 1, firstTriedAt: known.firstTriedAt ?? now };
  return tryOnce(deps, channel, { ...sending, part: trying }, signal);
}

/** A part that cannot be sent here goes to the gateway that has its platform, or waits. */
async function handOver(
  { others, store, log, ...deps }: DeliverDeps,
  { part, ms }: { readonly part: PendingPart; readonly ms: number },
  signal: AbortSignal,
): Promise<Step> {
  const waits: Step = { kind: "wait", part, ms };
  if (others === null) return waits;
  const holder = await stored({ ...deps, log }, () => others.holderOf(part.to.channel), signal);
  if (!holder) return STOPPED;
  const deliverer = whoDelivers({ me: others.me, holder: holder.value });
  if (deliverer.kind === "here") return waits;
  const handed = await stored({ ...deps, log }, () => store.handTo(deliverer.node, [part.id]), signal);
  if (!handed) return STOPPED;
  if (handed.value.length === 0) return waits; // that gateway has ended, or the part has
  log.debug("reply handed to another gateway", { outboxId: part.id, node: deliverer.node, because: deliverer.because });
  others.handed(deliverer.node);
  return { kind: "taken" };
}

/** A part answers a message by our own id of it. One that has no id on the platform is answered without pointing at it. */
async function withPlatformReply(deps: DeliverDeps, channel: Channel, row: OutboxRow): Promise<OutboxRow> {
  const { replyTo, ...message } = row.message;
  if (replyTo === undefined || channel.ownIds) return row;
  const [answered] = await deps.platformIds(replyTo);
  return { ...row, message: answered === undefined ? message : { ...message, replyTo: answered } };
}

/** Neither the person nor the owner, who took the access back, is told again. */
function withheld(part: PendingPart): PartEnd {
  const { state, because } = givenUp(part, "the person has no access any more", "owner");
  return { state, because };
}

interface Sending {
  readonly part: PendingPart;
  readonly row: OutboxRow;
}

/** The part at the message it has come to; null when the outbox is stopped first. */
async function counted(
  deps: DeliverDeps,
  channel: Channel,
  { part, row }: Sending,
  signal: AbortSignal,
): Promise<PendingPart | null> {
  const { messages } = channel;
  const delivered = messages ? await stored(deps, () => messages.delivered(row, signal), signal) : { value: 0 };
  return delivered && atMessage(part, channel, delivered.value, deps.clock.now());
}

/** Leaves the message in doubt as it is and goes on with the next one, which nobody has seen yet. Its chat is told first: a crash in between tells it once. */
async function skipMessage(
  deps: DeliverDeps,
  channel: Channel,
  { part, row }: Sending,
  signal: AbortSignal,
): Promise<Step> {
  const more = channel.messages ? await nextMessage(deps, channel.messages, row, signal) : { value: false };
  if (!more) return STOPPED;
  if (!more.value) return end(deps, part, doubtful(), signal);
  const next = afterSkip(part);
  const because = doubtful().because ?? "";
  const notOurs = await recorded(deps, part.id, () => deps.store.markWaiting(part.id, { ...next, because }), signal);
  return notOurs ?? { kind: "wait", part: next, ms: 0 };
}

async function nextMessage(
  deps: DeliverDeps,
  messages: PartMessages,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<{ readonly value: boolean } | null> {
  const told = await tell(deps, row, doubtful(), signal);
  return told ? stored(deps, () => messages.skip(row, signal), signal) : null;
}

async function tryOnce(
  deps: DeliverDeps,
  channel: Channel,
  { part, row }: Sending,
  signal: AbortSignal,
): Promise<Step> {
  const { store, clock } = deps;
  const { id } = part;
  if (channel.repeat !== "safe") {
    const now = clock.now();
    const note = { ...part, at: now, claimedUntil: now + CLAIM_MS };
    const notOurs = await recorded(deps, id, () => store.markSending(id, note), signal);
    if (notOurs) return notOurs;
  }
  if (signal.aborted) return STOPPED; // nothing is sent any more, on any kind of channel
  if (!deps.isHeld()) return giveBack(deps, channel, part, signal);
  let receipt: SendReceipt;
  try {
    receipt = await send(deps, channel, row, signal);
  } catch (error) {
    if (signal.aborted && !(error instanceof SendError)) return STOPPED; // how far it came is not known, and the row says so
    return failed(deps, channel, { part, row, error }, signal);
  }
  const result = afterSend(part, channel, receipt, clock.now());
  if (channel.repeat !== "safe") return end(deps, part, result, signal);
  const notOurs = await recorded(deps, id, () => store.markSent(id, clock.now()), signal);
  return notOurs ?? { kind: "ended", state: "sent" };
}

/** The process froze after the part was announced, and another gateway may send it by now. This try was none. */
async function giveBack(deps: DeliverDeps, channel: Channel, part: PendingPart, signal: AbortSignal): Promise<Step> {
  const waiting = { ...part, attempts: part.attempts - 1 };
  const back: Step = { kind: "wait", part: waiting, ms: STORE_RETRY_MS };
  if (channel.repeat === "safe") return back; // it was not announced
  const note = { ...waiting, because: "the gateway was not heard of for too long" };
  return (await recorded(deps, part.id, () => deps.store.markWaiting(part.id, note), signal)) ?? back;
}

/** A channel that does not answer is given up on, or it would count against the limit of its account for ever. */
async function send(
  { clock }: OutboxDeps,
  channel: Channel,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<SendReceipt> {
  using limit = clock.deadline(SEND_MS, () => new SendError("lost", `no answer within ${SEND_MS / 1_000} s`));
  return await orAborted(channel.send(row, AbortSignal.any([signal, limit.signal])), limit.signal);
}

async function failed(
  deps: DeliverDeps,
  channel: Channel,
  { error, ...sending }: Sending & { readonly error: unknown },
  signal: AbortSignal,
): Promise<Step> {
  const part = await counted(deps, channel, sending, signal);
  if (!part) return STOPPED;
  const now = deps.clock.now();
  const after = afterError(part, error, { now, chance: chanceOf(deps.ids) });
  if (after.kind === "end") return end(deps, part, after.end, signal);
  const askedMs = askedPauseOf(error);
  const cooldown: ChatCooldown = askedMs === null ? {} : { pausedUntil: now + askedMs };
  const { id, attempts } = after.part;
  const next = beforeTry(after.part, channel, now);
  const ms = next.kind === "wait" ? next.ms : 0;
  deps.log.warn("reply not delivered yet", { outboxId: id, channel: channel.id, attempts, nextTryInMs: ms, error });
  const waiting = { ...after.part, because: after.because };
  const notOurs = await recorded(deps, id, () => deps.store.markWaiting(id, waiting), signal);
  return notOurs ?? { kind: "wait", part: after.part, ms, ...cooldown };
}

async function end(deps: DeliverDeps, part: PendingPart, result: PartEnd, signal: AbortSignal): Promise<Step> {
  if (result.tell) {
    const row = await stored(deps, () => deps.store.part(part.id), signal);
    if (!row || (row.value && !(await tell(deps, row.value, result, signal)))) return STOPPED;
  }
  const notOurs = await recorded(deps, part.id, () => deps.store.settle(part.id, result, deps.clock.now()), signal);
  if (notOurs) return notOurs;
  if (result.state !== "sent") {
    const fields = { outboxId: part.id, channel: part.to.channel, attempts: part.attempts, because: result.because };
    if (result.state === "dead") deps.log.warn("reply given up", fields);
    else deps.log.warn("reply in doubt: it may have arrived twice, or not at all", fields);
    deps.events.emit("status", { what: "outbox" });
  }
  return { kind: "ended", state: result.state };
}

/**
 * Tells those who wait for a part that is given up, or an owner where they cannot be told. Before the end is written: a crash in between
 * leads here again, and a notice is stored once. False: the outbox is stopped first.
 */
async function tell(deps: DeliverDeps, part: OutboxRow, end: PartEnd, signal: AbortSignal): Promise<boolean> {
  const { state, because } = end;
  if (!end.tell || state === "sent") return true;
  if (end.tell === "chat") {
    const text = state === "dead" ? EXPIRED_NOTICE : GAP_NOTICE;
    const told = await stored(deps, () => deps.store.noteInChat(part.id, text, deps.clock.now()), signal);
    if (told?.value) deps.wake();
    if (!told || told.value) return told !== null;
  }
  await deps.tellOwner({ part, state, because: because ?? "" }).catch((error: unknown) => {
    deps.log.warn("owner could not be told of a reply that was given up", { outboxId: part.id, error });
  });
  return true;
}

/** Null when it was written; else why this gateway has nothing more to do with the part. */
async function recorded(
  deps: DeliverDeps,
  outboxId: string,
  write: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Extract<Step, { kind: "stopped" | "taken" }> | null> {
  const written = await stored(deps, write, signal);
  if (!written) return STOPPED;
  if (written.value) return null;
  deps.log.warn("reply is left to another gateway, which has claimed it", { outboxId });
  return { kind: "taken" };
}

/** Until it works; null when the outbox is stopped first. */
export async function stored<T>(
  { clock, log }: Pick<OutboxDeps, "clock" | "log">,
  run: () => Promise<T>,
  signal: AbortSignal,
): Promise<{ readonly value: T } | null> {
  for (;;) {
    try {
      return { value: await run() };
    } catch (error) {
      if (!signal.aborted) log.error("outbox could not be read or marked", { error });
    }
    const goOn = await clock.sleep(STORE_RETRY_MS, signal).then(
      () => true,
      () => false,
    );
    if (!goOn) return null;
  }
}
