/** `create_reminder`: one job that runs once, says its words in this chat and is gone. */
import { Type } from "typebox";
import type { JobsApi } from "../../../contracts/automation/jobs.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import type { PersonTimes } from "../../../contracts/automation/when.ts";
import { originsOf } from "../../origin.ts";
import { answer, closed, defineTool, MINUTE_MS } from "../define.ts";
import { momentOf } from "./moment.ts";
import { jobChat } from "./job-chat.ts";

export interface ReminderDeps {
  readonly jobs: JobsApi;
  readonly people: Pick<PersonTimes, "zoneOf" | "hostZone">;
}

const MAX_TEXT_CHARS = 1_000;
const MAX_WHEN_CHARS = 64;

export function createReminder({ jobs, people }: ReminderDeps): Tool {
  return defineTool({
    name: "create_reminder",
    label: "Reminder",
    description: "Reminds the person of something once, in this chat, at a moment or after a while.",
    parameters: Type.Object(
      {
        text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: "What to remind of" }),
        when: Type.String({
          minLength: 1,
          maxLength: MAX_WHEN_CHARS,
          description:
            "in 20 minutes, in half an hour, 18:00, tomorrow 9am, friday 17:00; or a moment such as 2026-02-13T10:00:00Z. Words are read in the person's time zone",
        }),
        timezone: Type.Optional(
          Type.String({ maxLength: 64, description: "Instead of the person's own, such as Europe/Berlin" }),
        ),
      },
      closed,
    ),
    flags: { idempotent: false },
    limit: { calls: 30, perMs: MINUTE_MS },
    timeoutMs: 15_000,
    async run({ text, when, timezone }, { context }) {
      if (context.role === "guest") throw new Error("Guests cannot make reminders.");
      const begun = originsOf(context);
      if (begun.includes("cron")) throw new Error("A job that is running cannot make reminders.");
      if (begun.includes("webhook")) throw new Error("What a hook sent cannot make reminders.");
      const { principal, role, agentId } = context;
      const { sessionKey, origin: to } = jobChat(context);
      const made = await jobs.add(
        {
          schedule: { kind: "at", expr: when, ...(timezone === undefined ? {} : { timezone }) },
          task: `Remind the person of this, in one short friendly sentence and with nothing else: ${text}`,
          delivery: "direct",
          deleteAfterRun: true,
        },
        { principal, role, source: "agent", agentId, sessionKey, to },
      );
      if (made.kind === "refused") throw new Error(made.say);
      const { id, nextAt } = made.job;
      const zone = timezone ?? people.zoneOf(principal) ?? people.hostZone();
      return answer({ reminder: id, ...(nextAt === null ? { at: when } : momentOf(nextAt, zone)) });
    },
  });
}
