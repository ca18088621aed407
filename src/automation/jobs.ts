/** The one way to make and change jobs. Owners see all; others their own. Jobs of the configuration file are changed in the file. */
import { type Job, type JobStore, MAX_TASK_CHARS, type Schedule } from "../contracts/automation/job.ts";
import type { Asker, JobAnswer, JobInput, JobRefusal, Jobs, Maker } from "../contracts/automation/jobs.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { AgentId, Principal, Role } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Engine } from "./engine.ts";
import { intervalProblem, type JobLimits } from "./job-limits.ts";
import { nextSlot, slotsBeforeChange } from "./passed-slots.ts";
import { parseDuration, showDuration } from "../kit/duration.ts";
import { readRelative, readSpan } from "./times/relative.ts";
import type { Times } from "./times/times.ts";

export interface JobsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: JobStore;
  readonly times: Times;
  readonly engine: Pick<Engine, "poke" | "runNow">;
  /** The list of jobs has changed: clients show it. */
  changed(): void;
  /** False: nothing would begin. */
  isOn(): boolean;
  isAgent(id: AgentId): boolean;
  limits(role: Role): JobLimits;
  /** Moments as people say them, and the zones they have chosen. */
  readonly people: Pick<PersonTimes, "read" | "zoneOf">;
  /** Why it could never work: a webhook or tool that does not exist; null: nothing is known against it. */
  missing(job: Job): Promise<string | null>;
}

/** Without `people` for jobs of the file: their schedules are read as they are written. */
type ScheduleDeps = Pick<JobsDeps, "clock" | "times"> & Partial<Pick<JobsDeps, "people">>;
type NewJobDeps = ScheduleDeps & Pick<JobsDeps, "ids">;

/** An agent that was talked into making jobs is stopped early. */
const MAX_JOBS_BY_AGENT = 20;
const ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const RANDOM_ID_BYTES = 6;

export function createJobs(deps: JobsDeps): Jobs {
  const { store } = deps;

  return {
    async add(input, maker) {
      if (!deps.isOn()) return SWITCHED_OFF;
      const job = newJob(deps, input, maker);
      if ("code" in job) return refused(job.code, job.say);
      if (!deps.isAgent(job.agentId)) return refused("bad_job", `There is no agent called ${job.agentId}.`);
      const problem = (await tooMany(deps, maker)) ?? tooOften(deps, job, maker.role) ?? (await missing(deps, job));
      if (problem) return refused(problem.code, problem.say);
      if (!(await store.add(job))) return refused("job_exists", `There is a job called ${job.id} already.`);
      deps.engine.poke();
      deps.changed();
      return { kind: "ok", job };
    },
    update: (id, given, who) =>
      change(deps, { id, who, ofFile: false, needs: "webhook" in given || "needs" in given }, (job) =>
        updated(deps, job, given),
      ),
    async remove(id, who) {
      const job = await find(deps, id, who);
      if (!job) return unknown(id);
      if (job.source === "config")
        return refused("not_allowed", `${id} is in the configuration file; take it out there.`);
      await store.remove(id);
      deps.changed();
      return { kind: "ok", job };
    },
    pause: (id, who) =>
      change(deps, { id, who, ofFile: true }, (job) => ({ ...job, state: "paused", because: null, nextAt: null })),
    resume: (id, who) => change(deps, { id, who, ofFile: true }, (job) => ({ ...activated(deps, job), failures: 0 })),
    async run(id, who, at) {
      const job = await find(deps, id, who);
      if (!job) return unknown(id);
      if (!deps.isOn()) return SWITCHED_OFF;
      const run = await deps.engine.runNow(id, at);
      return run ? { kind: "ok", job, run } : { kind: "ok", job };
    },
    get: (id, who) => find(deps, id, who),
    list: ({ failing = false, planned, ...page }, who) =>
      store.list(who.role === "owner" ? { failing, planned } : { failing, planned, createdBy: who.principal }, page),
    async runs(id, page, who) {
      return (await find(deps, id, who)) ? store.runs(id, page) : null;
    },
  };
}

async function find({ store }: JobsDeps, id: string, who: Asker): Promise<Job | null> {
  const job = await store.get(id);
  return job && mayTouch(job, who) ? job : null;
}

