/** Automation without jobs, for parts that only have to be given one. */
import type { WebhookAdmin } from "../../contracts/automation/webhook.ts";
import type { JobsApi, LookAhead } from "../../contracts/automation/jobs.ts";

export const noLookAhead: LookAhead = {
  preview: () => ({ kind: "refused", code: "bad_schedule", say: "That is no schedule." }),
  calendar: async () => ({ days: [], frequent: [], isPartial: false }),
};

export const noWebhooks: WebhookAdmin = {
  list: () => ({ enabled: false, incoming: [], targets: [] }),
  test: async () => null,
  testTarget: async () => null,
  addKey: async () => ({ kind: "unknown" }),
  removeKey: async () => ({ kind: "unknown" }),
};

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
