/** Work that nobody waits for. Its failure is told in the log: a promise that fails with nobody to handle it would be the whole gateway's affair. */
import type { Log } from "./log.ts";

/** Begins `work` and returns at once. Never throws: `words` say in the log what did not work, whether it threw or its promise failed. */
export function background(log: Pick<Log, "error">, words: string, work: () => unknown): void {
  /** Never rejects. */
  const run = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error(words, { error });
    }
  };
  void run();
}
