/** Many touches become one call, some time after the last of them. */
import type { Clock } from "./clock.ts";

/** Every touch begins the wait anew; after `stopping` nothing is called any more. `act` must not throw. */
export function debounced(clock: Clock, quietMs: number, act: () => void, stopping: AbortSignal): () => void {
  let waiting = new AbortController();
  return () => {
    waiting.abort(new Error("changed again"));
    waiting = new AbortController();
    const { signal } = waiting;
    clock.sleep(quietMs, AbortSignal.any([signal, stopping])).then(
      () => (signal.aborted || stopping.aborted ? undefined : act()),
      () => undefined, // a later change, or the end, took over
    );
  };
}
