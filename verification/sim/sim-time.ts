/** One time for all lives of a simulated gateway. A clock belongs to a life: what a dead life waited for never happens. */
import type { Clock } from "../../src/kit/clock.ts";

export interface SimTime {
  now(): number;
  /** The clock of one life, or of the world around it when `alive` is always true. */
  clockFor(alive: () => boolean): Clock;
  /** Calls back after `ms`. */
  at(ms: number, fire: () => void): void;
  /** Moves to the next thing that is due, and runs it. False: nothing is waiting, or not before `untilMs`. */
  step(untilMs: number): boolean;
  /** How many waits of living clocks there are. */
  waiting(): number;
}

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly alive: () => boolean;
  readonly fire: () => void;
}

export const START_MS = 1_700_000_000_000;

export function createSimTime(): SimTime {
  const timers = new Set<Timer>();
  let passedMs = 0;
  let order = 0;

  const add = (ms: number, alive: () => boolean, fire: () => void): (() => void) => {
    const timer = { dueAt: passedMs + Math.max(0, ms), order: order++, alive, fire };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const earliest = (): Timer | null => {
    let first: Timer | null = null;
    for (const timer of timers) {
      if (!timer.alive()) timers.delete(timer);
      else if (!first || timer.dueAt < first.dueAt || (timer.dueAt === first.dueAt && timer.order < first.order))
        first = timer;
    }
    return first;
  };

  return {
    now: () => passedMs,
    at: (ms, fire) => void add(ms, () => true, fire),
    waiting: () => [...timers].filter((timer) => timer.alive()).length,
    step(untilMs) {
      const next = earliest();
      if (!next || next.dueAt > untilMs) return false;
      timers.delete(next);
      passedMs = Math.max(passedMs, next.dueAt);
      next.fire();
      return true;
    },
    clockFor: (alive) => ({
      now: () => START_MS + passedMs,
      elapsed: () => passedMs,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const cancel = () => {
            forget();
            reject(signal.reason);
          };
          const forget = add(ms, alive, () => {
            signal.removeEventListener("abort", cancel);
            resolve();
          });
          signal.addEventListener("abort", cancel, { once: true });
        }),
      deadline(ms, reason) {
        const controller = new AbortController();
        const forget = add(ms, alive, () => controller.abort(reason()));
        return { signal: controller.signal, [Symbol.dispose]: forget };
      },
    }),
  };
}
