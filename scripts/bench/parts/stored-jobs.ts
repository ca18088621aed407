/** Fills a home with jobs, through the store's own doors: what a gateway finds that many people have given their jobs to. */
import type { JobFire } from "../../../src/contracts/automation/job.ts";
import type { AgentId, Principal } from "../../../src/contracts/ids.ts";
import { createJobs, createTimes } from "../../../src/automation/index.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { systemIds } from "../../../src/kit/ids.ts";
import { silentLog } from "../../../src/kit/log.ts";
import { openStore } from "../../../src/store/index.ts";
import { noJobRules } from "../../../src/testing/automation/quiet-jobs.ts";
import { storeUrlOf } from "../../../src/testing/postgres/home-database.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const RUNS_EACH = 20;
const LONG_AGO_MS = 14 * 86_400_000;

/** Every one for a person of its own: there is a limit for each. None is due in the next months; all have runs behind them that are kept. */
export async function storeJobs(home: string, count: number): Promise<void> {
  await using store = await openStore(DEPS, { home, url: await storeUrlOf(home) });
  const engine = { poke: () => undefined, runNow: async () => null };
  const jobs = createJobs({
    ...noJobRules(DEPS.clock),
    ...DEPS,
    store: store.jobs,
    times: createTimes(() => "UTC"),
    engine,
  });
  const owner = { role: "owner", source: "person", to: null, sessionKey: null, agentId: "default" as AgentId } as const;
  const month = 1 + ((new Date(systemClock.now()).getUTCMonth() + 6) % 12);
  const longAgo = systemClock.now() - LONG_AGO_MS;
  const make = async (n: number): Promise<JobFire> => {
    const schedule = { kind: "cron", expr: `${n % 60} ${n % 24} ${1 + (n % 28)} ${month} *`, timezone: "UTC" } as const;
    const maker = { ...owner, principal: `load:user:${n}` as Principal };
    const made = await jobs.add({ id: `year-${n}`, schedule, task: `job ${n}`, delivery: "silent" }, maker);
    if (made.kind !== "ok") throw new Error(made.say);
    const { id: jobId, revision: seenRevision, nextAt, state } = made.job;
    const rows = Array.from({ length: RUNS_EACH }, (_, run) => ({
      ...({ id: `run-${n}-${run}`, slot: longAgo - run * 60_000, status: "missed", reason: null } as const),
    }));
    return { jobId, seenRevision, seenNextAt: nextAt ?? 0, nextAt, state, rows, at: longAgo };
  };
  for (let from = 0; from < count; from += 500)
    await store.jobs.fire(
      await Promise.all(Array.from({ length: Math.min(500, count - from) }, (_, at) => make(from + at))),
    );
}
