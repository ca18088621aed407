/** `/cron`: scheduled jobs from a chat. Members see and change their own, owners all. */
import type { Job, JobRun, Schedule } from "../contracts/automation/job.ts";
import type { Asker, JobAnswer, JobInput, JobsApi, Maker } from "../contracts/automation/jobs.ts";
import type { Command, CommandContext } from "../contracts/command.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { Principal } from "../contracts/ids.ts";
import { bullets } from "./replies.ts";
import { MEMBERS } from "./roles.ts";

export interface CronCommandDeps {
  readonly jobs: JobsApi;
  readonly people: Pick<PersonTimes, "read">;
}

const LISTED = 30;
const ID_CHARS = 12;
const USAGE = [
  "`/cron add every 30m check the mail`",
  "`/cron add in 20m water the plants`",
  "`/cron add tomorrow 9am light the candles`, `at 18:00`, `in half an hour`",
  '`/cron add "0 9 * * 1-5" plan the day`',
  "`/cron update ID every 1h check the mail`: another time, another task, or both",
  "`/cron pause ID`, `resume`, `run`, `runs`, `remove`",
  "`/cron wake WORDS`, `/cron status`",
];

export function cronCommand(deps: CronCommandDeps): Command {
  return {
    name: "cron",
    usage: "[add|update|remove|pause|resume|run|runs|wake|status]",
    help: "Scheduled jobs: what is planned, make one, stop one",
    roles: MEMBERS,
    run: (args, context) => answer(deps, args, context),
  };
}

async function answer(deps: CronCommandDeps, args: string, context: CommandContext): Promise<string> {
  const [word = "", ...others] = args.split(/\s+/);
  const rest = others.join(" ").trim();
  const action = word.toLowerCase();
  const { jobs } = deps;
  const who = { principal: context.message.sender.principal, role: context.role };
  switch (action) {
    case "":
    case "list":
      return listText((await jobs.list({ limit: LISTED }, who)).items);
    case "status":
      return statusText(await jobs.status());
    case "add":
      return add(deps, args.slice(word.length).trim(), context);
    case "update":
      return update(deps, args.slice(word.length).trim(), who);
    case "wake": {
      // said again after a crash it is said twice; words are not worth a key
      const woken = await jobs.wake({ text: rest, mode: "now" }, { ...who, sessionKey: context.sessionKey });
      return woken.kind === "ok" ? "The assistant is told." : woken.say;
    }
    case "run": {
      const run = await jobs.run(rest, who, context.message.receivedAt);
      return answerText(run, () => `${rest} begins now.`);
    }
    case "runs": {
      const runs = await jobs.runs(rest, { limit: LISTED }, who);
      return runs ? runsText(rest, runs.items) : `There is no job called ${rest}.`;
    }
    case "pause":
    case "resume":
      return answerText(await jobs[action](rest, who), (job) => `${rest} is ${job.state}. ${nextText(job)}`.trim());
    case "remove":
      return answerText(await jobs.remove(rest, who), () => `${rest} is removed.`);
    default:
      return `I do not know "${action}". Try one of these:\n${bullets(USAGE)}`;
  }
}

async function add(deps: CronCommandDeps, text: string, context: CommandContext): Promise<string> {
  const read = readAdd(deps, text, context.message.sender.principal);
  if (!read) return `Say when, and what:\n${bullets(USAGE.slice(0, 4))}`;
  if ("problem" in read) return read.problem;
  const job = { ...read, deleteAfterRun: read.schedule.kind === "at" };
  return answerText(await addJob(deps.jobs, "job", job, context), (made) => `${made.id} is planned. ${nextText(made)}`);
}

/** The id comes from the turn: a command that runs again after a crash finds the job that it made before. */
export async function addJob(
  jobs: Pick<JobsApi, "add" | "get">,
  what: "job" | "reminder",
  job: Omit<JobInput, "id">,
  { message, role, sessionKey, agentId, turnId }: CommandContext,
): Promise<JobAnswer> {
  const { principal } = message.sender;
  const maker: Maker = { principal, role, source: "person", to: message.address, sessionKey, agentId };
  const letters = turnId.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const id = `${what}-${letters.slice(-ID_CHARS)}`;
  const made = await jobs.add({ ...job, id }, maker);
  const known = made.kind === "refused" && made.code === "job_exists" ? await jobs.get(id, maker) : null;
  return known ? { kind: "ok", job: known } : made;
}

