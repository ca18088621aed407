/**
 * Gives memory back while there is much to do. The runtime keeps what turns leave behind until it needs the room, so a busy gateway would
 * grow for an hour before it stays the same. Each time costs a pause of some 20 ms, so it happens every few hundred turns, and never twice
 * within seconds.
 */
import type { Events } from "../contracts/events.ts";
import type { Clock } from "../kit/clock.ts";

interface MemoryDeps {
  readonly clock: Pick<Clock, "elapsed">;
  readonly events: Pick<Events, "on">;
}

const TURNS = 250;
const GAP_MS = 10_000;

export function keepMemoryFlat({ clock, events }: MemoryDeps, collect: () => void = collectNow): Disposable {
  let turns = 0;
  let collectedAt = clock.elapsed();
  return events.on("turn.ended", () => {
    if (++turns < TURNS || clock.elapsed() - collectedAt < GAP_MS) return;
    turns = 0;
    collectedAt = clock.elapsed();
    collect();
  });
}

/** All of it: collected in the background, the pages would stay with the process. */
function collectNow(): void {
  Bun.gc(true);
}
