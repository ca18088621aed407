/** The questions the page has heard of, and what a screen reader is told about them. */
import { signal } from "@preact/signals";
import type { GatewayEvents } from "../../src/contracts/events.ts";
import type { PendingApproval } from "../../src/contracts/tools/approval.ts";
import { addOpen, forgetOpen, hear, type Question, type Questions } from "./approvals.ts";

export const questions = signal<Questions>([]);
/** What became of a question a moment ago. */
export const announced = signal("");

export const DECIDED: Readonly<Record<NonNullable<Question["decision"]>, string>> = {
  once: "Allowed once",
  session: "Allowed for this conversation",
  deny: "Denied",
  expired: "Not answered, so it was not run",
};

export function hearOf(news: GatewayEvents["approval"]): void {
  questions.value = hear(questions.value, news);
  const { tool, decision } = news;
  announced.value = decision === null ? `${tool} waits for your approval.` : `${tool}: ${DECIDED[decision]}.`;
}

export async function readOpenWith(ask: () => Promise<{ readonly items: readonly PendingApproval[] }>): Promise<void> {
  questions.value = forgetOpen(questions.value);
  try {
    const { items } = await ask();
    questions.value = addOpen(questions.value, items);
  } catch {
    // the line is down; what is open is read again when it is back
  }
}
