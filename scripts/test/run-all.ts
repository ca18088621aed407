/**
 * Runs all batches, some at a time; those that are to be alone come first, one by one. One whose process stopped answering is run once more. Files in which a few tests failed are run once more
 * when nothing else runs: a test that fails again has failed, one that passes is named as unsteady.
 */
import type { Batch } from "./batches.ts";
import type { BatchResult } from "./run-batch.ts";
import { failedForTimeAlone, failuresIn, type Totals } from "./totals.ts";

/** More than these are no accident, and nothing is run again. */
const MAX_UNSTEADY_TESTS = 3;

export interface RunAllOptions {
  readonly atOnce: number;
  run(batch: Batch): Promise<BatchResult>;
  report(batch: Batch, result: BatchResult): void;
}

export interface RunAllResult {
  readonly results: readonly BatchResult[];
  /** The names of those that were run again because their process stopped answering. */
  readonly again: readonly string[];
  /** The tests that failed beside others and passed alone, with their files. */
  readonly unsteady: readonly string[];
}

interface Ran {
  readonly batch: Batch;
  readonly result: BatchResult;
}

export async function runAll(batches: readonly Batch[], options: RunAllOptions): Promise<RunAllResult> {
  const { atOnce, run, report } = options;
  const ran: Ran[] = [];
  const again: string[] = [];
  const work = async (waiting: Batch[]): Promise<void> => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      let result = await run(batch);
      report(batch, result);
      if (result.stuck && failedForTimeAlone(Bun.stripANSI(result.said))) {
        again.push(batch.name);
        result = await run(batch);
        report(batch, result);
      }
      ran.push({ batch, result });
    }
  };
  await work(batches.filter(({ alone }) => alone));
  const others = batches.filter(({ alone }) => !alone);
  await Promise.all(Array.from({ length: atOnce }, () => work(others)));
  return { again, ...(await runFailedAlone(ran, options)) };
}

async function runFailedAlone(
  ran: readonly Ran[],
  { run, report }: RunAllOptions,
): Promise<Pick<RunAllResult, "results" | "unsteady">> {
  const failed = ran.reduce((sum, { result }) => sum + result.totals.failed, 0);
  const results: BatchResult[] = [];
  const unsteady: string[] = [];
  for (const { batch, result } of ran) {
    if (result.totals.failed === 0 || result.stuck || failed > MAX_UNSTEADY_TESTS) {
      results.push(result);
      continue;
    }
    const failures = failuresIn(Bun.stripANSI(result.said));
    const named = batch.files.filter((file) => failures.some((one) => one.file === file));
    const alone = { name: `alone: ${batch.name}`, files: named.length > 0 ? named : batch.files, alone: true };
    const second = await run(alone);
    report(alone, second);
    const steady = second.stuck || second.totals.failed > 0;
    if (!steady) unsteady.push(...describe(batch, failures));
    results.push(steady ? result : { ...result, totals: allPassed(result.totals) });
  }
  return { results, unsteady };
}

function describe(batch: Batch, failures: ReturnType<typeof failuresIn>): readonly string[] {
  if (failures.length === 0) return [`${batch.name}: the process ended badly, and no test says why`];
  return failures.map(({ file, test }) => `${file}: ${test}`);
}

function allPassed({ passed, failed, skipped }: Totals): Totals {
  return { passed: passed + failed, failed: 0, skipped };
}
