/** Work that has to be done, tried again after a growing pause: for a store or a platform that has trouble for a while. */
import type { Clock } from "./clock.ts";

interface Retrying {
  readonly clock: Pick<Clock, "sleep">;
  /** Told of each failure, so that somebody can see what it waits for. */
  failed(error: unknown, nextTryInMs: number): void;
}

const FIRST_PAUSE_MS = 1_000;
/** It costs the store little to be asked, and whoever waits goes on soon after it works again. */
const MAX_PAUSE_MS = 5_000;

/** What `run` resolves with, as soon as it does; null when the signal aborts first. Never rejects. */
export async function untilDone<T>(
  { clock, failed }: Retrying,
  run: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) return null;
      failed(error, pauseMs);
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined); // the abort is the normal end
  }
  return null;
}
