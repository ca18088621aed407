/** `cron`: what an agent may do with scheduled jobs, for the person it works for and nobody else. */
import { Type } from "typebox";
import {
  type Job,
  type JobRun,
  MAX_NEEDS,
  MAX_TASK_CHARS,
  MAX_TOOL_NAME_CHARS,
} from "../../../contracts/automation/job.ts";
import type { JobAnswer, JobsApi, JobInput, JobsStatus } from "../../../contracts/automation/jobs.ts";
import type { Tool, ToolContext } from "../../../contracts/tools/tool.ts";
import { originsOf } from "../../origin.ts";
import { answer, closed, defineTool, MINUTE_MS } from "../define.ts";
import { momentOf } from "./moment.ts";
import { jobChat } from "./job-chat.ts";

export interface CronToolDeps {
  readonly jobs: JobsApi;
}

const ACTIONS = ["list", "add", "remove", "pause", "resume", "run", "wake", "update", "runs", "status"] as const;
/** What would let a job that runs make more of them, or begin itself. */
const NOT_FROM_A_RUN: readonly string[] = [
  "add",
  "update",
  "run",
  "wake",
  "resume",
] satisfies (typeof ACTIONS)[number][];
const LISTED = 50;
const MIN_TIMEOUT_MS = 1_000;
const MAX_TIMEOUT_MS = 24 * 86_400_000;
const literals = <const T extends string>(names: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { description },
    ),
  );
const optional = <const T extends string>(names: readonly T[], description: string) =>
  Type.Optional(literals(names, description));

const PARAMETERS = Type.Object(
  {
    action: literals(ACTIONS, "What to do"),
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "The job: small letters, digits, dashes" }), // its form is the jobs' affair
    ),
    schedule: Type.Optional(
      Type.Object(
        {
          kind: literals(["cron", "every", "at"], "Which kind of schedule"),
          expr: Type.String({
            minLength: 1,
            maxLength: 200,
            description:
              "cron: 0 9 * * *; every: 30m, 1h30m; at: in 20m, 18:00, tomorrow 9am, friday 17:00, or 2026-02-13T10:00:00Z, in the future",
          }),
          timezone: Type.Optional(
            Type.String({ maxLength: 64, description: "Instead of the person's own, such as Europe/Berlin" }),
          ),
        },
        { ...closed, description: "When; for add, and for update" },
      ),
    ),
    task: Type.Optional(
      Type.String({
        maxLength: MAX_TASK_CHARS,
        description: "What to do then, complete in itself; for wake: the words",
      }),
    ),
    mode: optional(["isolated", "main"], "isolated (default): a session of its own. main: in this conversation"),
    delivery: optional(
      ["announce", "direct", "silent"],
      "announce (default): retold here. direct: sent here as it is. silent: nothing is sent",
    ),
    needs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: MAX_TOOL_NAME_CHARS }), {
        maxItems: MAX_NEEDS,
        description: "Tools the task cannot do without",
      }),
    ),
    catchUp: optional(["skip", "once", "all"], "Slots that passed while nobody was there. Default: once"),
    overlap: optional(["skip", "queue", "allow"], "A slot that comes while the one before runs. Default: skip"),
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: MIN_TIMEOUT_MS, maximum: MAX_TIMEOUT_MS, description: "A longer run is stopped" }),
    ),
    deleteAfterRun: Type.Optional(Type.Boolean({ description: "Remove the job after its first run" })),
    wakeMode: optional(["now", "next-heartbeat"], "For wake"),
  },
  closed,
);

export function cron({ jobs }: CronToolDeps): Tool {
  return defineTool({
    name: "cron",
    label: "Schedule",
    description:
      "Manages scheduled jobs: list, add, remove, pause, resume, run, update, runs (what became of each slot), status; wake puts words into this conversation. For a simple reminder use create_reminder.",
    parameters: PARAMETERS,
    flags: { idempotent: false, sequential: true },
    limit: { calls: 30, perMs: MINUTE_MS },
    timeoutMs: 15_000,
    async run(params, { context }) {
      if (context.role === "guest") throw new Error("Guests cannot use scheduled jobs.");
      const begun = originsOf(context);
      if (begun.includes("webhook") && NOT_FROM_A_RUN.includes(params.action))
        throw new Error("What a hook sent cannot make, change or start jobs. Tell the person what should be done.");
      if (begun.includes("cron") && NOT_FROM_A_RUN.includes(params.action))
        throw new Error("A job that is running cannot make, change or start jobs. Say what should be done instead.");
      return answer(await act(jobs, params, context));
    },
  });
}

type Params = Parameters<Parameters<typeof defineTool<typeof PARAMETERS>>[0]["run"]>[0];

async function act(jobs: JobsApi, params: Params, context: ToolContext): Promise<Readonly<Record<string, unknown>>> {
  const who = { principal: context.principal, role: context.role };
  switch (params.action) {
    case "list": {
      const { items, next } = await jobs.list({ limit: LISTED }, who);
      return { jobs: items.map(jobText), ...(next === undefined ? {} : { more: true }) };
    }
    case "status":
      return statusText(await jobs.status());
    case "wake": {
      const news = { text: params.task ?? "", mode: params.wakeMode ?? "now" };
      const woken = await jobs.wake(news, { ...who, sessionKey: context.sessionKey });
      if (woken.kind === "refused") throw new Error(woken.say);
      return { woken: true };
    }
    case "add": {
      const { sessionKey, origin: to } = jobChat(context);
      const maker = { ...who, source: "agent", agentId: context.agentId, sessionKey, to } as const;
      return shown(await jobs.add(inputOf(params), maker));
    }
    case "update":
      return shown(await jobs.update(idOf(params), changeOf(params), who));
    case "runs": {
      const found = await jobs.runs(idOf(params), { limit: LISTED }, who);
      if (!found) throw new Error(`There is no job called ${idOf(params)}.`);
      return { runs: found.items.map(runText) };
    }
    default:
      return shown(await jobs[params.action](idOf(params), who));
  }
}

function idOf({ id, action }: Params): string {
  if (id === undefined) throw new Error(`${action} needs the id of a job. list shows them.`);
  return id;
}

function inputOf(params: Params): JobInput {
  if (!params.schedule || !params.task) throw new Error("add needs a schedule and a task.");
  const { schedule, task } = params;
  return { ...changeOf(params), schedule, task, ...(params.id === undefined ? {} : { id: params.id }) };
}

function changeOf({ action: _action, id: _id, wakeMode: _wakeMode, ...change }: Params): Partial<Omit<JobInput, "id">> {
  return change;
}

function shown(given: JobAnswer): Readonly<Record<string, unknown>> {
  if (given.kind === "refused") throw new Error(given.say);
  return { job: jobText(given.job) };
}

function statusText({ enabled, nextAt, running }: JobsStatus) {
  return { enabled, next: nextAt === null ? null : new Date(nextAt).toISOString(), running };
}

/** Moments as a model reads them. */
function jobText({ id, schedule, task, mode, delivery, state, because, nextAt, slotZone, failures }: Job) {
  const timezone = schedule.timezone ?? slotZone ?? "UTC";
  return {
    id,
    schedule,
    task,
    mode,
    delivery,
    state,
    next: nextAt === null ? null : momentOf(nextAt, timezone),
    ...(because === null ? {} : { because }),
    ...(failures > 0 ? { failures } : {}),
  };
}

function runText({ slot, status, reason, ms }: JobRun) {
  return { slot: new Date(slot).toISOString(), status, ...(reason === null ? {} : { reason }), ms };
}
