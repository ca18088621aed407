/** Joins the agent's small pieces of text, so that clients get a few updates a second less often than tokens arrive, the first one at once. */
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface DeltaStream {
  push(delta: string): void;
  /** Hands over what is held back. Call before anything that must come after the text. */
  flush(): void;
}

export function createDeltaStream(
  deps: { readonly clock: Clock; readonly log: Log },
  gapMs: number,
  show: (text: string) => void,
  signal: AbortSignal,
): DeltaStream {
  const { clock, log } = deps;
  let held = "";
  let shownAt = -Infinity;
  let waiting = false;

  const flush = (): void => {
    if (held === "") return;
    const text = held;
    held = "";
    shownAt = clock.elapsed();
    show(text);
  };

  const flushLater = async (ms: number): Promise<void> => {
    waiting = true;
    await clock.sleep(ms, signal).catch(() => undefined); // the turn is over: whoever ended it flushes
    waiting = false;
    if (!signal.aborted) flush();
  };

  return {
    push(delta) {
      held += delta;
      const dueInMs = shownAt + gapMs - clock.elapsed();
      if (dueInMs <= 0) flush();
      else if (!waiting) background(log, "text of an answer not shown", () => flushLater(dueInMs));
    },
    flush,
  };
}
