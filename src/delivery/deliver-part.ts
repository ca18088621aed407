/**
 * One step in the life of a reply part: decided by rules.ts, done here, and written down before anybody acts on it. A send that must not be
 * repeated blindly is announced in the store first; a note that cannot be written is written again, never skipped.
 */
import { type Channel, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { OutboxRow, PartEnd, PendingPart } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { OutboxStore } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { afterError, afterSend, askedPauseOf, beforeTry, givenUp, withoutChannel } from "./rules.ts";

export interface OutboxDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Pick<Events, "emit">;
  readonly store: OutboxStore;
  readonly channels: { get(id: string): Channel | undefined };
}

export type Step =
  | (ChatRest & { readonly kind: "ended"; readonly state: PartEnd["state"] })
  | (ChatRest & { readonly kind: "wait"; readonly part: PendingPart; readonly ms: number })
  /** The outbox is being stopped; the row tells the next life where this one was. */
  | { readonly kind: "stopped" };

/** The platform wants nothing more in this chat until then, whatever becomes of the part it said so about. */
interface ChatRest {
  readonly restsUntil?: number;
}

const STOPPED: Step = { kind: "stopped" };
export const STORE_RETRY_MS = 1_000;
const SEND_MS = 60_000;

export async function deliverPart(deps: OutboxDeps, part: PendingPart, signal: AbortSignal): Promise<Step> {
  const now = deps.clock.now();
  const channel = deps.channels.get(part.to.channel);
  const before = channel ? beforeTry(part, channel, now) : withoutChannel(part, now);
  if (before.kind === "end") return end(deps, part, before.end, signal);
  if (before.kind === "wait" || !channel) return { kind: "wait", part, ms: before.kind === "wait" ? before.ms : 0 };
  const row = await stored(deps, () => deps.store.part(part.id), signal);
  if (!row) return STOPPED;
  if (!row.value) return end(deps, part, givenUp(part, "not in the store"), signal);
  const trying: PendingPart = { ...part, attempts: part.attempts + 1, firstTriedAt: part.firstTriedAt ?? now };
  return tryOnce(deps, channel, { part: trying, row: row.value }, signal);
}

async function tryOnce(
  deps: OutboxDeps,
  channel: Channel,
  { part, row }: { readonly part: PendingPart; readonly row: OutboxRow },
  signal: AbortSignal,
): Promise<Step> {
  const { store, clock } = deps;
  const { id, attempts, lost } = part;
  if (channel.repeat !== "safe") {
    const announced = await stored(deps, () => store.markSending(id, { attempts, lost, at: clock.now() }), signal);
    if (!announced || signal.aborted) return STOPPED;
  }
  let receipt: SendReceipt;
  try {
    receipt = await send(deps, channel, row, signal);
  } catch (error) {
    if (signal.aborted && !(error instanceof SendError)) return STOPPED; // how far it came is not known, and the row says so
    return failed(deps, channel, { part, error }, signal);
  }
  const result = afterSend(part, channel, receipt, clock.now());
  if (channel.repeat !== "safe") return end(deps, part, result, signal);
  const noted = await stored(deps, () => store.markSent([id], clock.now()), signal);
  return noted ? { kind: "ended", state: "sent" } : STOPPED;
}

/** A channel that does not come back is left behind, or it would keep its place among those that send for ever. */
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
  deps: OutboxDeps,
  channel: Channel,
  { part, error }: { readonly part: PendingPart; readonly error: unknown },
  signal: AbortSignal,
): Promise<Step> {
  const now = deps.clock.now();
  const after = afterError(part, channel, error, { now, chance: chanceOf(deps.ids) });
  const askedMs = askedPauseOf(error);
  const rest: ChatRest = askedMs === null ? {} : { restsUntil: now + askedMs };
  if (after.kind === "end") {
    const ended = await end(deps, part, after.end, signal);
    return ended.kind === "stopped" ? ended : { ...ended, ...rest };
  }
  const { id, attempts, lost, firstTriedAt, nextTryAt } = after.part;
  const next = beforeTry(after.part, channel, now);
  const ms = next.kind === "wait" ? next.ms : 0;
  deps.log.warn("reply not delivered yet", { outboxId: id, channel: channel.id, attempts, nextTryInMs: ms, error });
  const note = { attempts, lost, firstTriedAt, nextTryAt, because: after.because };
  const noted = await stored(deps, () => deps.store.markWaiting(id, note), signal);
  return noted ? { kind: "wait", part: after.part, ms, ...rest } : STOPPED;
}

async function end(deps: OutboxDeps, part: PendingPart, result: PartEnd, signal: AbortSignal): Promise<Step> {
  const noted = await stored(deps, () => deps.store.settle(part.id, result, deps.clock.now()), signal);
  if (!noted) return STOPPED;
  if (result.state !== "sent") {
    const fields = { outboxId: part.id, channel: part.to.channel, attempts: part.attempts, because: result.because };
    if (result.state === "dead") deps.log.warn("reply given up", fields);
    else deps.log.warn("reply in doubt: it may have arrived twice, or not at all", fields);
    deps.events.emit("status", { what: "outbox" });
  }
  return { kind: "ended", state: result.state };
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

const CHANCE_BYTES = 4;

function chanceOf(ids: Ids): number {
  return Buffer.from(ids.secret(CHANCE_BYTES), "base64url").readUInt32BE() / 2 ** (8 * CHANCE_BYTES);
}
