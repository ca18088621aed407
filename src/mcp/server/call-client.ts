/** The client of one call, as its tool and the gate see it: what a tool asks for, and approvals and questions that concern the call. */
import type { Caller } from "../../contracts/agent.ts";
import type { OpenQuestion, Questions } from "../../contracts/channels/question.ts";
import type { Events } from "../../contracts/events.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Approvals, PendingApproval } from "../../contracts/tools/approval.ts";
import type { ClientAnswer, ClientInput, ToolClient } from "../../contracts/tools/tool.ts";
import { background } from "../../kit/background.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { answerOf, approvalForm, decisionOf, questionForm } from "./elicitations.ts";
import type { CallInputs } from "./running-calls.ts";

export interface CallClientDeps {
  readonly log: Log;
  readonly events: Events;
  readonly approvals: Pick<Approvals, "pending" | "decide">;
  readonly questions: Pick<Questions, "pending" | "answer">;
}

interface CallFacts {
  readonly callId: string;
  readonly caller: Caller;
  readonly answers: ToolClient["answers"];
  readonly inputs: CallInputs;
}

/** Dispose it when the call has ended. */
export function createCallClient(deps: CallClientDeps, facts: CallFacts): ToolClient & Disposable {
  const { callId, caller, answers, inputs } = facts;
  const asked = new Map<string, Disposable>();
  const followed = new Set<SessionKey>();
  const canElicit = answers.includes("elicitation/create");
  const concerns = ({ sessionKey }: { readonly sessionKey: SessionKey }): boolean => followed.has(sessionKey);
  const isOwn = (news: Pick<PendingApproval, "callId" | "principal">): boolean =>
    news.callId === callId && news.principal === caller.principal;
  const forget = (id: string): void => {
    asked.get(id)?.[Symbol.dispose]();
    asked.delete(id);
  };
  const askApproval = (approval: PendingApproval): void => {
    if (!canElicit || caller.role !== "owner" || asked.has(approval.id)) return;
    asked.set(approval.id, inputs.want(wantedApproval(deps, approval, caller)));
  };
  const askQuestion = (question: OpenQuestion): void => {
    if (!canElicit || !mayAnswer(question, caller) || asked.has(question.id)) return;
    asked.set(question.id, inputs.want(wantedAnswer(deps, question, caller)));
  };
  const subscriptions = [
    deps.events.on("approval", (news) => {
      if (news.decision !== null) forget(news.id);
      else if (isOwn(news) || concerns(news)) askApproval(news);
    }),
    deps.events.on("question", (news) => {
      if (news.end !== null) forget(news.id);
      else if (concerns(news)) askQuestion(news);
    }),
  ];
  return {
    answers,
    ask: (requests) => askAll(inputs, requests),
    follow(sessionKey) {
      followed.add(sessionKey);
      deps.approvals.pending().filter(concerns).forEach(askApproval);
      deps.questions.pending().filter(concerns).forEach(askQuestion);
      return { [Symbol.dispose]: () => void followed.delete(sessionKey) };
    },
    [Symbol.dispose]() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      for (const id of [...asked.keys()]) forget(id);
    },
  };
}

function mayAnswer({ principal }: OpenQuestion, caller: Caller): boolean {
  return principal === caller.principal || caller.role === "owner";
}

/** The answer reaches the gate as any other owner's: an approval that ended meanwhile stays as it ended. */
function wantedApproval({ log, approvals }: CallClientDeps, approval: PendingApproval, { principal }: Caller) {
  return {
    name: approval.id,
    request: approvalForm(approval),
    take(answer: ClientAnswer) {
      const decision = decisionOf(answer);
      if (decision === null) return false;
      background(log, "approval of an MCP client not taken", () => approvals.decide(approval.id, decision, principal));
      return true;
    },
  };
}

function wantedAnswer({ questions }: CallClientDeps, question: OpenQuestion, { principal, role }: Caller) {
  return {
    name: question.id,
    request: questionForm(question),
    take(answer: ClientAnswer) {
      const value = answerOf(answer);
      if (value === undefined) return false;
      const verdict = questions.answer(question.id, { kind: "value", value }, { principal, role });
      return verdict.kind === "taken" || verdict.because !== "unfit";
    },
  };
}

async function askAll(
  inputs: CallInputs,
  requests: Readonly<Record<string, ClientInput>>,
): Promise<Readonly<Record<string, ClientAnswer>>> {
  const answered = Object.entries(requests).map(async ([name, request]) => {
    const answer = deferred<ClientAnswer>();
    using _wanted = inputs.want({
      name,
      request,
      take(given) {
        answer.resolve(given);
        return true;
      },
    });
    return [name, await orAborted(answer.promise, inputs.signal)] as const;
  });
  return Object.fromEntries(await Promise.all(answered));
}
