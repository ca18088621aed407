/** The last response of each connection, for whoever goes on from it there. What one person's connections remember together has a limit. */
import type { Principal } from "../../contracts/ids.ts";
import type { SaidItems } from "../../contracts/responses.ts";

const MAX_CHARS_EACH = 32 * 1024 * 1024;

export interface Remembered {
  /** For one connection of this person; `over`: it is closed. */
  open(principal: Principal, over: AbortSignal): LastResponse;
}

interface LastResponse {
  now(): LastSaid | null;
  /** Instead of what was there. What does not fit any more is forgotten. */
  set(last: LastSaid | null): void;
}

interface LastSaid {
  readonly id: string;
  readonly said: SaidItems;
}

export function createRemembered(): Remembered {
  const held = new Map<Principal, number>();
  const count = (principal: Principal, chars: number): void => {
    const now = (held.get(principal) ?? 0) + chars;
    if (now === 0) held.delete(principal);
    else held.set(principal, now);
  };
  return {
    open(principal, over) {
      let last: LastSaid | null = null;
      let own = 0;
      const set = (next: LastSaid | null): void => {
        count(principal, -own);
        own = next === null ? 0 : JSON.stringify(next.said).length;
        const fits = (held.get(principal) ?? 0) + own <= MAX_CHARS_EACH && !over.aborted;
        if (!fits) own = 0;
        last = fits ? next : null;
        count(principal, own);
      };
      over.addEventListener("abort", () => set(null), { once: true });
      return { now: () => last, set };
    },
  };
}
