/**
 * Messages of one session that arrived at this gateway, on their way to the home of the session: one after the other, in the order in which they
 * came, however long finding it takes. Those of other sessions do not wait for them.
 */
import type { SessionKey } from "../contracts/ids.ts";
import { deferred, orAborted } from "../kit/deferred.ts";

interface Arrivals {
  /** Begins when all before it are placed; `placed` says that the next may follow. Rejects with the reason of the signal when its turn does not come before. */
  inOrder<T>(key: SessionKey, place: (placed: () => void) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createArrivals(): Arrivals {
  /** Of each session, until the last one is placed. */
  const last = new Map<SessionKey, Promise<unknown>>();
  /** Never rejects. */
  const forgetAfter = async (key: SessionKey, placed: Promise<unknown>): Promise<void> => {
    await placed;
    if (last.get(key) === placed) last.delete(key);
  };
  return {
    async inOrder(key, place, signal) {
      const before = last.get(key);
      const mine = deferred<void>();
      const placed = Promise.all([before, mine.promise]); // one that gave up does not let the next pass those before it
      last.set(key, placed);
      void forgetAfter(key, placed);
      try {
        if (before) await orAborted(before, signal);
        return await place(mine.resolve);
      } finally {
        mine.resolve();
      }
    },
  };
}
