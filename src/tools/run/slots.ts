/** How many tools run at once: so many per conversation, so many in all. Who finds no free slot waits for one, first come first served within a conversation. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { deferred, type Deferred } from "../../kit/deferred.ts";

export interface Slots {
  /** Null: no slot was free in time, or too many are waiting already. Rejects with the signal's reason. */
  take(session: SessionKey, wants: { readonly sequential: boolean }, signal: AbortSignal): Promise<Slot | null>;
  running(): number;
}

/** Disposing twice is disposing once. */
export interface Slot extends Disposable {
  readonly session: SessionKey;
}

interface SlotLimits {
  readonly maxPerSession: number;
  readonly maxTotal: number;
}

const MAX_WAITING_PER_SESSION = 256;
export const SLOT_WAIT_MS = 60_000;

interface Waiting {
  readonly session: SessionKey;
  readonly sequential: boolean;
  readonly slot: Deferred<Slot>;
}

interface Running {
  count: number;
  sequential: boolean;
}

export function createSlots(clock: Clock, limits: () => SlotLimits): Slots {
  const waiting: Waiting[] = [];
  const running = new Map<SessionKey, Running>();
  let total = 0;

  const fits = ({ session, sequential }: Pick<Waiting, "session" | "sequential">): boolean => {
    const { maxPerSession, maxTotal } = limits();
    const own = running.get(session) ?? { count: 0, sequential: false };
    return total < maxTotal && own.count < maxPerSession && !(sequential && own.sequential);
  };

  const occupy = ({ session, sequential }: Pick<Waiting, "session" | "sequential">): Slot => {
    const own = running.get(session) ?? { count: 0, sequential: false };
    running.set(session, { count: own.count + 1, sequential: own.sequential || sequential });
    total++;
    let held = true;
    return {
      session,
      [Symbol.dispose]() {
        if (!held) return;
        held = false;
        const now = running.get(session) ?? { count: 1, sequential: false };
        if (now.count <= 1) running.delete(session);
        else running.set(session, { count: now.count - 1, sequential: now.sequential && !sequential });
        total--;
        serve();
      },
    };
  };

  /** One that may not begin yet is passed over, by others of its conversation too: a sequential call does not hold up the rest. */
  const serve = (): void => {
    for (let at = 0; at < waiting.length && total < limits().maxTotal;) {
      const next = waiting[at];
      if (!next || !fits(next)) at++;
      else {
        waiting.splice(at, 1);
        next.slot.resolve(occupy(next));
      }
    }
  };

  return {
    running: () => total,
    async take(session, { sequential }, signal) {
      const asked = { session, sequential };
      const ahead = waiting.filter((one) => one.session === session);
      if (fits(asked) && !ahead.some((one) => one.sequential === sequential)) return occupy(asked);
      if (ahead.length >= MAX_WAITING_PER_SESSION) return null;
      const mine: Waiting = { ...asked, slot: deferred<Slot>() };
      waiting.push(mine);
      return waitFor(
        clock,
        mine,
        () => void (waiting.includes(mine) && waiting.splice(waiting.indexOf(mine), 1)),
        signal,
      );
    },
  };
}

async function waitFor(clock: Clock, mine: Waiting, leave: () => void, signal: AbortSignal): Promise<Slot | null> {
  using limit = clock.deadline(SLOT_WAIT_MS, () => new Error("no slot in time"));
  const gone = AbortSignal.any([signal, limit.signal]);
  const stop = (): void => {
    leave();
    mine.slot.reject(gone.reason);
  };
  if (gone.aborted) stop();
  gone.addEventListener("abort", stop, { once: true });
  try {
    return await mine.slot.promise;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  } finally {
    gone.removeEventListener("abort", stop);
  }
}
