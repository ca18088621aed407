/**
 * Sends what the outbox holds: one lane per chat, strictly in order inside it, lanes beside each other. A lane that has to wait for its
 * platform waits alone, without a place among those that send; a part is never skipped and never overtaken in its chat. Chats with nothing
 * to send cost nothing.
 */
import type { Outbox, PendingPart, TroubledState } from "../contracts/delivery.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import { deliverPart, type OutboxDeps, type Step, STORE_RETRY_MS, stored } from "./deliver-part.ts";
import { createRecentTrouble, MAX_RECENT, RECENT_MS, type RecentTrouble } from "./recent-trouble.ts";
import { asFound } from "./rules.ts";

const PAGE_ROWS = 200;
export const MAX_SENDING = 32;

/** Forgotten with its last part, or when it has rested. */
interface Lane {
  readonly key: string;
  readonly parts: PendingPart[];
  /** Its platform wants nothing before; outlasts the part it was said about. */
  restsUntil: number;
}

interface Lanes {
  readonly pending: number;
  add(part: PendingPart): void;
  /** What is under way has come to its end, or to where the next life takes it up. */
  settled(): Promise<void>;
}

export function startOutbox(deps: OutboxDeps): Outbox {
  const stopping = new AbortController();
  const { signal } = stopping;
  const trouble = createRecentTrouble(deps.clock);
  let alarm: Deferred<void> = deferred();
  let quiet: Deferred<void> | null = deferred(); // null while nothing is pending
  let wakes = 0;
  let upToDate = false; // everything that was stored is in a lane

  const settle = (): void => {
    if (!upToDate || lanes.pending > 0) return;
    quiet?.resolve();
    quiet = null;
  };
  const lanes = createLanes({ ...deps, trouble, onEmpty: settle }, signal);

  const wake = (): void => {
    quiet ??= deferred();
    wakes++;
    upToDate = false;
    alarm.resolve();
  };

  const follow = async (): Promise<void> => {
    await remember(deps, trouble, signal);
    let after = 0;
    while (!signal.aborted) {
      const rung = deferred<void>();
      alarm = rung;
      const before = wakes;
      const rows = await stored(deps, () => deps.store.pending(PAGE_ROWS, after), signal);
      for (const row of rows?.value ?? []) {
        after = row.seq;
        lanes.add(asFound(row));
      }
      if (rows?.value.length === PAGE_ROWS) continue;
      upToDate = rows !== null && wakes === before;
      settle();
      await orAborted(rung.promise, signal).catch(() => undefined); // stopping is the normal end
    }
  };
  const following = follow();

  return {
    wake,
    drained: (until) => (quiet ? orAborted(quiet.promise, until) : Promise.resolve()),
    stats: () => ({ pending: lanes.pending, ...trouble.counts() }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("outbox stopped"));
      await following;
      await lanes.settled();
    },
  };
}

function createLanes(
  deps: OutboxDeps & { readonly trouble: RecentTrouble; onEmpty(): void },
  signal: AbortSignal,
): Lanes {
  const lanes = new Map<string, Lane>();
  const runnable: Lane[] = [];
  const running = new Set<Promise<void>>();
  let pending = 0;

  const resume = (lane: Lane): void => {
    runnable.push(lane);
    pump();
  };

  const pump = (): void => {
    while (running.size < MAX_SENDING && !signal.aborted) {
      const lane = runnable.shift();
      if (!lane) return;
      const run = step(lane).finally(() => {
        running.delete(run);
        pump();
      });
      running.add(run);
    }
  };

  const step = async (lane: Lane): Promise<void> => {
    const [part] = lane.parts;
    if (!part) return void lanes.delete(lane.key); // nothing came while it rested
    const done = await deliver(deps, part, signal);
    if (done.kind === "stopped") return;
    lane.restsUntil = done.restsUntil ?? lane.restsUntil;
    if (done.kind === "wait") {
      lane.parts[0] = done.part;
      return runIn(deps.clock, done.ms, () => resume(lane), signal);
    }
    if (done.state !== "sent") deps.trouble.add(done.state, deps.clock.now());
    lane.parts.shift();
    pending--;
    const restMs = lane.restsUntil - deps.clock.now();
    // a lane at rest is kept, for what may still come; any other goes behind the rest, so that a long reply does not keep them waiting
    if (restMs > 0) runIn(deps.clock, restMs, () => resume(lane), signal);
    else if (lane.parts.length > 0) runnable.push(lane);
    else lanes.delete(lane.key);
    if (pending === 0) deps.onEmpty();
  };

  return {
    get pending() {
      return pending;
    },
    add(part) {
      const key = JSON.stringify([part.to.channel, part.to.account, part.to.chat]); // its threads share the limits of a chat
      pending++;
      const known = lanes.get(key);
      if (known) {
        known.parts.push(part);
        return;
      }
      const lane: Lane = { key, parts: [part], restsUntil: 0 };
      lanes.set(key, lane);
      resume(lane);
    },
    async settled() {
      await Promise.all(running);
    },
  };
}

function runIn(clock: Clock, ms: number, run: () => void, signal: AbortSignal): void {
  clock.sleep(ms, signal).then(run, () => undefined); // stopping is the normal end
}

/** A channel that breaks its contract must not end the lane. */
function deliver(deps: OutboxDeps, part: PendingPart, signal: AbortSignal): Promise<Step> {
  return deliverPart(deps, part, signal).catch((error: unknown): Step => {
    deps.log.error("outbox step failed", { outboxId: part.id, error });
    return { kind: "wait", part, ms: STORE_RETRY_MS };
  });
}

const TROUBLED = ["dead", "ambiguous"] as const satisfies readonly TroubledState[];

/** What earlier lives could not deliver is the owner's business too. */
async function remember(deps: OutboxDeps, trouble: RecentTrouble, signal: AbortSignal): Promise<void> {
  const since = deps.clock.now() - RECENT_MS;
  for (const state of TROUBLED) {
    const ends = await stored(deps, () => deps.store.endsSince(state, since, MAX_RECENT), signal);
    trouble.add(state, ...(ends?.value.toReversed() ?? []));
  }
}
