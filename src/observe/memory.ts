/**
 * Gives memory back. The runtime keeps what turns leave behind until it needs the room, so a busy gateway would grow for an hour before it
 * stays the same, and an idle one would keep what its start has used. Each time costs a pause of some 20 ms: under load it happens every
 * few hundred turns and never twice within seconds, and else once the gateway is idle, when nobody waits for anything.
 */
import type { Events } from "../contracts/events.ts";
import type { TurnId } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import { dropProgramPages } from "./program-pages.ts";

interface MemoryDeps {
  readonly clock: Pick<Clock, "elapsed" | "sleep">;
  readonly events: Pick<Events, "on">;
}

interface MemoryWays {
  collect(): void;
  forgetStart(): void;
}

const TURNS = 250;
const GAP_MS = 10_000;
/** Without a turn for so long, a gateway is idle. */
const IDLE_MS = 2_000;
/** Fewer leave too little behind to be worth a pause. */
const TURNS_BEFORE_IDLE = 50;

/** Call it when the gateway starts: what that leaves behind is given back once it is idle. */
export function keepMemoryFlat({ clock, events }: MemoryDeps, ways: MemoryWays = WAYS): Disposable {
  const over = new AbortController();
  let turns = 0;
  const running = new Set<TurnId>(); // an attempt that begins again is the same turn
  let collectedAt = clock.elapsed();
  let activeAt = clock.elapsed();
  let isWaiting = false;
  let hasStarted = false; // what the start has left behind was given back

  const collectAll = (): void => {
    const isFirst = !hasStarted;
    hasStarted = true;
    turns = 0;
    collectedAt = clock.elapsed();
    if (isFirst) ways.forgetStart();
    else ways.collect();
  };
  const waitUntilIdle = async (): Promise<void> => {
    if (isWaiting) return;
    isWaiting = true;
    try {
      let leftMs = IDLE_MS;
      while (leftMs > 0 || running.size > 0) {
        await clock.sleep(leftMs > 0 ? leftMs : IDLE_MS, over.signal);
        leftMs = activeAt + IDLE_MS - clock.elapsed();
      }
      collectAll();
    } finally {
      isWaiting = false;
    }
  };
  const begin = (): void => void waitUntilIdle().catch(() => undefined); // the gateway stops
  begin();

  const listening = [
    events.on("turn.started", ({ turnId }) => {
      running.add(turnId);
      activeAt = clock.elapsed();
    }),
    events.on("turn.ended", ({ turnId }) => {
      running.delete(turnId);
      activeAt = clock.elapsed();
      turns++;
      if (turns >= TURNS_BEFORE_IDLE) begin();
    }),
    // Its reply has left by then: at the end of the turn somebody would wait for it all through the pause.
    events.on("turn.recorded", () => {
      if (turns >= TURNS && clock.elapsed() - collectedAt >= GAP_MS) collectAll();
    }),
  ];
  return {
    [Symbol.dispose]() {
      over.abort(new Error("the gateway stops"));
      for (const one of listening) one[Symbol.dispose]();
    },
  };
}

const WAYS: MemoryWays = {
  /** All of it: collected in the background, the pages would stay with the process. */
  collect: () => Bun.gc(true),
  /** With the compiled code: that of a start is not needed again, and is 3 MB. Later this would throw away the code of turns. */
  forgetStart() {
    Bun.shrink();
    dropProgramPages();
  },
};
