/** What the gateway tells besides conversations: approvals, questions, jobs and keys, and what a screen reader says about them. */
import { signal } from "@preact/signals";
import type { JobRun } from "../../src/contracts/automation/job.ts";
import type { WireEvent, WireMethods } from "../../src/contracts/wire.ts";
import { type Approval, type Approvals, addOpen, forgetOpen, hearApproval } from "./approvals.ts";
import { hearQuestion, type Questions, withOpen } from "./questions.ts";

/** Asks the gateway over the open line. */
export type Ask = <M extends keyof WireMethods>(
  method: M,
  params: WireMethods[M]["params"],
) => Promise<WireMethods[M]["result"]>;

export const approvals = signal<Approvals>([]);
export const questions = signal<Questions>([]);
/** The newest thing heard about jobs: a run that began or ended, or (null) that the list has changed. */
export const jobNews = signal<{ readonly run: JobRun | null } | null>(null);
/** Grows whenever a reply did not arrive, or may have arrived twice. */
export const outboxNews = signal(0);
/** Grows whenever something began or ended that the timeline shows. */
export const activityNews = signal(0);
/** Grows whenever keys of programs have changed. */
export const keyNews = signal(0);
/** Grows whenever an approval rule was made, used or removed. */
export const ruleNews = signal(0);
/** What became of an approval, a question or a job a moment ago. */
export const announced = signal("");

export const DECIDED: Readonly<Record<NonNullable<Approval["decision"]>, string>> = {
  once: "Allowed once",
  session: "Allowed for this conversation",
  always: "Allowed, with a rule",
  deny: "Denied",
  expired: "Not answered, so it was not run",
};

export function hear(event: WireEvent): void {
  if (event.event === "approval") {
    approvals.value = hearApproval(approvals.value, event.data);
    const { tool, decision, ...news } = event.data;
    if (decision === null) announced.value = `${tool} waits for your approval.`;
    else announced.value = ("say" in news && news.say) || `${tool}: ${DECIDED[decision]}.`;
  }
  if (event.event === "question") {
    const before = questions.value;
    questions.value = hearQuestion(before, event.data);
    const { question, end } = event.data;
    if (questions.value !== before)
      announced.value = end === null ? `The assistant asks: ${question.title}` : `${question.title} ${end.because}`;
  }
  if (isActivity(event)) activityNews.value++;
  if (event.event === "cron.run") jobNews.value = { run: event.data.run };
  if (event.event === "status" && event.data.what === "jobs") jobNews.value = { run: null };
  if (event.event === "status" && event.data.what === "outbox") outboxNews.value++;
  if (event.event === "status" && event.data.what === "keys") keyNews.value++;
  if (event.event === "status" && event.data.what === "rules") ruleNews.value++;
}

function isActivity(event: WireEvent): boolean {
  if (event.event === "turn.tool") return event.data.status !== "running";
  if (event.event === "status") return event.data.what === "outbox";
  return event.event === "turn.started" || event.event === "turn.ended" || event.event === "cron.run";
}

/** Approvals and questions that are open. When the line is down they are read again once that is back. */
export async function readOpen(ask: Ask): Promise<void> {
  approvals.value = forgetOpen(approvals.value);
  const asked = questions.value;
  await Promise.allSettled([
    ask("approvals.list", {}).then(({ items }) => {
      approvals.value = addOpen(approvals.value, items);
    }),
    ask("questions.list", {}).then(({ items }) => {
      questions.value = withOpen(questions.value, asked, items);
    }),
  ]);
}
