/** Approvals and questions as an MCP client shows them: one field in a form, and what its answer means. Pure. */
import type { ChatQuestion, OpenQuestion } from "../../contracts/channels/question.ts";
import type { PlainDecision, PendingApproval } from "../../contracts/tools/approval.ts";
import type { ClientAnswer, ClientInput } from "../../contracts/tools/tool.ts";
import { isObject } from "../../kit/json.ts";

/** As people read them. Clients of every version show a list of words; titles beside values came later. */
const DECISIONS: Readonly<Record<string, PlainDecision>> = {
  "Allow once": "once",
  "Allow for this conversation": "session",
  Deny: "deny",
};

export function approvalForm({ tool, because, shown }: PendingApproval): ClientInput {
  const decision = { type: "string", title: "Decision", enum: Object.keys(DECISIONS) };
  return form(`May ${tool} run? It waits for your approval: ${because}.\n\n${shown}`, "decision", decision);
}

/** Null: the answer says nothing about it. Whoever closes the form without an answer has not allowed it. */
export function decisionOf(answer: ClientAnswer): PlainDecision | null {
  if (answer["action"] !== "accept") return "deny";
  const said = fieldOf(answer, "decision");
  return typeof said === "string" && Object.hasOwn(DECISIONS, said) ? (DECISIONS[said] ?? null) : null;
}

export function questionForm({ question }: Pick<OpenQuestion, "question">): ClientInput {
  return form(messageOf(question), "answer", fieldFor(question));
}

/** As `Questions.answer` takes it; undefined: the answer has no such field. Null: the person does not want to say. */
export function answerOf(answer: ClientAnswer): string | boolean | null | undefined {
  if (answer["action"] !== "accept") return null;
  const said = fieldOf(answer, "answer");
  return typeof said === "string" || typeof said === "boolean" ? said : undefined;
}

function messageOf(question: ChatQuestion): string {
  return question.kind === "confirm" && question.text ? `${question.title}\n${question.text}` : question.title;
}

function fieldFor(question: ChatQuestion): Readonly<Record<string, unknown>> {
  switch (question.kind) {
    case "select":
      return { type: "string", title: "Answer", enum: [...new Set(question.options)] };
    case "confirm":
      return { type: "boolean", title: "Yes" };
    case "input":
      return {
        type: "string",
        title: "Answer",
        ...(question.placeholder ? { description: question.placeholder } : {}),
        ...(question.prefill ? { default: question.prefill } : {}),
      };
  }
}

function form(message: string, name: string, field: Readonly<Record<string, unknown>>): ClientInput {
  const requestedSchema = { type: "object", properties: { [name]: field }, required: [name] };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

function fieldOf(answer: ClientAnswer, name: string): unknown {
  const { content } = answer;
  return isObject(content) ? content[name] : undefined;
}
