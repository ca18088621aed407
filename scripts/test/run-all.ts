/** Runs all batches, some at a time. One whose process stopped answering is run once more; a test that failed is not. */
import type { Batch } from "./batches.ts";
import type { BatchResult } from "./run-batch.ts";
import { failedForTimeAlone } from "./totals.ts";

export interface RunAllOptions {
  readonly atOnce: number;
  run(batch: Batch): Promise<BatchResult>;
  report(batch: Batch, result: BatchResult): void;
}

export interface RunAllResult {
  readonly results: readonly BatchResult[];
  /** The names of those that were run again. */
  readonly again: readonly string[];
}

export async function runAll(batches: readonly Batch[], { atOnce, run, report }: RunAllOptions): Promise<RunAllResult> {
  const waiting = [...batches];
  const results: BatchResult[] = [];
  const again: string[] = [];
  const work = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      let result = await run(batch);
      report(batch, result);
      if (result.stuck && failedForTimeAlone(Bun.stripANSI(result.said))) {
        again.push(batch.name);
        result = await run(batch);
        report(batch, result);
      }
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { results, again };
}
