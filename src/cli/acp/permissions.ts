/** Approvals and questions of a turn, asked in the editor. Whoever closes the dialogue has not allowed the call, and has not answered. */
import type { AgentContext, PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { ChatQuestion, OpenQuestion } from "../../contracts/channels/question.ts";
import type { PlainDecision, PendingApproval } from "../../contracts/tools/approval.ts";
import { isObject } from "../../kit/json.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import type { GatewaySocket } from "./gateway-socket.ts";
import { callFacts, textChunk } from "./session-updates.ts";

export interface Editor {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly cwd: string;
  /** It shows forms. */
  readonly hasForms: boolean;
}

const DECISIONS: readonly (PermissionOption & { readonly optionId: PlainDecision })[] = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "session", name: "Allow for this conversation", kind: "allow_always" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
];
/** As much of it as counts here. */
interface FormAnswer {
  readonly action: string;
  readonly content?: unknown;
}

const NO_ANSWER = "no-answer";

export async function askApproval(socket: GatewaySocket, editor: Editor, approval: PendingApproval): Promise<void> {
  const { id, callId, tool, input, because, shown } = approval;
  const { title, content, ...facts } = callFacts(tool, input, editor.cwd);
  // editors show the title and the content: a title says a part of the input, and a diff shows no hidden characters
  const whole = { type: "content" as const, content: { type: "text" as const, text: shown } };
  const toolCall = {
    toolCallId: callId,
    ...facts,
    title: `${writeOut(title)} (${because})`,
    content: [whole, ...content],
  };
  const chosen = await choose(editor, toolCall, [...DECISIONS]);
  const decision = DECISIONS.find(({ optionId }) => optionId === chosen)?.optionId ?? "deny";
  await socket.ask("approvals.decide", { id, decision });
}

export async function askQuestion(
  socket: GatewaySocket,
  editor: Editor,
  { id, question }: OpenQuestion,
): Promise<void> {
  if (question.kind === "input" && !editor.hasForms) return tell(editor, id, question);
  const answer = question.kind === "input" ? await inForm(editor, question) : await byChoice(editor, id, question);
  await socket.ask("questions.answer", { id, answer });
}

async function byChoice(
  editor: Editor,
  id: string,
  question: Exclude<ChatQuestion, { kind: "input" }>,
): Promise<string | boolean | null> {
  const answers = question.kind === "select" ? question.options : ["Yes", "No"];
  const options: PermissionOption[] = answers.map((name, at) => ({ optionId: String(at), name, kind: "allow_once" }));
  const none: PermissionOption = { optionId: NO_ANSWER, name: "No answer", kind: "reject_once" };
  const title = question.kind === "confirm" && question.text ? `${question.title} ${question.text}` : question.title;
  const chosen = await choose(editor, { toolCallId: id, title, kind: "other" }, [...options, none]);
  const answer = chosen === null ? undefined : answers[Number(chosen)];
  if (answer === undefined) return null;
  return question.kind === "select" ? answer : answer === "Yes";
}

async function choose(
  { client, sessionId }: Editor,
  toolCall: ToolCallUpdate,
  options: PermissionOption[],
): Promise<string | null> {
  const { outcome } = await client.request("session/request_permission", { sessionId, toolCall, options });
  return outcome.outcome === "selected" ? outcome.optionId : null;
}

async function inForm(
  { client, sessionId }: Editor,
  { title, placeholder, prefill }: Extract<ChatQuestion, { kind: "input" }>,
): Promise<string | null> {
  const field = {
    type: "string" as const,
    title: "Answer",
    ...(placeholder ? { description: placeholder } : {}),
    ...(prefill ? { default: prefill } : {}),
  };
  const requestedSchema = { type: "object" as const, properties: { answer: field }, required: ["answer"] };
  const asked = { mode: "form" as const, sessionId, message: title, requestedSchema };
  const response = await client.request<FormAnswer>("elicitation/create", asked);
  const answer = isObject(response.content) ? response.content["answer"] : undefined;
  return response.action === "accept" && typeof answer === "string" ? answer : null;
}

/** An editor without forms can take no words in the middle of a turn; a terminal can. */
async function tell({ client, sessionId }: Editor, id: string, { title }: ChatQuestion): Promise<void> {
  const text = `\n\nThe assistant asks: ${title}\nAnswer in a terminal: \`pi-gw questions answer ${id} "…"\`\n\n`;
  await client.notify("session/update", { sessionId, update: textChunk(text) });
}
