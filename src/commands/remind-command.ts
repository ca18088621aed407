/** `/remind`: one reminder in this chat, at a moment said in words. The same job as the tool create_reminder makes, with the same limits; asks no model. */
import type { JobsApi } from "../contracts/automation/jobs.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { Command, CommandContext } from "../contracts/command.ts";
import { bullets } from "./replies.ts";
import { addJob, readMoment } from "./cron-command.ts";
import { MEMBERS } from "./roles.ts";

interface RemindCommandDeps {
  readonly jobs: Pick<JobsApi, "add" | "get">;
  readonly people: Pick<PersonTimes, "read" | "zoneOf" | "hostZone">;
}

const MAX_TEXT_CHARS = 1_000;
const EXAMPLES = [
  "`/remind in half an hour call the plumber`",
  "`/remind tomorrow 9am water the plants`",
  "`/remind 18:00 take out the bins`",
];

export function remindCommand(deps: RemindCommandDeps): Command {
  return {
    name: "remind",
    usage: "WHEN WHAT",
    help: "Reminds you once, such as: /remind tomorrow 9am call Ann",
    roles: MEMBERS,
    run: (args, context) => answer(deps, args.trim(), context),
  };
}

async function answer({ jobs, people }: RemindCommandDeps, text: string, context: CommandContext): Promise<string> {
  const { principal } = context.message.sender;
  const read = readMoment(people, text.replace(/^me\s+/i, ""), principal);
  if (!read) return `I do not see when to remind you, and of what. For example:\n${bullets(EXAMPLES)}`;
  if ("problem" in read) return `${read.problem} For example:\n${bullets(EXAMPLES)}`;
  const what = read.task.replace(/^to\s+/i, "");
  if (what.length > MAX_TEXT_CHARS) return `A reminder has ${MAX_TEXT_CHARS} characters at most.`;
  const task = `Remind the person of this, in one short friendly sentence and with nothing else: ${what}`;
  const job = { schedule: read.schedule, task, delivery: "direct", deleteAfterRun: true } as const;
  const made = await addJob(jobs, "reminder", job, context);
  if (made.kind === "refused") return made.say;
  const zone = people.zoneOf(principal) ?? people.hostZone();
  const at = new Date(read.schedule.expr);
  return `I will remind you at ${timeIn(zone, at)} (${zone}; ${at.toISOString()}): ${what}\n\`/cron remove ${made.job.id}\` takes it back.`;
}

/** `2026-01-31 14:03`. */
function timeIn(timeZone: string, at: Date): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(at);
}
