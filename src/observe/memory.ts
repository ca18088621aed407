/**
 * Gives memory back while there is much to do. The runtime keeps what turns leave behind until it needs the room, so a busy gateway would
 * grow for an hour before it stays the same. Collected in the background, every hundred turns and never twice within a few seconds.
 */
import type { Events } from "../contracts/events.ts";
import type { Clock } from "../kit/clock.ts";

export interface MemoryDeps {
  readonly clock: Pick<Clock, "elapsed">;
  readonly events: Pick<Events, "on">;
}

const TURNS = 100;
const GAP_MS = 3_000;

export function keepMemoryFlat({ clock, events }: MemoryDeps, collect: () => void = collectSoon): Disposable {
  let turns = 0;
  let collectedAt = clock.elapsed();
  return events.on("turn.ended", () => {
    if (++turns < TURNS || clock.elapsed() - collectedAt < GAP_MS) return;
    turns = 0;
    collectedAt = clock.elapsed();
    collect();
  });
}

function collectSoon(): void {
  Bun.gc(false);
}
