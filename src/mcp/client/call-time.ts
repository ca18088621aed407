/** The time of one call, which stands still while a person is asked something. */
import type { Clock } from "../../kit/clock.ts";

interface CallTime extends Disposable {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The time does not run until the result is disposed. */
  pause(): Disposable;
}

export function startCallTime(clock: Clock, ms: number, over: () => Error): CallTime {
  const controller = new AbortController();
  let leftMs = ms;
  let pauses = 0;
  let running: { readonly since: number; readonly timer: Disposable } | null = null;
  const run = (): void => {
    const timer = clock.deadline(leftMs, over);
    timer.signal.addEventListener("abort", () => controller.abort(timer.signal.reason), { once: true });
    running = { since: clock.elapsed(), timer };
  };
  const stand = (): void => {
    if (running === null) return;
    leftMs = Math.max(1, leftMs - (clock.elapsed() - running.since));
    running.timer[Symbol.dispose]();
    running = null;
  };
  run();
  return {
    signal: controller.signal,
    pause() {
      if (pauses++ === 0) stand();
      let isOver = false;
      return {
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          if (--pauses === 0) run();
        },
      };
    },
    [Symbol.dispose]: () => {
      pauses = Infinity; // a question that ends later starts no timer
      stand();
    },
  };
}