/** What follows the id is read as for `add`; without a task, or without a time, only the other changes. */
async function update(deps: CronCommandDeps, text: string, who: Asker): Promise<string> {
  const [id = "", ...others] = text.split(/\s+/);
  const rest = text.slice(id.length).trim();
  if (others.length === 0) return `Say which job, and what changes:\n${bullets(USAGE.slice(4, 5))}`;
  const both = readAdd(deps, rest, who.principal);
  const when = both && !("problem" in both) ? null : readAdd(deps, `${rest} ${NO_TASK}`, who.principal);
  const alone = when && "task" in when && when.task === NO_TASK ? { schedule: when.schedule } : null;
  if (!alone && both && "problem" in both) return both.problem;
  const change = alone ?? (both && "task" in both ? both : { task: rest });
  return answerText(await deps.jobs.update(id, change, who), (job) => `${id} is changed. ${nextText(job)}`.trim());
}

/** Stands for a task, to see whether all before it is a time. */
const NO_TASK = "\u0000";

const QUOTED = /^["'`]([^"'`]{3,200})["'`]\s+([^]+)$/;
const EVERY = /^every\s+(\S+)\s+([^]+)$/i;
const ISO = /^at\s+(\d{4}-\d\d-\d\dT\S*)\s+([^]+)$/i;
/** Words that begin a moment: what follows is not taken for a task when the moment is not clear. */
const BEGINS = /^(?:at|in|on|today|tomorrow|next)\b/i;
const MAX_WHEN_WORDS = 8;

type Read = { readonly schedule: Schedule; readonly task: string } | { readonly problem: string };

/** Null: there is no time in it. */
export function readAdd({ people }: Pick<CronCommandDeps, "people">, text: string, who: Principal): Read | null {
  const [, fields, quotedTask] = QUOTED.exec(text) ?? [];
  if (fields !== undefined && quotedTask !== undefined)
    return { schedule: { kind: "cron", expr: fields }, task: quotedTask };
  for (const [kind, pattern] of [
    ["every", EVERY],
    ["at", ISO],
  ] as const) {
    const [, expr, task] = pattern.exec(text) ?? [];
    if (expr !== undefined && task !== undefined) return { schedule: { kind, expr }, task };
  }
  return readMoment(people, text, who);
}

/** The longest beginning that is a moment; what is left is the task. */
export function readMoment(people: CronCommandDeps["people"], text: string, who: Principal): Read | null {
  const ends = [...text.matchAll(/\s+/g)].map(({ index }) => index).slice(0, MAX_WHEN_WORDS);
  let problem: string | null = null;
  for (const end of ends.toReversed()) {
    const said = text.slice(0, end);
    const reading = people.read(said, who);
    if (reading.kind === "moment")
      return { schedule: { kind: "at", expr: new Date(reading.at).toISOString() }, task: text.slice(end).trim() };
    if (reading.kind === "day" || !reading.problem.includes("is not a moment")) problem ??= reading.problem;
  }
  return problem !== null && BEGINS.test(text) ? { problem } : null;
}

function answerText(answered: JobAnswer, describe: (job: Job) => string): string {
  return answered.kind === "ok" ? describe(answered.job) : answered.say;
}

function listText(jobs: readonly Job[]): string {
  if (jobs.length === 0) return `Nothing is planned.\n${bullets(USAGE)}`;
  return bullets(
    jobs.map((job) => `\`${job.id}\` ${scheduleText(job.schedule)}: ${job.task.slice(0, 80)} (${stateText(job)})`),
  );
}

function stateText(job: Job): string {
  return job.state === "active" ? nextText(job) : [job.state, job.because].filter((word) => word !== null).join(": ");
}

function nextText({ nextAt }: Job): string {
  return nextAt === null ? "" : `Next: ${new Date(nextAt).toISOString()}`;
}

function scheduleText({ kind, expr, timezone }: Schedule): string {
  return `${kind} ${expr}${timezone === undefined ? "" : ` (${timezone})`}`;
}

function runsText(id: string, runs: readonly JobRun[]): string {
  if (runs.length === 0) return `${id} has not run yet.`;
  return bullets(
    runs.map(
      ({ slot, status, reason }) =>
        `${new Date(slot).toISOString()}: ${status}${reason === null ? "" : ` (${reason})`}`,
    ),
  );
}

function statusText({ enabled, nextAt, running }: Awaited<ReturnType<JobsApi["status"]>>): string {
  if (!enabled) return "Jobs are switched off: cron.enabled is false.";
  const next = nextAt === null ? "nothing is planned" : `the next one is due at ${new Date(nextAt).toISOString()}`;
  return `Jobs are on; ${next}; ${running} running.`;
}
