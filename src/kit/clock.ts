/** The only source of time. Production: systemClock. Tests: FakeClock, whose `advance` runs everything that falls due. */
export interface Clock {
  /** Epoch milliseconds, for records people read. */
  now(): number;
  /** Monotonic milliseconds, for measuring how long something took. */
  elapsed(): number;
  /** Resolves after `ms`; rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A signal that aborts with `reason` after `ms`. Dispose it as soon as it is no longer needed, or its timer lives on. */
  deadline(ms: number, reason: () => unknown): Deadline;
}

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", cancel);
        resolve();
      }, ms);
      const cancel = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", cancel, { once: true });
    });
  },
  deadline(ms, reason) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(reason()), ms);
    return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Where this machine says it is, such as `Europe/Berlin`. The first question loads the tables of all zones, so nobody asks it before it matters. */
export function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
