/** Work that begins by itself: jobs with schedules. */
import { Type } from "typebox";
import { MAX_NEEDS, MAX_TASK_CHARS, MAX_TOOL_NAME_CHARS } from "../../contracts/automation/job.ts";
import { closed, duration, MAX_DURATION_MS } from "./kinds.ts";
import { targetName } from "./hooks.ts";
import { agentId } from "./routing.ts";

const MAX_JOBS = 1_000;
const words = <T extends string>(names: readonly T[], byDefault: T, description: string) =>
  Type.Unsafe<T>({ anyOf: names.map((name) => ({ const: name })), default: byDefault, description });

const Schedule = Type.Object(
  {
    kind: Type.Union([Type.Literal("cron"), Type.Literal("every"), Type.Literal("at")], {
      description: "cron: five or six fields. every: an interval. at: one moment.",
    }),
    expr: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Such as "0 9 * * *" for cron, "30m" for every, "2026-12-24T18:00:00Z" for at.',
    }),
    timezone: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Such as "Europe/Berlin". Without it: the zone of the machine for cron, UTC for at.',
      }),
    ),
  },
  { additionalProperties: false, description: "When." },
);

const ConfigJob = Type.Object(
  {
    id: Type.String({
      pattern: "^[a-z0-9][a-z0-9-]{0,63}$",
      expects: "1 to 64 small letters, digits and dashes",
      description: "Its name.",
    }),
    schedule: Schedule,
    task: Type.String({ minLength: 1, maxLength: MAX_TASK_CHARS, description: "What the agent is asked to do." }),
    agentId: Type.Optional(agentId("The agent that does it. Default: `default`.")),
    mode: words(
      ["isolated", "main"],
      "isolated",
      "isolated: each run has a session of its own. main: the task goes into the main session.",
    ),
    delivery: words(
      ["announce", "direct", "silent"],
      "announce",
      "announce: the result is retold in the main session. direct: it is sent as it is. silent: only the run is noted.",
    ),
    webhook: Type.Optional(targetName("A place of hooks.targets that the result is posted to as well.")),
    needs: Type.Array(Type.String({ minLength: 1, maxLength: MAX_TOOL_NAME_CHARS }), {
      default: [],
      maxItems: MAX_NEEDS,
      description: "Tools it cannot do without. When one is missing or forbidden a run fails before a model is asked.",
    }),
    deleteAfterRun: Type.Boolean({ default: false, description: "The job is taken away when it has run." }),
    catchUp: words(
      ["skip", "once", "all"],
      "once",
      "What becomes of the last hour's slots that passed while the gateway was not running.",
    ),
    overlap: words(
      ["skip", "queue", "allow"],
      "skip",
      "What becomes of a slot that comes while the one before is still running.",
    ),
    timeoutMs: Type.Optional(
      Type.Unsafe<number>({
        anyOf: [
          { type: "integer", minimum: 1_000, maximum: MAX_DURATION_MS },
          { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
        ],
        duration: true,
        minimum: 1_000,
        maximum: MAX_DURATION_MS,
        description:
          "A run in a session of its own that takes longer is stopped. Default, and always in mode main: the agent's own limit.",
      }),
    ),
    paused: Type.Boolean({ default: false, description: "It has no slots until this is taken out." }),
  },
  { additionalProperties: false },
);

const limitsOf = (who: string, { minInterval, maxJobs }: { readonly minInterval: number; readonly maxJobs: number }) =>
  Type.Object(
    {
      minInterval: duration(minInterval, 1_000, `The smallest interval between two runs of a job of ${who}.`),
      maxJobs: Type.Integer({
        default: maxJobs,
        minimum: 0,
        maximum: 10_000,
        description: `Jobs that ${who === "an owner" ? "an owner" : "one member"} may have, those made by agents for them included.`,
      }),
    },
    { ...closed, description: `What jobs of ${who} may cost.` },
  );

const Limits = Type.Object(
  {
    owner: limitsOf("an owner", { minInterval: 1_000, maxJobs: 1_000 }),
    member: limitsOf("a member", { minInterval: 300_000, maxJobs: 50 }),
  },
  { ...closed, description: "Limits of jobs made in chats, by agents and over the API, by role. Guests make no jobs." },
);

export const CronSection = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        "Jobs run, and people and agents may make some. false: what is there is kept, nothing begins, and none are made.",
    }),
    maxRunsAtOnce: Type.Integer({
      default: 2,
      minimum: 1,
      maximum: 100,
      description: "Runs that are being worked on at the same time. The others wait in line, and people go first.",
    }),
    limits: Limits,
    jobs: Type.Array(ConfigJob, {
      default: [],
      maxItems: MAX_JOBS,
      description: "Jobs that belong to this file. Those made in chats and over the API are kept beside them.",
    }),
  },
  { ...closed, description: "Work that begins by itself." },
);
