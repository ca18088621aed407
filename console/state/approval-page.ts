/** Which questions are shown where, and answering one. */
import { computed } from "@preact/signals";
import type { ApprovalDecision } from "../../src/contracts/tools/approval.ts";
import { openElsewhere, shownIn } from "./approvals.ts";
import { questions } from "./questions.ts";
import { chat, list, request, view } from "./session-page.ts";

export const shownQuestions = computed(() => shownIn(questions.value, chat.value.key, chat.value.live?.turnId ?? null));
export const otherQuestions = computed(() =>
  openElsewhere(questions.value, view.value === "chat" ? chat.value.key : ""),
);

/** Null when the gateway has taken it; otherwise why not. The card itself changes when the gateway says so. */
export async function decide(id: string, decision: ApprovalDecision): Promise<string | null> {
  try {
    await request("approvals.decide", { id, decision });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "The answer did not reach the gateway. Try again.";
  }
}

/** As the list calls it. */
export function titleOf(session: string): string {
  return list.value.items.find(({ key }) => key === session)?.title || session;
}
