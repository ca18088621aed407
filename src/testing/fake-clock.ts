/** A clock that stands still until a test moves it. `advance` runs everything that falls due, in order; it never waits for real time. */
import type { Clock } from "../kit/clock.ts";
import { outsideWorkEnded } from "./outside-work.ts";

export interface FakeClock extends Clock {
  /** Moves time forward. Each thing that falls due runs at its own moment, and its promises settle before the next one. */
  advance(ms: number): Promise<void>;
  /** How many sleeps and deadlines are waiting. */
  pending(): number;
}

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Enough turns of the event loop for a chain of promises, and for a small file operation in between. */
const SETTLE_TURNS = 3;

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  const timers = new Set<Timer>();
  let passedMs = 0;
  let order = 0;

  const at = (ms: number, fire: () => void): (() => void) => {
    const timer: Timer = { dueAt: passedMs + Math.max(0, ms), order: order++, fire };
    timers.add(timer);
    return () => timers.delete(timer);
  };

  return {
    now: () => startMs + passedMs,
    elapsed: () => passedMs,
    pending: () => timers.size,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const cancel = () => {
          forget();
          reject(signal.reason);
        };
        const forget = at(ms, () => {
          signal.removeEventListener("abort", cancel);
          resolve();
        });
        signal.addEventListener("abort", cancel, { once: true });
      });
    },
    deadline(ms, reason) {
      const controller = new AbortController();
      const forget = at(ms, () => controller.abort(reason()));
      return { signal: controller.signal, [Symbol.dispose]: forget };
    },
    async advance(ms) {
      const until = passedMs + ms;
      await settle();
      for (let next = earliest(timers); next && next.dueAt <= until; next = earliest(timers)) {
        timers.delete(next);
        passedMs = Math.max(passedMs, next.dueAt);
        next.fire();
        await settle();
      }
      passedMs = until;
    },
  };
}

function earliest(timers: ReadonlySet<Timer>): Timer | null {
  let first: Timer | null = null;
  for (const timer of timers) {
    if (!first || timer.dueAt < first.dueAt || (timer.dueAt === first.dueAt && timer.order < first.order))
      first = timer;
  }
  return first;
}

/** What a server has been asked for is not over before its answer: then promises settle once more. */
async function settle(): Promise<void> {
  do for (let turn = 0; turn < SETTLE_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  while (await outsideWorkEnded());
}
