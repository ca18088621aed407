/** Requests with an Idempotency-Key: the first one is answered, the same one again gets that answer. In memory; a failure is not kept. */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";

const MAX_KEPT = 1_000;

interface Kept<T> {
  readonly digest: string;
  readonly answer: Promise<T>;
}

interface Repeats<T> {
  /**
   * `key` null: answered anew. A repeat waits with the first one, and takes its place when the first one hangs up. Throws `key_reused` for
   * another request.
   */
  once(key: string | null, digest: string, run: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createRepeats<T>(): Repeats<T> {
  const kept = new Map<string, Kept<T>>();
  const answerFirst = async (key: string, digest: string, run: () => Promise<T>): Promise<T> => {
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
  };
  return {
    async once(key, digest, run, signal) {
      if (key === null) return run();
      for (;;) {
        const before = kept.get(key);
        if (!before) return answerFirst(key, digest, run);
        if (before.digest !== digest) throw new GatewayError("key_reused", "other content");
        try {
          return await orAborted(before.answer, signal);
        } catch (error) {
          if (signal.aborted || isGatewayError(error)) throw error; // else the first one hung up
        }
      }
    },
  };
}
