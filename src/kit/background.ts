/** Work that nobody waits for. Its failure is logged: an unhandled rejection would count as a failure of the whole gateway. */
import type { Log } from "./log.ts";

/** Begins `work` and returns at once. Never throws: `message` says in the log what did not work, whether it threw or its promise failed. */
export function background(log: Pick<Log, "error">, message: string, work: () => unknown): void {
  /** Never rejects. */
  const run = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error(message, { error });
    }
  };
  void run();
}
