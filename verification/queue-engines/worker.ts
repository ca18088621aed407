/** One worker process: claims jobs, works on each for some milliseconds, and writes down what it began and ended before it says so to the engine. It ends with its input. */
import { appendFileSync } from "node:fs";
import { openBossJobs } from "./boss-jobs.ts";
import type { EngineName, EngineOptions, JobEngine } from "./job-engine.ts";
import type { RunLine } from "./judge.ts";
import { openOwnClaims } from "./own-claims.ts";

export interface WorkerOrder {
  readonly engine: EngineName;
  readonly url: string;
  readonly bossFolder: string;
  /** Where it writes what it did. */
  readonly file: string;
  readonly slots: number;
  /** How long a job takes, in milliseconds, at least and at most. */
  readonly takes: readonly [number, number];
  /** Jobs of this key that can never be done: their numbers. */
  readonly poisoned: { readonly key: string; readonly number: number } | null;
}

const LOOK_MS = 500;

export function openEngine(
  order: Pick<WorkerOrder, "engine" | "bossFolder">,
  options: EngineOptions,
): Promise<JobEngine> {
  return order.engine === "own claims" ? openOwnClaims(options) : openBossJobs(order.bossFolder, options);
}

async function work(order: WorkerOrder): Promise<void> {
  let wake = (): void => undefined;
  const engine = await openEngine(order, { url: order.url, isWorker: true, wake: () => wake() });
  let running = 0;
  const note = (line: Omit<RunLine, "at" | "worker">): void =>
    appendFileSync(
      order.file,
      `${JSON.stringify({ ...line, worker: process.pid, at: performance.timeOrigin + performance.now() })}\n`,
    );
  const run = async (job: Awaited<ReturnType<JobEngine["claim"]>>[number]): Promise<void> => {
    const { key, number } = job;
    note({ kind: "began", key, number });
    const [least, most] = order.takes;
    await Bun.sleep(least + Math.random() * (most - least));
    const isPoisoned = order.poisoned?.key === key && order.poisoned.number === number;
    note({ kind: "ended", key, number });
    if (isPoisoned) await job.fail();
    else if (await job.complete()) note({ kind: "counted", key, number });
    else note({ kind: "refused", key, number });
    running--;
    wake();
  };
  setInterval(() => void engine.beat().catch((error: unknown) => console.error(String(error))), engine.heartbeatMs);
  console.log("ready");
  for (;;) {
    const next = new Promise<void>((resolve) => (wake = resolve));
    const free = order.slots - running;
    const jobs = free > 0 ? await engine.claim(free) : [];
    running += jobs.length;
    for (const job of jobs) void run(job).catch((error: unknown) => console.error(String(error)));
    if (jobs.length < free || free <= 0) await Promise.race([next, Bun.sleep(LOOK_MS)]);
  }
}

if (import.meta.main) {
  process.stdin.on("end", () => process.exit(0)).resume();
  await work(JSON.parse(process.argv[2] ?? "") as WorkerOrder);
}
