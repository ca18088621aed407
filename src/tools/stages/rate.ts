/** How often one person may call one tool: every call of the last while is remembered, so a limit holds for any stretch of time, not only from full minutes on. */
import type { Principal } from "../../contracts/ids.ts";
import type { ToolCallStore } from "../../contracts/store/tool-calls.ts";
import type { ToolLimit } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import { COUNTED_ALONE, type SharedCount } from "../../kit/shared-count.ts";

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

interface RateDeps {
  readonly clock: Clock;
  readonly store: Pick<ToolCallStore, "timesSince">;
  /** Absent: there are no other gateways. */
  readonly countedCalls?: SharedCount;
}

/** One person and one tool. */
interface Calls {
  /** Of the monotonic clock, oldest first. */
  readonly times: number[];
  /** The record was asked what was called before. */
  readonly recalled: boolean;
}

export function createRateLimits({ clock, store, countedCalls = COUNTED_ALONE }: RateDeps): RateLimits {
  const known = new Map<string, Calls>();
  const put = (key: string, calls: Calls): void => {
    known.delete(key); // to the end of the line
    known.set(key, calls);
    forgetOldest(known);
  };

  /** What this gateway and others counted before, on the clock of this one. A clock that was set back makes nothing younger than now. */
  const recall = async (who: Who, { perMs }: ToolLimit): Promise<number[]> => {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const times = await store.timesSince(who, now - perMs);
    return times.map((at) => elapsed - Math.max(0, now - at));
  };

  countedCalls.hear((key, count, perMs) => {
    const now = clock.elapsed();
    const { times = [], recalled = false } = known.get(key) ?? {};
    dropOld(times, now - perMs);
    for (let call = 0; call < count; call++) times.push(now);
    put(key, { times, recalled });
  });

  return {
    async take(who, limit) {
      const key = `${who.principal}\n${who.tool}`;
      if (limit.durable && !known.get(key)?.recalled) {
        const times = await recall(who, limit);
        if (!known.get(key)?.recalled) put(key, { times, recalled: true }); // another call of the same moment may have been faster
      }
      const now = clock.elapsed();
      const { times = [], recalled = false } = known.get(key) ?? {};
      dropOld(times, now - limit.perMs);
      put(key, { times, recalled });
      const blocking = times.at(-limit.calls);
      if (times.length >= limit.calls && blocking !== undefined)
        return { kind: "wait", retryAfterMs: Math.max(1, Math.ceil(blocking + limit.perMs - now)) };
      times.push(now);
      countedCalls.tell(key, limit.perMs);
      return { kind: "ok" };
    },
  };
}

function dropOld(times: number[], upTo: number): void {
  const young = times.findIndex((at) => at > upTo);
  times.splice(0, young < 0 ? times.length : young);
}

function forgetOldest(known: Map<string, unknown>): void {
  const oldest = known.size > MAX_REMEMBERED ? known.keys().next() : null;
  if (oldest && !oldest.done) known.delete(oldest.value);
}
