/**
 * Sends what the outbox holds: one lane per chat, strictly in order inside it, lanes beside each other. A lane that has to wait for its
 * platform does not count against the limit of its account; a part is never skipped and never overtaken in its chat. Chats with nothing to
 * send cost nothing.
 */
import type { ChatAddress } from "../contracts/chat.ts";
import type { Outbox, OutboxRow, PendingPart, StoredPart, TroubledState } from "../contracts/delivery.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import { type DeliverDeps, deliverPart, type OutboxDeps, type Step, STORE_RETRY_MS, stored } from "./deliver-part.ts";
import { createGates } from "./gates.ts";
import { createPartReading } from "./part-reading.ts";
import { createRecentTrouble, MAX_RECENT, RECENT_MS, type RecentTrouble } from "./recent-trouble.ts";

/** Of one account of a channel, so that one that hangs does not keep the others from sending. */
export const MAX_SENDING = 32;

/** Forgotten with its last part, or when its pause is over. */
interface Lane {
  readonly key: string;
  /** Of its account: where it stands in line. */
  readonly gate: string;
  readonly parts: PendingPart[];
  /** The row of its first part, while it is what the store has: in the moment in which it was stored. */
  fresh: OutboxRow | null;
  /** Its platform wants nothing before; outlasts the part it was said about. */
  pausedUntil: number;
}

interface Lanes {
  readonly pending: number;
  knows(id: string): boolean;
  holds(to: ChatAddress): boolean;
  /** `row`: it was stored just now. */
  add(part: PendingPart, row?: OutboxRow): void;
  /** What is under way has come to its end, or to where the next process takes it up. */
  settled(): Promise<void>;
}

export function startOutbox(deps: OutboxDeps): Outbox {
  const stopping = new AbortController();
  const { signal } = stopping;
  const trouble = createRecentTrouble(deps.clock);
  let alarm: Deferred<void> = deferred();
  let quiet: Deferred<void> | null = deferred(); // null while nothing is pending
  const reading = createPartReading();
  let wakes = 0;
  let upToDate = false; // everything that was stored is in a lane

  const settle = (): void => {
    if (!upToDate || lanes.pending > 0) return;
    quiet?.resolve();
    quiet = null;
  };
  const wake = (added?: readonly StoredPart[]): void => {
    if (added && takeOver(added)) return;
    reading.stored(added?.map(({ pending: { seq } }) => seq) ?? null, lanes.pending);
    quiet ??= deferred();
    wakes++;
    upToDate = false;
    alarm.resolve();
  };
  /** Only what follows right behind the newest part that is known: anything between was stored by somebody else, and comes first. */
  const takeOver = (parts: readonly StoredPart[]): boolean => {
    if (!upToDate || parts.some(({ pending: { seq } }, at) => seq !== reading.newest() + 1 + at)) return false;
    for (const { pending, row } of parts) {
      quiet ??= deferred();
      reading.found(pending.seq);
      lanes.add(pending, row);
    }
    return true;
  };
  const lanes = createLanes({ ...deps, trouble, wake, onEmpty: settle, onGone: reading.gone }, signal);

  const readPending = (limit: number, after: number) => stored(deps, () => deps.store.pending(limit, after), signal);
  const follow = async (): Promise<void> => {
    await remember(deps, trouble, signal);
    while (!signal.aborted) {
      const rung = deferred<void>();
      alarm = rung;
      const before = wakes;
      const page = await reading.page(readPending, lanes.knows);
      for (const part of page?.parts ?? []) lanes.add(part);
      if (page?.isLast === false) continue;
      upToDate = page !== null && wakes === before;
      settle();
      await orAborted(rung.promise, signal).catch(() => undefined); // stopping is the normal end
    }
  };
  const following = follow();

  return {
    wake,
    lookAgain(retried) {
      if (retried) trouble.remove(retried.from, retried.endedAt);
      reading.beginAgain();
      wake();
    },
    drained: (until) => (quiet ? orAborted(quiet.promise, until) : Promise.resolve()),
    owes: (to) => !upToDate || lanes.holds(to),
    stats: () => ({ pending: lanes.pending, ...trouble.counts() }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("outbox stopped"));
      await following;
      await lanes.settled();
    },
  };
}

