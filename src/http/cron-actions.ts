/** Jobs as the API and the socket give and show them: one schema, one way to ask, one way to be refused. */
import { Type } from "typebox";
import { MAX_NEEDS, MAX_TASK_CHARS, MAX_TOOL_NAME_CHARS, type Job, type JobRun } from "../contracts/automation/job.ts";
import { sayWhen } from "../automation/index.ts";
import type {
  Asker,
  JobAnswer,
  JobsApi,
  JobInput,
  JobRefusal,
  LookAhead,
  SchedulePreview,
  ScheduleQuestion,
} from "../contracts/automation/jobs.ts";
import { type ErrorCode, GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { Page } from "../contracts/paging.ts";
import type { WireJob, WireJobInput, WireListedJob, WireRun } from "../contracts/wire.ts";
import { parseDuration } from "../kit/duration.ts";
import { cronSessionKey } from "../routing/index.ts";

const MIN_TIMEOUT_MS = 1_000;
const MAX_TIMEOUT_MS = 24 * 86_400_000;
const oneOf = (...names: readonly string[]) => Type.Union(names.map((name) => Type.Literal(name)));

export const JOB_ID = Type.String({ minLength: 1, maxLength: 64 });
/** All of them optional, for a change; a new job needs two of them. */
const JOB_FIELDS = {
  schedule: Type.Object(
    {
      kind: oneOf("cron", "every", "at"),
      expr: Type.String({ minLength: 1, maxLength: 200 }),
      timezone: Type.Optional(Type.String({ maxLength: 64 })),
    },
    { additionalProperties: false },
  ),
  task: Type.String({ minLength: 1, maxLength: MAX_TASK_CHARS }),
  agentId: Type.String({ pattern: "^[a-z0-9-]{1,64}$" }),
  mode: oneOf("isolated", "main"),
  delivery: oneOf("announce", "direct", "silent"),
  webhook: Type.Union([Type.String({ pattern: "^[a-z0-9-]{1,64}$" }), Type.Null()]),
  needs: Type.Array(Type.String({ minLength: 1, maxLength: MAX_TOOL_NAME_CHARS }), { maxItems: MAX_NEEDS }),
  deleteAfterRun: Type.Boolean(),
  catchUp: oneOf("skip", "once", "all"),
  overlap: oneOf("skip", "queue", "allow"),
  timeoutMs: Type.Union([Type.Integer({ minimum: MIN_TIMEOUT_MS }), Type.String({ maxLength: 20 })]),
  paused: Type.Boolean(),
} as const;

export const JOB_CHANGE = Object.fromEntries(
  Object.entries(JOB_FIELDS).map(([name, schema]) => [name, Type.Optional(schema)]),
);
export const NEW_JOB = {
  ...JOB_CHANGE,
  id: Type.Optional(JOB_ID),
  schedule: JOB_FIELDS.schedule,
  task: JOB_FIELDS.task,
};

/** Wakes the assistant with a text. */
export const WAKE = {
  text: Type.String({ minLength: 1 }),
  mode: Type.Optional(Type.Union([Type.Literal("now"), Type.Literal("next-heartbeat")])),
};

/** Whoever holds the token or the cookie is an owner. */
export const askerOf = (principal: Principal): Asker => ({ principal, role: "owner" });

export async function addJob(jobs: JobsApi, input: WireJobInput, principal: Principal): Promise<{ job: WireJob }> {
  const origin = { to: null, sessionKey: null, agentId: "default" as AgentId };
  const made = await jobs.add(inputOf(input) as JobInput, { ...askerOf(principal), source: "person", ...origin });
  return { job: jobOf(made) };
}

export async function updateJob(
  jobs: JobsApi,
  id: string,
  change: Partial<WireJobInput>,
  principal: Principal,
): Promise<{ job: WireJob }> {
  return { job: jobOf(await jobs.update(id, inputOf(change), askerOf(principal))) };
}

export async function listJobs(jobs: JobsApi, page: Parameters<JobsApi["list"]>[0], principal: Principal) {
  const asker = askerOf(principal);
  const { items, next } = await jobs.list(page, asker);
  const withRuns = items.map(async (job): Promise<WireListedJob> => {
    const [last] = (await jobs.runs(job.id, { limit: 1 }, asker))?.items ?? [];
    return last ? { ...shownJob(job), lastRun: shownRun(last) } : shownJob(job);
  });
  return { items: await Promise.all(withRuns), ...(next === undefined ? {} : { next }) };
}

/** The schedule of words, or of a form that is being filled in, with its next times. */
export function previewSchedule(lookAhead: LookAhead, asked: ScheduleQuestion, principal: Principal): SchedulePreview {
  const answer = lookAhead.preview(asked, askerOf(principal));
  if (answer.kind === "refused") throw refusal(answer.code, answer.say);
  const { schedule, words, nextAt } = answer;
  return { schedule, words, nextAt };
}

export async function listRuns(jobs: JobsApi, id: string, page: Page, principal: Principal) {
  const job = await jobs.get(id, askerOf(principal));
  const found = await jobs.runs(id, page, askerOf(principal));
  if (!job || !found) throw refusal("job_unknown", `There is no job called ${id}.`);
  const own = ({ startedAt, ...run }: JobRun): Pick<WireRun, "sessionKey"> =>
    job.mode === "isolated" && startedAt !== null ? { sessionKey: cronSessionKey(job.agentId, id, run.id) } : {};
  return {
    items: found.items.map((run) => ({ ...shownRun(run), ...own(run) })),
    ...(found.next === undefined ? {} : { next: found.next }),
  };
}

export async function runJob(
  jobs: JobsApi,
  id: string,
  principal: Principal,
): Promise<{ job: WireJob; run?: WireRun }> {
  const answer = await jobs.run(id, askerOf(principal));
  return { job: jobOf(answer), ...(answer.run ? { run: shownRun(answer.run) } : {}) };
}

export async function wake(
  jobs: JobsApi,
  { text, mode = "now" }: { readonly text: string; readonly mode?: "now" | "next-heartbeat" },
  principal: Principal,
): Promise<{ sessionKey: string }> {
  const answer = await jobs.wake({ text, mode }, { ...askerOf(principal), sessionKey: null });
  if (answer.kind === "refused") throw refusal("bad_job", answer.say);
  return { sessionKey: answer.sessionKey };
}

/** The job, or the refusal as an error. */
export function jobOf(answer: JobAnswer): WireJob {
  if (answer.kind === "refused") throw refusal(answer.code, answer.say);
  return shownJob(answer.job);
}

const CODES: Readonly<Record<JobRefusal, ErrorCode>> = {
  bad_schedule: "bad_schedule",
  bad_job: "bad_job",
  job_exists: "job_exists",
  job_unknown: "job_unknown",
  not_allowed: "forbidden",
  too_many_jobs: "too_many_jobs",
};

function refusal(code: JobRefusal, say: string): GatewayError {
  return new GatewayError(CODES[code], say, { say });
}

function inputOf({ timeoutMs, agentId, ...rest }: Partial<WireJobInput>): Partial<JobInput> {
  const ms = typeof timeoutMs === "string" ? parseDuration(timeoutMs) : timeoutMs;
  if (ms === null || (ms !== undefined && (ms < MIN_TIMEOUT_MS || ms > MAX_TIMEOUT_MS)))
    throw refusal("bad_job", "timeoutMs is milliseconds, or text such as 5m; from one second to 24 days.");
  return {
    ...rest,
    ...(ms === undefined ? {} : { timeoutMs: ms }),
    ...(agentId === undefined ? {} : { agentId: agentId as AgentId }),
  };
}

export function shownJob({ revision: _revision, anchorAt: _anchorAt, ...job }: Job): WireJob {
  return { ...job, words: sayWhen(job.schedule) };
}

function shownRun({ reason, turnId, retryAt, ...run }: JobRun): WireRun {
  return {
    ...run,
    ...(reason === null ? {} : { reason }),
    ...(turnId === null ? {} : { turnId }),
    ...(retryAt === null ? {} : { retryAt }),
  };
}
