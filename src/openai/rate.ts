/** How many requests one person may make in a minute: counted in windows, in memory. */
import { GatewayError } from "../contracts/errors.ts";
import type { Principal } from "../contracts/ids.ts";
import type { RateState } from "../contracts/openai.ts";
import type { Clock } from "../kit/clock.ts";
import { COUNTED_ALONE, type SharedCount } from "../kit/shared-count.ts";

const MAX_PER_WINDOW = 600;
const WINDOW_MS = 60_000;

interface Window {
  readonly endsAt: number;
  count: number;
}

/** Throws GatewayError `rate_limited` with the time until the next window. */
export function createRate({
  clock,
  counted = COUNTED_ALONE,
}: {
  readonly clock: Clock;
  readonly counted?: SharedCount | undefined;
}): (principal: Principal) => RateState {
  const windows = new Map<Principal, Window>();
  counted.hear((name, count) => {
    currentWindow(windows, name as Principal, clock.elapsed()).count += count;
  });
  return (principal) => {
    const now = clock.elapsed();
    const window = currentWindow(windows, principal, now);
    const resetMs = window.endsAt - now;
    if (window.count >= MAX_PER_WINDOW) {
      const fields = { retryAfterMs: resetMs, limit: MAX_PER_WINDOW };
      throw new GatewayError("rate_limited", "too many completions", {
        say: `More than ${MAX_PER_WINDOW} requests in a minute. Try again in a moment.`,
        fields,
      });
    }
    window.count++;
    counted.tell(principal, WINDOW_MS);
    return { limit: MAX_PER_WINDOW, remaining: MAX_PER_WINDOW - window.count, resetMs };
  };
}

function currentWindow(windows: Map<Principal, Window>, principal: Principal, now: number): Window {
  const known = windows.get(principal);
  if (known && known.endsAt > now) return known;
  for (const [who, { endsAt }] of windows) if (endsAt <= now) windows.delete(who);
  const begun = { endsAt: now + WINDOW_MS, count: 0 };
  windows.set(principal, begun);
  return begun;
}
