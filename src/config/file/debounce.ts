/** Many touches become one call, some time after the last of them. Knows nothing about files. */
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";

/** Editors write in several steps; this long without another one counts as done. */
const DEBOUNCE_MS = 200;

export interface WatchDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Every touch begins the wait anew. */
export function createDebounce({ clock, log }: WatchDeps, onChange: () => void, stopping: AbortSignal): () => void {
  let waiting = new AbortController();
  const fire = () => {
    try {
      onChange();
    } catch (error) {
      log.error("configuration change could not be handled", { error });
    }
  };
  return () => {
    waiting.abort(new Error("changed again"));
    waiting = new AbortController();
    const { signal } = waiting;
    clock.sleep(DEBOUNCE_MS, AbortSignal.any([signal, stopping])).then(
      () => (signal.aborted || stopping.aborted ? undefined : fire()),
      () => undefined, // a later change, or the end, took over
    );
  };
}
