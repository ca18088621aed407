/**
 * Questions with buttons: approvals for owners, and choices for the person a turn works for. A button carries a name nobody can guess, which
 * holds for one message in one chat and is used up by the first press that counts.
 */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { ChatAnswer, ChatAsker, ChatQuestion } from "../../../contracts/channels/question.ts";
import type { Principal, Role } from "../../../contracts/ids.ts";
import type { ApprovalDecision, Approvals, PendingApproval } from "../../../contracts/tools/approval.ts";
import { type Deferred, deferred, orAborted } from "../../../kit/deferred.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { Log } from "../../../kit/log.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { AccountFacts } from "../facts.ts";
import { placeOf } from "../outbound/place.ts";
import { MAX_TEXT_UNITS } from "../render/render.ts";
import type { Run } from "../render/runs.ts";
import { splitRuns } from "../render/split.ts";
import type { Arrived } from "./arrived.ts";

export interface QuestionDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly api: BotApi;
  readonly facts: AccountFacts;
  readonly approvals: Approvals;
}

export interface Questions extends ChatAsker {
  /** Shows a call that waits for an owner; once per call. */
  approval(question: PendingApproval, to: ChatAddress, signal: AbortSignal): Promise<void>;
  press(arrived: Arrived, role: Role, signal: AbortSignal): Promise<void>;
  /** True: these words answer a question that wanted words. */
  words(arrived: Arrived): Promise<boolean>;
}

/** What a button stands for. */
interface Asked {
  readonly chat: string;
  readonly messageId: string;
  /** Absent: a choice, whose asker waits in this life. */
  readonly approval?: string;
}

interface Waiting {
  readonly of: Principal;
  readonly chat: string;
  readonly messageId: string;
  readonly labels: readonly string[];
  readonly answer: Deferred<number | string>;
}

const NAME_BYTES = 12;
const DECISIONS: readonly { readonly label: string; readonly decision: ApprovalDecision; readonly said: string }[] = [
  { label: "Allow once", decision: "once", said: "Allowed once." },
  { label: "Allow in this conversation", decision: "session", said: "Allowed in this conversation." },
  { label: "Deny", decision: "deny", said: "Denied." },
];
const OVER = "This question is no longer open.";
const MAX_OPTIONS = 20;
const MAX_LABEL_CHARS = 60;
const MAX_SHOWN = 1_000;
const DATA = /^q:([A-Za-z0-9_-]{8,40}):([0-9]{1,2})$/;

export function createQuestions(deps: QuestionDeps): Questions {
  const waiting = new Map<string, Waiting>();
  const shown = new Set<string>();
  const post = (to: ChatAddress, asked: Posted, signal: AbortSignal) => postQuestion(deps, to, asked, signal);

  const ask = async (
    to: ChatAddress,
    of: Principal,
    question: ChatQuestion,
    signal: AbortSignal,
  ): Promise<ChatAnswer> => {
    const labels = labelsOf(question);
    const name = deps.ids.secret(NAME_BYTES);
    const text = question.kind === "confirm" && question.text ? `${question.title}\n${question.text}` : question.title;
    const messageId = await post(to, { name, runs: [{ text, styles: [] }], labels }, signal).catch((error: unknown) => {
      deps.log.warn("question not shown", { error });
      return null;
    });
    if (messageId === null) return { kind: "none" };
    const one: Waiting = { of, chat: to.chat, messageId, labels, answer: deferred() };
    waiting.set(name, one);
    const answer = await orAborted(one.answer.promise, signal).catch(() => null); // nobody answered in time
    waiting.delete(name);
    await closeButtons(deps, { chat: to.chat, messageId });
    return toAnswer(question, answer);
  };

  return {
    ask,
    async approval(question, to, signal) {
      if (shown.has(question.id) || shown.size > MAX_SHOWN) return;
      shown.add(question.id);
      const name = deps.ids.secret(NAME_BYTES);
      const labels = DECISIONS.map(({ label }) => label);
      const messageId = await post(to, { name, runs: approvalText(question), labels }, signal);
      const asked: Asked = { chat: to.chat, messageId, approval: question.id };
      await deps.facts.put(`ask:${name}`, JSON.stringify(asked));
    },
    async press(arrived, role, signal) {
      const [, name = "", choice = ""] = DATA.exec(arrived.press?.data ?? "") ?? [];
      const here = { chat: arrived.address.chat, messageId: String(arrived.messageId) };
      const one = waiting.get(name);
      const said = one
        ? choose(one, here, { arrived, role, choice })
        : await decide(deps, name, { arrived, role, choice });
      await deps.api
        .call("answerCallbackQuery", { callback_query_id: arrived.press?.callbackId ?? "", text: said.say }, signal)
        .catch(() => undefined); // it is too late to say it; what was decided holds
      if (said.close) await closeButtons(deps, here);
    },
    async words(arrived) {
      if (arrived.answers === null) return false;
      const one = [...waiting.values()].find(
        ({ chat, messageId, labels }) =>
          labels.length === 0 && chat === arrived.address.chat && messageId === String(arrived.answers),
      );
      if (!one || arrived.sender.principal !== one.of) return false;
      one.answer.resolve(arrived.text.replace(/^\[In answer to: [^\n]*\]\n/, ""));
      return true;
    },
  };
}

