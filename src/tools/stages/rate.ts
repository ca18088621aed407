/** How often one person may call one tool: every call of the last while is remembered, so a limit holds for any stretch of time, not only from full minutes on. */
import type { Principal } from "../../contracts/ids.ts";
import type { ToolCallStore } from "../../contracts/store/tool-calls.ts";
import type { ToolLimit } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";

export interface RateLimits {
  /** Counts the call; or says after how long the next one may come, and counts nothing. */
  take(who: Who, limit: ToolLimit): Promise<Taken>;
}

interface Who {
  readonly principal: Principal;
  readonly tool: string;
}

type Taken = { readonly kind: "ok" } | { readonly kind: "wait"; readonly retryAfterMs: number };

/** Who called longest ago is forgotten first; with durable limits that costs one more look into the record. */
const MAX_REMEMBERED = 10_000;

export function createRateLimits({
  clock,
  store,
}: {
  readonly clock: Clock;
  readonly store: Pick<ToolCallStore, "timesSince">;
}): RateLimits {
  const calls = new Map<string, number[]>(); // times of the monotonic clock, oldest first

  /** What a previous process counted, on the clock of this one. A clock that was set back makes nothing younger than now. */
  const recall = async (who: Who, { perMs }: ToolLimit): Promise<number[]> => {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const times = await store.timesSince(who, now - perMs);
    return times.map((at) => elapsed - Math.max(0, now - at));
  };

  return {
    async take(who, limit) {
      const key = `${who.principal}\n${who.tool}`;
      if (!calls.has(key) && limit.durable) {
        const earlier = await recall(who, limit);
        if (!calls.has(key)) calls.set(key, earlier); // another call of the same moment may have been faster
      }
      const now = clock.elapsed();
      const known = calls.get(key) ?? [];
      const young = known.findIndex((at) => at > now - limit.perMs);
      known.splice(0, young < 0 ? known.length : young);
      calls.delete(key); // to the end of the line
      calls.set(key, known);
      forgetOldest(calls);
      const blocking = known.at(-limit.calls);
      if (known.length >= limit.calls && blocking !== undefined)
        return { kind: "wait", retryAfterMs: Math.max(1, Math.ceil(blocking + limit.perMs - now)) };
      known.push(now);
      return { kind: "ok" };
    },
  };
}

function forgetOldest(calls: Map<string, number[]>): void {
  const oldest = calls.size > MAX_REMEMBERED ? calls.keys().next() : null;
  if (oldest && !oldest.done) calls.delete(oldest.value);
}
