/** Which questions are shown where, and answering one: those about tool calls, and those of running turns. */
import { computed } from "@preact/signals";
import type { ApprovalDecision } from "../../src/contracts/tools/approval.ts";
import { openElsewhere, shownIn } from "./approvals.ts";
import * as ofTurns from "./turn-questions.ts";
import { asked } from "./turn-question-state.ts";
import { questions } from "./questions.ts";
import { chat, list, request, view } from "./console-state.ts";

export const shownQuestions = computed(() => shownIn(questions.value, chat.value.key, chat.value.live?.turnId ?? null));
export const otherQuestions = computed(() =>
  openElsewhere(questions.value, view.value === "chat" ? chat.value.key : ""),
);

export const shownAsked = computed(() => ofTurns.shownIn(asked.value, chat.value.key, chat.value.live?.turnId ?? null));
export const askedElsewhere = computed(() =>
  ofTurns.openElsewhere(asked.value, view.value === "chat" ? chat.value.key : ""),
);

/** Null when the gateway has taken it; otherwise why not. The card itself changes when the gateway says so. */
export function decide(id: string, decision: ApprovalDecision): Promise<string | null> {
  return whyNot(request("approvals.decide", { id, decision }));
}

/** The same for a question of a running turn; null as an answer: none is wanted. */
export function answerQuestion(id: string, answer: string | boolean | null): Promise<string | null> {
  return whyNot(request("questions.answer", { id, answer }));
}

async function whyNot(asking: Promise<unknown>): Promise<string | null> {
  try {
    await asking;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "The answer did not reach the gateway. Try again.";
  }
}

/** As the list calls it. */
export function titleOf(session: string): string {
  return list.value.items.find(({ key }) => key === session)?.title || session;
}
