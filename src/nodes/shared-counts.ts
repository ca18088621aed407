/**
 * Rate limits that hold over all gateways together: each tells the others what it has counted, in one letter for all limits and every 50 ms at
 * most. Nothing waits for it and nothing is written for a gateway that is alone, so for a moment several gateways may count the same call as
 * the last one that is allowed.
 */
import type { CountSharing, NodeNews, OtherNodes } from "../contracts/nodes.ts";
import type { Clock } from "../kit/clock.ts";

interface SharedCountDeps {
  readonly clock: Clock;
  readonly nodes: Pick<OtherNodes, "list" | "tell" | "hear">;
}

export interface SharedCounts extends CountSharing, Disposable {}

const TELL_MS = 50;
/** Of one letter; what is beyond it is told by the next. */
const MAX_TOLD = 500;

type Counted = NodeNews["counted"][number];

export function createSharedCounts({ clock, nodes }: SharedCountDeps): SharedCounts {
  const closing = new AbortController();
  const untold = new Map<string, Counted>();
  let telling = false;

  /** Never rejects. */
  const tellLater = async (): Promise<void> => {
    telling = true;
    while (untold.size > 0 && !closing.signal.aborted) {
      await clock.sleep(TELL_MS, closing.signal).catch(() => undefined); // closing is the normal end
      const told = [...untold].slice(0, MAX_TOLD);
      for (const [key] of told) untold.delete(key);
      nodes.tell(
        "counted",
        told.map(([, counted]) => counted),
      );
    }
    telling = false;
  };

  return {
    of: (limit) => ({
      tell(name, of) {
        if (nodes.list().length === 0) return;
        const key = `${limit}\n${name}`;
        untold.set(key, { limit, name, of, count: (untold.get(key)?.count ?? 0) + 1 });
        if (!telling) void tellLater();
      },
      hear(listener) {
        nodes.hear("counted", (told) => {
          for (const { limit: which, name, count, of } of told) if (which === limit) listener(name, count, of);
        });
      },
    }),
    [Symbol.dispose]: () => closing.abort(new Error("the gateway stops")),
  };
}
