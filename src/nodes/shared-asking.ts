/** Approvals and questions of all gateways: shown wherever somebody looks, answered at the one whose turn asks. Rights are judged there, once more. */
import type { Questions } from "../contracts/channels/question.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import type { HeardWork } from "./heard-work.ts";

interface SharedAskingDeps {
  readonly nodes: Pick<OtherNodes, "ask" | "answer">;
  readonly heard: HeardWork;
}

export function shareApprovals(own: Approvals, { nodes, heard }: SharedAskingDeps): Approvals {
  nodes.answer("approvals.decide", ({ id, decision, by, at }) => own.decide(id, decision, by, at ?? undefined));
  return {
    ask: own.ask,
    pending: () => [...own.pending(), ...heard.approvals()].toSorted((one, other) => one.askedAt - other.askedAt),
    async decide(id, decision, by, from) {
      const asker = heard.askerOf(id);
      if (asker === null) return own.decide(id, decision, by, from);
      return nodes.ask(asker, "approvals.decide", { id, decision, by, at: from ?? null });
    },
  };
}

export function shareQuestions(own: Questions, { nodes, heard }: SharedAskingDeps): Questions {
  nodes.answer("questions.answer", async ({ id, given, by }) => own.answer(id, given, by));
  nodes.answer("questions.hear", async ({ message, by }) => own.hear(message, by));
  return {
    ...own,
    pending: () => [...own.pending(), ...heard.questions()].toSorted((one, other) => one.askedAt - other.askedAt),
    async answerAnywhere(id, given, by) {
      const asker = heard.askerOf(id);
      return asker === null ? own.answer(id, given, by) : nodes.ask(asker, "questions.answer", { id, given, by });
    },
    async hearAnywhere(message, { role, sessionKey }) {
      const by = { role, sessionKey };
      const here = own.hear(message, by);
      const open = here ? undefined : heard.questions().find((question) => question.sessionKey === sessionKey);
      const asker = open && heard.askerOf(open.id);
      return asker ? nodes.ask(asker, "questions.hear", { message, by }).catch(() => null) : here;
    },
  };
}
