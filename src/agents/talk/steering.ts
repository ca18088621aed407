/**
 * A message on its way into a running prompt. pi's answer to `steer` says only that the message lies in its queue; it is part of the
 * conversation when pi begins it as a user message, between two calls of the model. That event, and nothing before it, counts as taken. What
 * still lies there when the run has ended would open the next prompt of this process, so it is cleared out before anybody else gets it.
 */
import type { PromptInput } from "../../contracts/agent.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../../kit/deferred.ts";
import type { Talk } from "../process/wire.ts";
import { inputFields } from "./prompt-fields.ts";

export type Steered = "taken" | "too_late";

export interface Steering {
  /** One at a time. Resolves when pi has begun the message, or cannot any more; never rejects. */
  steer(input: PromptInput): Promise<Steered>;
  /** pi has begun a message of the user. The first one of a run is the prompt itself; true for those that follow. */
  userSaid(): boolean;
  /** Resolves when pi has answered what was sent; only then does its queue hold still. */
  answered(): Promise<void>;
  /** The run is over: what was not taken is too late. */
  close(): void;
  /** After `close`: false when pi may still hold a message of this run. */
  emptied(): Promise<boolean>;
}

const CLEAR_MS = 5_000;
/** A template stands for a whole prompt, not for a word in between. */
const NO_TEMPLATES: ReadonlySet<string> = new Set();
const NEVER = new AbortController().signal;

/** `accepted` resolves when pi has taken the prompt; a message before that would come before it. */
export function createSteering(
  { clock }: { readonly clock: Clock },
  process: Pick<Talk, "request">,
  accepted: Promise<void>,
): Steering {
  const closed = deferred<void>();
  let over = false;
  let heard = 0;
  let pending: Deferred<Steered> | null = null;
  let request: Promise<boolean> = Promise.resolve(true);
  let leftBehind = false;

  const settle = (how: Steered): void => {
    pending?.resolve(how);
    pending = null;
  };

  const send = async (input: PromptInput): Promise<boolean> => {
    const answer = await process.request({ type: "steer", ...inputFields(input, NO_TEMPLATES) }, NEVER);
    return answer.ok;
  };

  return {
    async steer(input) {
      await Promise.race([accepted, closed.promise]);
      if (over || pending) return "too_late";
      const mine = deferred<Steered>();
      pending = mine;
      request = send(input).catch(() => false); // the process has ended, and the run with it
      if (!(await request) && pending === mine) settle("too_late");
      return mine.promise;
    },
    userSaid() {
      if (++heard === 1) return false;
      settle("taken");
      return true;
    },
    answered: async () => void (await request),
    close() {
      over = true;
      leftBehind = pending !== null;
      settle("too_late");
      closed.resolve();
    },
    async emptied() {
      if (!leftBehind) return true;
      using limit = clock.deadline(CLEAR_MS, () => new Error("pi did not say what its queue holds"));
      try {
        await orAborted(request, limit.signal);
        return (await process.request({ type: "clear_queue" }, limit.signal)).ok;
      } catch {
        return false; // the process has ended, or says nothing: nobody may use it again
      }
    },
  };
}
