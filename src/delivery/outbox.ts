/**
 * Sends what the outbox holds: oldest first, one at a time per chat, each part until its channel has it. A part is marked sent only after
 * the channel took it, so a crash in between sends it again under the same id; a part is never skipped and never overtaken in its chat.
 */
import type { Channel } from "../contracts/channel.ts";
import type { Outbox, OutboxRow } from "../contracts/delivery.ts";
import type { OutboxStore } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";

export interface OutboxDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: OutboxStore;
  readonly channels: ReadonlyMap<string, Channel>;
}

const PAGE_ROWS = 200;
const RETRY_MS = 1_000;

export function startOutbox(deps: OutboxDeps): Outbox {
  const stopping = new AbortController();
  let alarm: Deferred<void> = deferred();
  let quiet: Deferred<void> | null = deferred(); // null while nothing is pending
  let pending = 0;

  const wake = (): void => {
    quiet ??= deferred();
    alarm.resolve();
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const rung = deferred<void>();
      alarm = rung;
      let woken = false;
      void rung.promise.then(() => {
        woken = true;
      });
      const left = await deliverAll(deps, stopping.signal, (count) => {
        pending = count;
      });
      if (left === "something") {
        await deps.clock.sleep(RETRY_MS, stopping.signal).catch(() => undefined); // stopping is the normal end
        continue;
      }
      if (!woken) {
        quiet?.resolve();
        quiet = null;
      }
      await orAborted(rung.promise, stopping.signal).catch(() => undefined); // likewise
    }
  };
  const loop = run();

  return {
    wake,
    drained: (signal) => (quiet ? orAborted(quiet.promise, signal) : Promise.resolve()),
    stats: () => ({ pending }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("outbox stopped"));
      await loop;
    },
  };
}

/** `nothing` left to do, or `something` that has to be tried again later. */
async function deliverAll(
  deps: OutboxDeps,
  signal: AbortSignal,
  count: (pending: number) => void,
): Promise<"nothing" | "something"> {
  try {
    for (;;) {
      const rows = await deps.store.pending(PAGE_ROWS);
      count(rows.length);
      if (rows.length === 0 || signal.aborted) return "nothing";
      const stuck = await deliverPage(deps, rows, signal);
      if (stuck) return "something";
    }
  } catch (error) {
    deps.log.error("outbox could not be read or marked", { error });
    return "something";
  }
}

async function deliverPage(deps: OutboxDeps, rows: readonly OutboxRow[], signal: AbortSignal): Promise<boolean> {
  const sent: string[] = [];
  const stuckChats = new Set<string>();
  for (const row of rows) {
    const chat = JSON.stringify(row.to);
    if (stuckChats.has(chat) || signal.aborted) continue;
    const channel = deps.channels.get(row.to.channel);
    if (!channel) {
      await deps.store.markDead(row.id, `no channel ${row.to.channel}`, deps.clock.now());
      deps.log.warn("reply has no channel to go to", { outboxId: row.id, channel: row.to.channel });
      continue;
    }
    try {
      await channel.send(row, signal);
      sent.push(row.id);
    } catch (error) {
      stuckChats.add(chat);
      deps.log.warn("reply not delivered yet", { outboxId: row.id, channel: row.to.channel, error });
    }
  }
  if (sent.length > 0) await deps.store.markSent(sent, deps.clock.now());
  return stuckChats.size > 0;
}
