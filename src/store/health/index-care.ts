/** Looks after the full-text indexes while the store is open: makes a damaged one anew, fills it again, and tells the owner until it is whole. */
import { GatewayError } from "../../contracts/errors.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { TextIndex } from "./text-indexes.ts";

/** A disk that damages an index over and over is not mended by making it anew. */
const MAX_REPAIRS = 3;
const BETWEEN_MS = 20;
const SAY =
  "The index for search is being made anew, after damage or a move. Messages are stored; older ones are found again soon.";

const SAY_ASIDE =
  "A damaged index for search is left in the database file, and no backup can be made of it. Restart the gateway: the start removes it.";

interface IndexRepair {
  /** Those that are damaged. */
  find(): readonly TextIndex[];
  reset(indexes: readonly TextIndex[]): void;
  /** A damaged one is still in the file: it is removed when the file is opened the next time. */
  isAside(): boolean;
}

export interface IndexCare extends Disposable {
  /** After an error of the database that means damage. True: it was in an index, which is new now, and what failed may be tried again. */
  repair(error: unknown): boolean;
  /** Fills what is to be filled, with a step that says whether there is more. */
  start(fill: () => Promise<boolean>): void;
  notices(): readonly string[];
}

export function createIndexCare(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  index: IndexRepair,
): IndexCare {
  const closing = new AbortController();
  let repairs = 0;
  let isFilling = false;
  let isBehind = false;
  let step: (() => Promise<boolean>) | null = null;

  const fill = async (): Promise<void> => {
    if (step === null || isFilling) return;
    isFilling = true;
    try {
      while (await step()) {
        isBehind = true;
        await clock.sleep(BETWEEN_MS, closing.signal);
      }
      if (isBehind) log.info("full-text index is full again");
      isBehind = false;
    } catch (error) {
      if (!closing.signal.aborted && !(error instanceof GatewayError && error.code === "stopping")) throw error;
    } finally {
      isFilling = false;
    }
  };
  const fillInBackground = () => background(log, "full-text index could not be filled again", fill);

  return {
    repair(error) {
      if (repairs === MAX_REPAIRS || closing.signal.aborted) return false;
      const damaged = index.find();
      if (damaged.length === 0) return false;
      repairs++;
      log.error("full-text index is damaged and is made anew", { indexes: damaged, error });
      index.reset(damaged);
      isBehind = true;
      fillInBackground();
      return true;
    },
    start(fillSome) {
      step = fillSome;
      fillInBackground();
    },
    notices: () => [...(isBehind ? [SAY] : []), ...(repairs > 0 && index.isAside() ? [SAY_ASIDE] : [])],
    [Symbol.dispose]: () => closing.abort(new Error("the store is closing")),
  };
}
