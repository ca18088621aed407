/** Which approvals and questions are shown where, and answering them. */
import { computed } from "@preact/signals";
import type { ApprovalWish } from "../../src/contracts/tools/approval.ts";
import { whyNot } from "../net/error-text.ts";
import * as ofTools from "./approvals.ts";
import { chat, request, view } from "./console-state.ts";
import { approvals, questions } from "./news.ts";
import * as ofTurns from "./questions.ts";
import { placeOf } from "./route.ts";
import { list } from "./session-list.ts";

const openChat = computed(() => (view.value === "chat" ? chat.value.key : ""));
const liveTurn = computed(() => chat.value.live?.turnId ?? null);

export const shownApprovals = computed(() => ofTools.shownIn(approvals.value, chat.value.key, liveTurn.value));
export const approvalsElsewhere = computed(() => ofTools.openElsewhere(approvals.value, openChat.value));
export const shownQuestions = computed(() => ofTurns.shownIn(questions.value, chat.value.key, liveTurn.value));
export const questionsElsewhere = computed(() => ofTurns.openElsewhere(questions.value, openChat.value));

/** Null when the gateway has taken it; otherwise why not. The card itself changes when the gateway says so. */
export function decideApproval(id: string, wish: ApprovalWish): Promise<string | null> {
  const decided = typeof wish === "object" ? ({ decision: "always", rule: wish.always } as const) : { decision: wish };
  return whyNot(request("approvals.decide", { id, ...decided }));
}

/** The same for a question of a running turn; null as an answer: none is wanted. */
export function answerQuestion(id: string, answer: string | boolean | null): Promise<string | null> {
  return whyNot(request("questions.answer", { id, answer }));
}

interface Call {
  readonly tool: string;
  readonly sessionKey: string | null;
  readonly turnId: string | null;
}

/** Whether a call that has not ended waits for an answer; otherwise it runs. */
export function waitsForApproval({ tool, sessionKey, turnId }: Call): boolean {
  return approvals.value.some(
    (one) =>
      one.decision === null && one.tool === tool && one.sessionKey === sessionKey && one.turnId === (turnId ?? ""),
  );
}

/** As the list calls it; the list has the newest ones. */
export function titleOf(session: string): string {
  return list.value.items.find(({ key }) => key === session)?.title || placeOf(session);
}