interface Change {
  readonly id: string;
  readonly who: Asker;
  /** Whether a job of the configuration file may be changed like this. */
  readonly ofFile: boolean;
  /** Whether the change names a webhook or tools. */
  readonly needs?: boolean;
}

/** A job that changed meanwhile is looked at again. */
async function change(
  deps: JobsDeps,
  { id, who, ofFile, needs = false }: Change,
  next: (job: Job) => Job | Refusal,
): Promise<JobAnswer> {
  for (;;) {
    const job = await find(deps, id, who);
    if (!job) return unknown(id);
    if (job.source === "config" && !ofFile)
      return refused("not_allowed", `${id} is in the configuration file; change it there.`);
    const wanted = next(job);
    if ("code" in wanted) return refused(wanted.code, wanted.say);
    const active = wanted.state === "active" && job.source !== "config";
    const problem = (active ? tooOften(deps, wanted, job.role) : null) ?? (needs ? await missing(deps, wanted) : null);
    if (problem) return refused(problem.code, problem.say);
    const left = slotsBeforeChange(deps, { job, changed: wanted, now: deps.clock.now() });
    if (!(await deps.store.change(wanted, job.revision, left))) continue;
    deps.engine.poke();
    deps.changed();
    return { kind: "ok", job: (await deps.store.get(id)) ?? wanted };
  }
}

/** Jobs that agents made for a person count as that person's. */
async function tooMany({ store, limits }: JobsDeps, { principal, role, source }: Maker): Promise<Refusal | null> {
  const byAgent = await store.count({ createdBy: principal, source: "agent" });
  const all = byAgent + (await store.count({ createdBy: principal, source: "person" }));
  const { maxJobs } = limits(role);
  const limit = all >= maxJobs ? maxJobs : MAX_JOBS_BY_AGENT;
  const full = all >= maxJobs || (source === "agent" && byAgent >= MAX_JOBS_BY_AGENT);
  if (!full) return null;
  return { code: "too_many_jobs", say: `There are ${limit} jobs already. Remove one that is no longer needed.` };
}

function tooOften({ limits, times, clock }: JobsDeps, job: Job, role: Role): Refusal | null {
  const say = intervalProblem(times, job, { limits: limits(role), now: clock.now() });
  return say === null ? null : { code: "bad_schedule", say };
}

async function missing(deps: JobsDeps, job: Job): Promise<Refusal | null> {
  const say = await deps.missing(job);
  return say === null ? null : { code: "bad_job", say };
}

interface Refusal {
  readonly code: JobRefusal;
  readonly say: string;
}

function refused(code: JobRefusal, say: string): JobAnswer & { readonly kind: "refused" } {
  return { kind: "refused", code, say };
}

/** A job is refused while jobs are off: it would be planned and never run. */
const SWITCHED_OFF = refused("bad_job", "Jobs are switched off: cron.enabled is false.");

function unknown(id: string): JobAnswer & { readonly kind: "refused" } {
  return refused("job_unknown", `There is no job called ${id}.`);
}

function mayTouch(job: Job, who: Asker): boolean {
  return who.role === "owner" || job.createdBy === who.principal;
}

/** Like `Maker`, and the configuration file is one too. */
type AnyMaker = Omit<Maker, "source"> & Pick<Job, "source">;

export function newJob(deps: NewJobDeps, input: JobInput, maker: AnyMaker): Job | Refusal {
  const id = input.id ?? randomId(deps.ids);
  if (!ID.test(id)) return { code: "bad_job", say: "A job's id has 1 to 64 small letters, digits and dashes." };
  const now = deps.clock.now();
  const schedule = maker.source === "config" ? input.schedule : fixedSchedule(deps, input.schedule, maker.principal);
  if ("code" in schedule) return schedule;
  const job: Job = {
    id,
    schedule,
    task: input.task.trim(),
    agentId: input.agentId ?? maker.agentId,
    mode: input.mode ?? "isolated",
    delivery: input.delivery ?? "announce",
    ...(input.webhook ? { webhook: input.webhook } : {}),
    ...(input.needs?.length ? { needs: input.needs } : {}),
    deleteAfterRun: input.deleteAfterRun ?? false,
    catchUp: input.catchUp ?? "once",
    overlap: input.overlap ?? "skip",
    timeoutMs: input.timeoutMs ?? null,
    source: maker.source,
    createdBy: maker.principal,
    role: maker.role,
    to: maker.to,
    sessionKey: maker.sessionKey,
    state: "active",
    because: null,
    createdAt: now,
    anchorAt: now,
    nextAt: null,
    failures: 0,
    revision: 1,
  };
  const problem = taskProblem(job) ?? scheduleProblem(deps, job);
  if (problem) return problem;
  return input.paused === true ? { ...job, state: "paused" } : activated(deps, job);
}