interface Pressed {
  readonly arrived: Arrived;
  readonly role: Role;
  readonly choice: string;
}

interface Said {
  readonly say: string;
  readonly close: boolean;
}

function choose(one: Waiting, here: Pick<Asked, "chat" | "messageId">, { arrived, role, choice }: Pressed): Said {
  if (one.chat !== here.chat || one.messageId !== here.messageId) return { say: OVER, close: false };
  if (arrived.sender.principal !== one.of && role !== "owner")
    return { say: "This question is for somebody else.", close: false };
  const label = one.labels[Number(choice)];
  if (label === undefined) return { say: OVER, close: false };
  one.answer.resolve(Number(choice));
  return { say: label, close: false };
}

async function decide(deps: QuestionDeps, name: string, { arrived, role, choice }: Pressed): Promise<Said> {
  const stored = name === "" ? null : await deps.facts.get(`ask:${name}`);
  const asked = stored === null ? null : (JSON.parse(stored) as Asked); // written above
  const here = asked?.chat === arrived.address.chat && asked.messageId === String(arrived.messageId);
  const chosen = DECISIONS[Number(choice)];
  if (!asked?.approval || !here || !chosen) return { say: OVER, close: false };
  if (role !== "owner") return { say: "Only an owner can decide this.", close: false };
  const outcome = await deps.approvals.decide(asked.approval, chosen.decision, arrived.sender.principal);
  await deps.facts.forget(`ask:${name}`);
  return { say: outcome === "done" ? chosen.said : OVER, close: true };
}

interface Posted {
  readonly name: string;
  readonly runs: readonly Run[];
  readonly labels: readonly string[];
}

/** The whole text, however long: nobody is asked to allow what they cannot read. The buttons are below its end. */
async function postQuestion(
  { api }: QuestionDeps,
  to: ChatAddress,
  { name, runs, labels }: Posted,
  signal: AbortSignal,
): Promise<string> {
  const chunks = splitRuns(runs, MAX_TEXT_UNITS);
  const rows = labels.map((text, at) => [{ text: text.slice(0, MAX_LABEL_CHARS), callback_data: `q:${name}:${at}` }]);
  const markup = rows.length > 0 ? { inline_keyboard: rows } : { force_reply: true as const, selective: true };
  let last = "";
  for (const [at, chunk] of chunks.entries()) {
    const buttons = at === chunks.length - 1 ? { reply_markup: markup } : {};
    const said = {
      text: chunk.text,
      entities: [...chunk.entities] as never[],
      link_preview_options: { is_disabled: true },
    };
    const sent = await api.call("sendMessage", { ...placeOf(to).target, ...said, ...buttons }, signal);
    last = String(sent.message_id);
  }
  return last;
}

async function closeButtons(
  { api }: QuestionDeps,
  { chat, messageId }: Pick<Asked, "chat" | "messageId">,
): Promise<void> {
  await api
    .call("editMessageReplyMarkup", { chat_id: chat, message_id: Number(messageId) }, new AbortController().signal)
    .catch(() => undefined); // they have no effect any more, shown or not
}

function approvalText({ tool, input }: PendingApproval): readonly Run[] {
  return [
    { text: "The assistant asks for permission to use ", styles: [] },
    { text: tool, styles: [{ type: "code" }] },
    { text: " with:\n", styles: [] },
    { text: JSON.stringify(input, null, 2) ?? "nothing", styles: [{ type: "pre", language: "json" }] },
    { text: "\nOnly an owner can decide.", styles: [] },
  ];
}

function labelsOf(question: ChatQuestion): readonly string[] {
  if (question.kind === "confirm") return ["Yes", "No"];
  return question.kind === "select" ? question.options.slice(0, MAX_OPTIONS) : [];
}

function toAnswer(question: ChatQuestion, answer: number | string | null): ChatAnswer {
  if (answer === null) return { kind: "none" };
  if (typeof answer === "string") return { kind: "said", text: answer };
  if (question.kind === "confirm") return { kind: "confirmed", yes: answer === 0 };
  const option = question.kind === "select" ? question.options[answer] : undefined;
  return option === undefined ? { kind: "none" } : { kind: "chosen", option };
}
