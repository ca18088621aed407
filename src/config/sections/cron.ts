/** Work that begins by itself: jobs with schedules. */
import { Type } from "typebox";
import { MAX_NEEDS, MAX_TASK_CHARS, MAX_TOOL_NAME_CHARS } from "../../contracts/automation/job.ts";
import { choice, closed, duration, flag, list, text, wholeNumber } from "./kinds.ts";
import { targetName } from "./hooks.ts";
import { agentId } from "./routing.ts";

const MAX_JOBS = 1_000;
const Schedule = Type.Object(
  {
    kind: choice({ of: ["cron", "every", "at"] }, "cron: five or six fields. every: an interval. at: one moment."),
    expr: text(
      { minLength: 1, maxLength: 200 },
      'Such as "0 9 * * *" for cron, "30m" for every, "2026-12-24T18:00:00Z" for at.',
    ),
    timezone: Type.Optional(
      text({ maxLength: 64 }, 'Such as "Europe/Berlin". Without it: the zone of the machine for cron, UTC for at.'),
    ),
  },
  { additionalProperties: false, description: "When." },
);

const ConfigJob = Type.Object(
  {
    id: text(
      { pattern: "^[a-z0-9][a-z0-9-]{0,63}$", expects: "1 to 64 small letters, digits and dashes" },
      "Its name.",
    ),
    schedule: Schedule,
    task: text({ minLength: 1, maxLength: MAX_TASK_CHARS }, "What the agent is asked to do."),
    agentId: Type.Optional(agentId("The agent that does it. Default: `default`.")),
    mode: choice(
      { of: ["isolated", "main"], default: "isolated" },
      "isolated: each run has a session of its own. main: the task goes into the main session.",
    ),
    delivery: choice(
      { of: ["announce", "direct", "silent"], default: "announce" },
      "announce: the result is retold in the main session. direct: it is sent as it is. silent: only the run is noted.",
    ),
    webhook: Type.Optional(targetName("A webhook target (hooks.targets) that the result is posted to as well.")),
    needs: list(
      Type.String({ minLength: 1, maxLength: MAX_TOOL_NAME_CHARS }),
      MAX_NEEDS,
      "Tools it cannot do without. When one is missing or forbidden a run fails before a model is asked.",
    ),
    deleteAfterRun: flag({ default: false }, "The job is taken away when it has run."),
    catchUp: choice(
      { of: ["skip", "once", "all"], default: "once" },
      "What becomes of the last hour's slots that passed while the gateway was not running.",
    ),
    overlap: choice(
      { of: ["skip", "queue", "allow"], default: "skip" },
      "What becomes of a slot that comes while the one before is still running.",
    ),
    timeoutMs: Type.Optional(
      duration(
        { minimum: 1_000 },
        "A run in a session of its own that takes longer is stopped. Default, and always in mode main: the agent's own limit.",
      ),
    ),
    paused: flag({ default: false }, "It has no slots until this is taken out."),
  },
  { additionalProperties: false },
);

const limitsOf = (who: string, { minInterval, maxJobs }: { readonly minInterval: number; readonly maxJobs: number }) =>
  Type.Object(
    {
      minInterval: duration(
        { default: minInterval, minimum: 1_000 },
        `The smallest interval between two runs of a job of ${who}.`,
      ),
      maxJobs: wholeNumber(
        { default: maxJobs, minimum: 0, maximum: 10_000 },
        `Jobs that ${who === "an owner" ? "an owner" : "one member"} may have, those made by agents for them included.`,
      ),
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
    enabled: flag(
      { default: true },
      "Jobs run, and people and agents may make some. false: what is there is kept, nothing begins, and none are made.",
    ),
    maxRunsAtOnce: wholeNumber(
      { default: 2, minimum: 1, maximum: 100 },
      "Runs that are being worked on at the same time. The others wait in line, and people go first.",
    ),
    limits: Limits,
    jobs: list(
      ConfigJob,
      MAX_JOBS,
      "Jobs that belong to this file. Those made in chats and over the API are kept beside them.",
    ),
  },
  { ...closed, description: "Work that begins by itself." },
);
