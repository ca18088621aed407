/**
 * Failures inside the gateway that nobody handled. A promise that failed stops its own work only: it is told and counted, and the gateway goes on.
 * An error that nobody caught may have stopped a part in the middle of a change: the gateway stops in order, and its supervisor starts it anew.
 */
import { GatewayError } from "./contracts/errors.ts";
import { deferred } from "./kit/deferred.ts";
import type { Log } from "./kit/log.ts";

export interface StrayFailures {
  /** False: the process is to end as it would have without anybody listening. */
  take(error: unknown, how: "rejection" | "exception"): boolean;
  /** Resolves with the first error that nobody caught: stop, and end the process. */
  readonly failed: Promise<GatewayError>;
  notices(): readonly string[];
}

export function createStrayFailures({ log }: { readonly log: Log }): StrayFailures {
  const failed = deferred<GatewayError>();
  let rejections = 0;
  let ending = false;
  return {
    failed: failed.promise,
    take(error, how) {
      if (how === "rejection") {
        rejections++;
        log.error("a promise failed and nobody handled it; the gateway goes on", { count: rejections, error });
        return true;
      }
      log.error("an error was caught by nobody; the gateway stops", { error });
      if (ending) return false; // the stop does not work either
      ending = true;
      failed.resolve(new GatewayError("internal", "an error was caught by nobody", { cause: error }));
      return true;
    },
    notices() {
      if (rejections === 0) return [];
      const times = rejections === 1 ? "once" : `${rejections} times`;
      return [
        `Something inside the gateway failed ${times} since its start, and nobody handled it; pi-gw logs shows what. Restart the gateway when something no longer answers.`,
      ];
    },
  };
}