function createLanes(
  deps: DeliverDeps & { readonly trouble: RecentTrouble; onEmpty(): void; onGone(id: string): void },
  signal: AbortSignal,
): Lanes {
  const lanes = new Map<string, Lane>();
  const known = new Set<string>();

  const step = async (lane: Lane): Promise<void> => {
    const [part] = lane.parts;
    if (!part) return void lanes.delete(lane.key); // nothing came during its pause
    const done = await deliver(deps, part, lane.fresh, signal);
    if (done.kind === "stopped") return;
    lane.pausedUntil = done.pausedUntil ?? lane.pausedUntil;
    if (done.kind === "wait") {
      lane.parts[0] = done.part;
      return runIn(deps.clock, done.ms, () => gates.enter(lane), signal);
    }
    if (done.kind === "ended" && done.state !== "sent") deps.trouble.add(done.state, deps.clock.now());
    lane.parts.shift();
    known.delete(part.id);
    deps.onGone(part.id);
    const pauseMs = lane.pausedUntil - deps.clock.now();
    // a paused lane is kept, for what may still come; any other goes behind the rest, so that a long reply does not keep them waiting
    if (pauseMs > 0) runIn(deps.clock, pauseMs, () => gates.enter(lane), signal);
    else if (lane.parts.length > 0) gates.queue(lane);
    else lanes.delete(lane.key);
    if (known.size === 0) deps.onEmpty();
  };
  const gates = createGates(MAX_SENDING, step, signal);

  return {
    get pending() {
      return known.size;
    },
    knows: (id) => known.has(id),
    holds: (to) => (lanes.get(keyOf(to))?.parts.length ?? 0) > 0,
    add(part, row) {
      const key = keyOf(part.to);
      known.add(part.id);
      const open = lanes.get(key);
      if (open) {
        // by number, because what came from another gateway may be older; the first one may be on its way
        const after = open.parts.findLastIndex(({ seq }) => seq < part.seq) + 1;
        open.parts.splice(Math.max(1, after), 0, part);
        return;
      }
      const lane: Lane = {
        key,
        gate: JSON.stringify([part.to.channel, part.to.account]),
        parts: [part],
        fresh: row ?? null,
        pausedUntil: 0,
      };
      lanes.set(key, lane);
      gates.enter(lane);
      lane.fresh = null; // if its turn comes later, the row may have been changed until then
    },
    settled: () => gates.settled(),
  };
}

/** Its threads share the limits of a chat. */
function keyOf({ channel, account, chat }: ChatAddress): string {
  return JSON.stringify([channel, account, chat]);
}

function runIn(clock: Clock, ms: number, run: () => void, signal: AbortSignal): void {
  clock.sleep(ms, signal).then(run, () => undefined); // stopping is the normal end
}

/** A channel that breaks its contract must not end the lane. */
function deliver(deps: DeliverDeps, part: PendingPart, fresh: OutboxRow | null, signal: AbortSignal): Promise<Step> {
  return deliverPart(deps, part, fresh, signal).catch((error: unknown): Step => {
    deps.log.error("outbox step failed", { outboxId: part.id, error });
    return { kind: "wait", part, ms: STORE_RETRY_MS };
  });
}

const TROUBLED = ["dead", "ambiguous"] as const satisfies readonly TroubledState[];

/** What previous processes could not deliver is the owner's business too. */
async function remember(deps: OutboxDeps, trouble: RecentTrouble, signal: AbortSignal): Promise<void> {
  const since = deps.clock.now() - RECENT_MS;
  for (const state of TROUBLED) {
    const ends = await stored(deps, () => deps.store.endsSince(state, since, MAX_RECENT), signal);
    trouble.add(state, ...(ends?.value.toReversed() ?? []));
  }
}
