/** Makes the jobs of the configuration file what the file says, and leaves everybody else's alone. Run at start and after each reload. */
import type { Job, JobStore } from "../contracts/automation/job.ts";
import type { JobInput } from "../contracts/automation/jobs.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { newJob } from "./jobs.ts";
import { slotsBeforeChange } from "./passed-slots.ts";
import type { Times } from "./times/times.ts";

interface ConfigJobsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: JobStore;
  readonly times: Times;
}

export interface ConfigJob extends JobInput {
  readonly id: string;
}

/** Jobs of the file have the rights of the operator. */
const FILE = {
  principal: "operator" as Principal,
  role: "owner",
  source: "config",
  to: null,
  sessionKey: null,
  agentId: "default" as AgentId,
} as const;
const PAGE = 500;

/** Returns sentences about jobs that could not be taken over. */
export async function applyConfigJobs(deps: ConfigJobsDeps, wanted: readonly ConfigJob[]): Promise<readonly string[]> {
  const known = new Map((await all(deps.store)).map((job) => [job.id, job]));
  const problems: string[] = [];
  for (const input of wanted) {
    const problem = await applyOne(deps, input);
    if (problem !== null) problems.push(problem);
    known.delete(input.id);
  }
  for (const id of known.keys()) await deps.store.remove(id);
  return problems;
}

async function applyOne(deps: ConfigJobsDeps, input: ConfigJob): Promise<string | null> {
  const { store, log } = deps;
  const made = newJob(deps, input, FILE);
  const known = await store.get(input.id);
  if (known && known.source !== "config")
    return `cron.jobs: ${input.id} is the name of a job that was made in a chat or over the API. Choose another id.`;
  if ("code" in made) return known && isOver(known) ? null : `cron.jobs: ${input.id} is left out. ${made.say}`;
  if (!known) {
    await store.add(made);
    log.info("job of the configuration added", { jobId: made.id });
    return null;
  }
  if (sameJob(known, made)) return null;
  // with the schedule it had, a job keeps its place in it: a new task does not take a slot that waits to be caught up with
  const { nextAt, anchorAt, slotZone } = hasSameSlots(known, made) ? known : made;
  const changed: Job = {
    ...made,
    nextAt,
    anchorAt,
    ...(slotZone === undefined ? {} : { slotZone }),
    createdAt: known.createdAt,
  };
  const left = slotsBeforeChange(deps, { job: known, changed, now: deps.clock.now() });
  await store.change(changed, known.revision, left);
  log.info("job of the configuration changed", { jobId: made.id });
  return null;
}

function hasSameSlots(known: Job, wanted: Job): boolean {
  return scheduleText(known) === scheduleText(wanted) && known.state === "active" && wanted.state === "active";
}

function scheduleText({ schedule: { kind, expr, timezone } }: Job): string {
  return JSON.stringify([kind, expr, timezone ?? null]);
}

function isOver({ state }: Job): boolean {
  return state === "done" || state === "disabled";
}

/** A change by a person, such as a pause, holds until the file says something else about the job. */
function sameJob(known: Job, wanted: Job): boolean {
  const spec = ({ task, agentId, mode, delivery, webhook, needs, deleteAfterRun, catchUp, overlap, timeoutMs }: Job) =>
    JSON.stringify([
      ...[task, agentId, mode, delivery, webhook ?? null, needs ?? [], deleteAfterRun, catchUp, overlap, timeoutMs],
    ]);
  const pausedByFile = wanted.state === "paused" && known.state === "active";
  return scheduleText(known) === scheduleText(wanted) && spec(known) === spec(wanted) && !pausedByFile;
}

async function all(store: JobStore): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ source: "config" }, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    jobs.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return jobs;
}