function randomId(ids: Ids): string {
  const text = ids.secret(RANDOM_ID_BYTES).toLowerCase();
  return text.replace(/[^a-z0-9]/g, "0");
}

function updated(deps: JobsDeps, job: Job, change: Partial<Omit<JobInput, "id">>): Job | Refusal {
  const { paused, schedule, ...rest } = change;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const wanted = schedule && fixedSchedule(deps, schedule, job.createdBy);
  if (wanted && "code" in wanted) return wanted;
  const anchorAt = wanted ? deps.clock.now() : job.anchorAt;
  const next: Job = { ...job, ...given, schedule: wanted ?? job.schedule, anchorAt };
  const problem = taskProblem(next) ?? (schedule ? scheduleProblem(deps, next) : null);
  if (problem) return problem;
  if (paused === true) return { ...next, state: "paused", nextAt: null };
  if (schedule || paused === false) return activated(deps, next);
  return next;
}

/** "in 20m" or "tomorrow 9am" mean a moment only now, and only in the zone of their person: the moment, or the zone, is stored. */
export function fixedSchedule(
  { clock, times, people }: ScheduleDeps,
  schedule: Schedule,
  who: Principal,
): Schedule | Refusal {
  const { kind, expr, timezone = people?.zoneOf(who) } = schedule;
  const zoned: Schedule = timezone === undefined ? schedule : { ...schedule, timezone };
  if (kind === "every") {
    const ms = parseDuration(expr) === null ? readSpan(expr) : null;
    return ms === null ? schedule : { kind, expr: showDuration(ms) };
  }
  if (kind === "cron" || times.read(zoned).ok) return zoned;
  const after = readRelative(expr);
  const reading = people?.read(expr, who, timezone) ?? null;
  const at = after === null ? (reading?.kind === "moment" ? reading.at : null) : clock.now() + after;
  if (at !== null) return { kind, expr: new Date(at).toISOString() };
  if (reading === null || reading.kind === "moment" || LOOKS_ISO.test(expr)) return zoned; // said by whoever reads the schedule
  return { code: "bad_schedule", say: reading.problem };
}

const LOOKS_ISO = /^\s*\d{4}-\d\d-\d\dT/i;

function taskProblem({ task, mode, webhook }: Job): Refusal | null {
  if (webhook && mode === "main")
    return {
      code: "bad_job",
      say: "A job that is answered in the main session posts nothing. Leave webhook or mode out.",
    };
  if (task === "") return { code: "bad_job", say: "A job needs a task: what should be done?" };
  if (task.length > MAX_TASK_CHARS) return { code: "bad_job", say: `A task has ${MAX_TASK_CHARS} characters at most.` };
  return null;
}

export function scheduleProblem(
  deps: Pick<JobsDeps, "clock" | "times">,
  job: Pick<Job, "schedule" | "anchorAt">,
): Refusal | null {
  const { kind, expr } = job.schedule;
  // Jobs that an earlier version stored may have a space here and still run; new ones are written in one way.
  if (kind === "every" && /\s/.test(expr))
    return { code: "bad_schedule", say: `"${expr}" is not an interval. Write it without spaces: 30m, 2h, 1d.` };
  const read = deps.times.read(job.schedule);
  if (!read.ok) return { code: "bad_schedule", say: read.problem };
  if (deps.times.next(read.schedule, deps.clock.now(), job.anchorAt) !== null) return null;
  return { code: "bad_schedule", say: `${job.schedule.expr} has passed already. Choose a moment in the future.` };
}

/** Active, with the first slot from now on. */
function activated({ clock, times }: Pick<JobsDeps, "clock" | "times">, job: Job): Job {
  const { slotZone: _before, ...rest } = job;
  const { nextAt, slotZone } = nextSlot(times, job, clock.now());
  const state = nextAt === null ? "done" : "active";
  return { ...rest, state, because: null, nextAt, ...(slotZone === undefined ? {} : { slotZone }) };
}
