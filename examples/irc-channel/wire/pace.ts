/** Lines at the speed a server allows: some at once, then one after each pause. Faster would be cut off as a flood. */
import type { Clock } from "pi-gateway/plugin";

export interface Pace {
  /** Resolves when the next line may go. In order. */
  turn(signal: AbortSignal): Promise<void>;
}

export function createPace(clock: Clock, { burst, lineMs }: { readonly burst: number; readonly lineMs: number }): Pace {
  /** When everything that went would be paid for. */
  let paidAt = -Infinity;
  return {
    async turn(signal) {
      const now = clock.elapsed();
      paidAt = Math.max(paidAt, now) + lineMs;
      const waitMs = paidAt - now - burst * lineMs;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
  };
}
