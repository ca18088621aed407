/** Requests with an Idempotency-Key: the first one is answered, the same one again gets that answer. In memory; a failure is not kept. */
import { GatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";

const MAX_KEPT = 1_000;

interface Kept<T> {
  readonly digest: string;
  readonly answer: Promise<T>;
}

interface Repeats<T> {
  /** `key` null: answered anew. A repeat stops waiting with its own signal; what runs goes on. Throws `key_reused` for another request. */
  once(key: string | null, digest: string, run: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createRepeats<T>(): Repeats<T> {
  const kept = new Map<string, Kept<T>>();
  return {
    async once(key, digest, run, signal) {
      if (key === null) return run();
      const before = kept.get(key);
      if (before && before.digest !== digest) throw new GatewayError("key_reused", "other content");
      if (before) return orAborted(before.answer, signal);
      const answer = run();
      kept.set(key, { digest, answer });
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_KEPT) break;
        kept.delete(oldest);
      }
      try {
        return await answer;
      } catch (error) {
        kept.delete(key);
        throw error;
      }
    },
  };
}
