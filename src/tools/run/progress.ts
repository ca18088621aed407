/** Progress at a pace that everybody can take: the first report at once, then the newest of each while; nothing after the end. */
import type { ToolResult } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";

interface Progress extends Disposable {
  report(partial: ToolResult): void;
}

export const PROGRESS_EVERY_MS = 100;

export function createProgress(clock: Clock, tell: (partial: ToolResult) => void): Progress {
  const over = new AbortController();
  let pausing = false;
  let newest: ToolResult | null = null;

  const pause = async (): Promise<void> => {
    pausing = true;
    while (!over.signal.aborted) {
      await clock.sleep(PROGRESS_EVERY_MS, over.signal);
      if (newest === null) break;
      const said = newest;
      newest = null;
      tell(said);
    }
    pausing = false;
  };

  return {
    report(partial) {
      if (over.signal.aborted) return;
      if (pausing) {
        newest = partial;
        return;
      }
      tell(partial);
      void pause().catch(() => undefined); // the call is over: the last report is its result
    },
    [Symbol.dispose]: () => over.abort(new Error("the call is over")),
  };
}
