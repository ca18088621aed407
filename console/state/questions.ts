/** The questions the web console has heard of, and what a screen reader is told about them. */
import { signal } from "@preact/signals";
import type { GatewayEvents } from "../../src/contracts/events.ts";
import type { WireEvent, WireMethods } from "../../src/contracts/wire.ts";
import { addOpen, forgetOpen, hear, type Question, type Questions } from "./approvals.ts";
import { hearAsked, readAskedWith } from "./turn-question-state.ts";

type Ask = <M extends keyof WireMethods>(
  method: M,
  params: WireMethods[M]["params"],
) => Promise<WireMethods[M]["result"]>;

export const questions = signal<Questions>([]);
/** What became of a question a moment ago. */
export const announced = signal("");

export const DECIDED: Readonly<Record<NonNullable<Question["decision"]>, string>> = {
  once: "Allowed once",
  session: "Allowed for this conversation",
  deny: "Denied",
  expired: "Not answered, so it was not run",
};

export function hearQuestion(event: WireEvent): void {
  if (event.event === "question") announced.value = hearAsked(event.data) ?? announced.value;
  if (event.event !== "approval") return;
  questions.value = hear(questions.value, event.data);
  const { tool, decision } = event.data;
  announced.value = decision === null ? `${tool} waits for your approval.` : saidOf(event.data);
}

function saidOf(news: Exclude<GatewayEvents["approval"], { decision: null }>): string {
  return news.say ?? `${news.tool}: ${DECIDED[news.decision]}.`;
}

/** What is open of both kinds. When the line is down it is read again once that is back. */
export async function readOpenQuestions(ask: Ask): Promise<void> {
  questions.value = forgetOpen(questions.value);
  const reading = [
    ask("approvals.list", {}).then(({ items }) => {
      questions.value = addOpen(questions.value, items);
    }),
    readAskedWith(() => ask("questions.list", {})),
  ];
  await Promise.allSettled(reading);
}
