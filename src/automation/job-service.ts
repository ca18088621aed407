/**
 * Jobs as one service: those of the configuration file are taken over, people's are made and changed by the rules, and an engine runs while
 * `cron.enabled` says so. At most one engine runs, whatever the order of reloads and stop.
 */
import type { Config } from "../config/index.ts";
import type { JobStore } from "../contracts/automation/job.ts";
import type { RunOutcome } from "./runs/run-start.ts";
import type { Jobs } from "../contracts/automation/jobs.ts";
import type { AgentId, TurnId } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { applyConfigJobs, type ConfigJob } from "./config-jobs.ts";
import { type Engine, type EngineDeps, startEngine } from "./engine.ts";
import { createJobs, type JobsDeps } from "./jobs.ts";
import type { Starter } from "./runs/starter.ts";
import type { Times } from "./times/times.ts";

interface JobServiceDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: JobStore;
  readonly times: Times;
  readonly config: () => Pick<Config, "cron">;
  /** Checks of a job that is made or changed. */
  readonly rules: Pick<JobsDeps, "changed" | "isAgent" | "limits" | "missing" | "people">;
  /** Receivers of the results of runs. */
  readonly reports: Pick<EngineDeps, "told" | "tellOwner" | "pruneSessions">;
  /** Opens what puts runs into the inbox; `ended` is called when one is over. */
  openStarter(ended: (runId: string, outcome: RunOutcome, turnId: TurnId | null) => Promise<void>): Starter;
}

export interface JobService extends AsyncDisposable {
  readonly jobs: Jobs;
  /** Jobs of the file, and whether jobs run, become what this configuration says. After a stop nothing is started. */
  apply(config: Pick<Config, "cron">): Promise<void>;
  /** Begins runs again that came from a gateway that is gone; while jobs are off they wait, as they do after a start. */
  adopt(runIds: readonly string[]): Promise<void>;
  /** Settings that are asked for have changed: look again. */
  poke(): void;
  /** Sentences about jobs of the file that could not be taken over. */
  notices(): readonly string[];
}

interface Running extends AsyncDisposable {
  readonly engine: Engine;
}

export function createJobService(deps: JobServiceDeps): JobService {
  let running: Running | null = null;
  let notices: readonly string[] = [];
  let stopped = false;
  const poke = (): void => running?.engine.poke();
  const jobs = createJobs({
    ...deps.rules,
    clock: deps.clock,
    ids: deps.ids,
    store: deps.store,
    times: deps.times,
    engine: { poke, runNow: async (id, at) => (await running?.engine.runNow(id, at)) ?? null },
    isOn: () => deps.config().cron.enabled,
  });
  const end = async (): Promise<void> => {
    const old = running;
    running = null;
    await old?.[Symbol.asyncDispose]();
  };
  return {
    jobs,
    poke,
    adopt: async (runIds) => running?.engine.adopt(runIds),
    notices: () => notices,
    async apply({ cron }) {
      notices = await applyConfigJobs(deps, cron.jobs.map(jobOfFile));
      for (const notice of notices) deps.log.warn("job of the configuration left out", { because: notice });
      poke();
      if (!cron.enabled) return end();
      if (!stopped) running ??= begin(deps);
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      await end();
    },
  };
}

function begin(deps: JobServiceDeps): Running {
  let current: Engine | null = null; // runs may end before the engine is there to hear it; it finds them by itself
  const starter = deps.openStarter(async (...end) => current?.ended(...end));
  const { clock, ids, log, store, times, reports } = deps;
  const engine = startEngine({ ...reports, clock, ids, log, store, times, starter });
  current = engine;
  return {
    engine,
    async [Symbol.asyncDispose]() {
      current = null;
      await engine[Symbol.asyncDispose]();
      await starter[Symbol.asyncDispose]();
    },
  };
}

function jobOfFile({ agentId, ...job }: Config["cron"]["jobs"][number]): ConfigJob {
  return { ...job, ...(agentId === undefined ? {} : { agentId: agentId as AgentId }) };
}
