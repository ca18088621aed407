/** Automation without jobs, for parts that only have to be given one. */
import type { JobsApi } from "../../contracts/automation/jobs.ts";

export function noJobs(): JobsApi {
  const unknown = async (id: string) =>
    ({ kind: "refused", code: "job_unknown", say: `There is no job called ${id}.` }) as const;
  return {
    add: async () => ({ kind: "refused", code: "bad_job", say: "There are no jobs here." }),
    update: unknown,
    remove: unknown,
    pause: unknown,
    resume: unknown,
    run: unknown,
    get: async () => null,
    list: async () => ({ items: [] }),
    runs: async () => null,
    wake: async () => ({ kind: "refused", say: "Nobody sleeps here." }),
    status: async () => ({ enabled: true, nextAt: null, running: 0 }),
  };
}
