/**
 * Keeps the full-text index a little behind what is stored: many messages at a time, so that none of them waits for it when it is stored. Only a
 * search waits until the index has caught up.
 */
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { MessageIndex } from "../rows/row-deps.ts";

export const BEHIND_MS = 500;
/** After a go that failed: the disk is full, for example. */
export const RETRY_MS = 10_000;
/** Between two goes, for others who write. */
const BETWEEN_MS = 20;
/** Goes that a search waits for. What is left then is put in in the background. */
export const MAX_GOES = 20;

interface FollowerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Puts some of what is missing into the index. True: there is more. */
  fillSome(): Promise<boolean>;
}

interface IndexFollower extends Disposable, MessageIndex {}

export function createIndexFollower({ clock, log, fillSome }: FollowerDeps): IndexFollower {
  const closing = new AbortController();
  let isWaiting = false;
  let isFilling = false;
  let hasFailed = false;

  const follow = async (): Promise<void> => {
    isWaiting = false; // what is stored from now on may be too late for this go
    if (isFilling) return; // a large rest: it goes on until nothing is left
    isFilling = true;
    try {
      while (await fillSome()) await clock.sleep(BETWEEN_MS, closing.signal);
      hasFailed = false;
    } finally {
      isFilling = false;
    }
  };
  const failed = (error: unknown): void => {
    if (!hasFailed) log.warn("new messages could not be put into the full-text index yet", { error });
    hasFailed = true;
    followIn(RETRY_MS);
  };
  const followIn = (ms: number): void => {
    if (isWaiting || closing.signal.aborted) return;
    isWaiting = true;
    clock.sleep(ms, closing.signal).then(
      () => void follow().catch((error: unknown) => closing.signal.aborted || failed(error)),
      () => undefined, // the store is closing
    );
  };

  return {
    followSoon: () => followIn(BEHIND_MS),
    async catchUp() {
      try {
        for (let goes = 0; goes < MAX_GOES; goes++) if (!(await fillSome())) return;
      } catch (error) {
        if (!closing.signal.aborted) failed(error); // a full disk takes nothing in, and what is in the index is found all the same
      }
    },
    [Symbol.dispose]: () => closing.abort(new Error("the store is closing")),
  };
}
