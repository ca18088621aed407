/** Takes old tool calls out of the record, a few at a time, so that nobody waits for it. */
import type { ToolCallStore } from "../contracts/store/tool-calls.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

const LOOK_EVERY_MS = 6 * 60 * 60_000;
/** After a start there is more important work. */
const FIRST_LOOK_MS = 60_000;
const BETWEEN_MS = 50;
const DAY_MS = 24 * 60 * 60_000;

export function startRetention(
  deps: { readonly clock: Clock; readonly log: Log; readonly store: Pick<ToolCallStore, "prune"> },
  keepDays: () => number,
): AsyncDisposable {
  const stopping = new AbortController();
  const working = look(deps, keepDays, stopping.signal).catch(() => undefined); // rejects only because it was told to stop
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("stopping"));
      await working;
    },
  };
}

async function look(
  { clock, log, store }: Parameters<typeof startRetention>[0],
  keepDays: () => number,
  signal: AbortSignal,
): Promise<void> {
  await clock.sleep(FIRST_LOOK_MS, signal);
  for (;;) {
    const days = keepDays();
    let gone = 0;
    for (let some = days === 0 ? 0 : 1; some > 0;) {
      some = await store.prune(clock.now() - days * DAY_MS).catch((error: unknown) => {
        log.warn("old tool calls could not be taken away", { error });
        return 0;
      });
      gone += some;
      await clock.sleep(BETWEEN_MS, signal);
    }
    if (gone > 0) log.info("old tool calls taken away", { calls: gone, keepDays: days });
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
