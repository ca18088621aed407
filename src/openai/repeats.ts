/**
 * Requests with an Idempotency-Key: the first one is answered, the same one again gets that answer, at whichever gateway it comes. A failure is
 * not kept. Answers are kept for a day.
 */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { Asking } from "../contracts/openai.ts";
import type { IdempotentAnswerStore, IdempotentKey } from "../contracts/store/idempotent-answers.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";

export interface RepeatDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly idempotentAnswers: IdempotentAnswerStore;
}

interface Repeats<T> {
  /**
   * Without a key: answered anew. A repeat waits with the first one, and takes its place when the first one hangs up. Throws `key_reused` for
   * another request.
   */
  once(asked: Keyed, run: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

type Keyed = Pick<Asking, "principal" | "idempotencyKey" | "digest">;

interface Running<T> {
  readonly digest: string;
  readonly answer: Promise<T>;
}

const KEPT_MS = 24 * 60 * 60_000;
/** Old answers are looked for after this many new ones. */
const PRUNE_EVERY = 200;
/** A repeat looks so often whether another gateway has answered. */
const LOOK_MS = 250;

/** `door`: the same key at two doors is two requests. What is answered has to be JSON. */
export function createRepeats<T>(deps: RepeatDeps, door: string): Repeats<T> {
  const { clock, log, idempotentAnswers: store } = deps;
  const running = new Map<string, Running<T>>();
  let made = 0;
  const prune = (): void => {
    if (made++ % PRUNE_EVERY === 0)
      background(log, "could not delete old answers", () => store.prune(clock.now() - KEPT_MS));
  };

  /** Null: it was answered already, or is being answered by nobody who lives. */
  const answeredElsewhere = async (
    row: IdempotentKey,
    digest: string,
    signal: AbortSignal,
  ): Promise<{ readonly answer: T } | null> => {
    for (;;) {
      const claim = await store.claim({ ...row, digest, at: clock.now() });
      if (claim.kind === "reused") throw new GatewayError("key_reused", "other content");
      if (claim.kind === "answered") return { answer: claim.answer as T }; // this door has kept it
      if (claim.kind === "mine") return null;
      await clock.sleep(LOOK_MS, signal);
    }
  };

  const answerFirst = async (row: IdempotentKey, digest: string, run: () => Promise<T>, signal: AbortSignal) => {
    const elsewhere = await answeredElsewhere(row, digest, signal);
    if (elsewhere) return elsewhere.answer;
    prune();
    try {
      const answer = await run();
      await store.keep(row, answer).catch((error: unknown) => log.error("answer to a key not kept", { error }));
      return answer;
    } catch (error) {
      await store.drop(row).catch((failed: unknown) => log.error("claim of a key not dropped", { error: failed }));
      throw error;
    }
  };

  return {
    async once({ principal, idempotencyKey, digest }, run, signal) {
      if (idempotencyKey === null) return run();
      const row = { principal, key: `${door} ${idempotencyKey}` };
      const name = `${principal} ${row.key}`;
      for (;;) {
        const before = running.get(name);
        if (!before) {
          const answer = answerFirst(row, digest, run, signal);
          running.set(name, { digest, answer });
          return await answer.finally(() => running.delete(name));
        }
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
