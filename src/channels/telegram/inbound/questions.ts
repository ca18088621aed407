/**
 * Questions with buttons: approvals for owners here, those of running turns in question-board.ts. A button carries a name nobody can guess,
 * which holds for one message in one chat and is used up by the first press that counts.
 */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { Role } from "../../../contracts/ids.ts";
import type { ApprovalDecision, Approvals, PendingApproval } from "../../../contracts/tools/approval.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault } from "../api/faults.ts";
import { type AccountState, remember } from "../../kit/index.ts";
import { placeOf } from "../outbound/send-target.ts";
import { replyParameters } from "../outbound/send.ts";
import { MAX_TEXT_UNITS } from "../render/render.ts";
import type { Run } from "../render/runs.ts";
import { splitRuns } from "../render/split.ts";
import type { Arrived } from "./arrived.ts";
import { type QuestionMessageDeps, pressAnswer } from "./question-messages.ts";

export interface QuestionDeps extends Pick<QuestionMessageDeps, "questions"> {
  readonly ids: Ids;
  readonly api: BotApi;
  readonly facts: AccountState;
  readonly approvals: Approvals;
}

export interface AccountQuestions {
  /** Shows a call that waits for an owner; once per call. */
  approval(question: PendingApproval, to: ChatAddress): Promise<void>;
  /** Nobody answered it: its buttons go, and the chat is told. */
  expired(id: string, say: string): Promise<void>;
  /** What buttons stood for is forgotten where the call waits no longer: decided elsewhere, or asked by a process before. */
  forgetOver(): Promise<void>;
  press(arrived: Arrived, role: Role, signal: AbortSignal): Promise<void>;
}

/** What a button stands for. */
interface Asked {
  readonly chat: string;
  /** Null until it is known: a press may be faster than the answer to our own call. */
  readonly messageId: string | null;
  readonly approval: string;
}

const NAME_BYTES = 12;
const DECISIONS: readonly { readonly label: string; readonly decision: ApprovalDecision; readonly said: string }[] = [
  { label: "Allow once", decision: "once", said: "Allowed once." },
  { label: "Allow in this conversation", decision: "session", said: "Allowed in this conversation." },
  { label: "Deny", decision: "deny", said: "Denied." },
];
const ONLY_OWNERS = "Only an owner can decide this.";
const OVER = "This question is no longer open.";
const MAX_TOAST_CHARS = 200;
const MAX_SHOWN = 1_000;
const DATA = /^q:([A-Za-z0-9_-]{8,40}):([0-9]{1,2})$/;

/** `life`: of the account. */
export function createQuestions(deps: QuestionDeps, life: AbortSignal): AccountQuestions {
  const shown = new Map<string, Promise<Posting>>();
  return {
    async approval(question, to) {
      if (shown.has(question.id)) return;
      const posting = post(deps, question, to, life);
      remember(shown, question.id, posting, MAX_SHOWN);
      try {
        await posting;
      } catch (error) {
        if (isWorthAnother(error)) shown.delete(question.id);
        throw error;
      }
    },
    async expired(id, say) {
      const posted = await shown.get(id);
      if (!posted || (await deps.facts.get(`ask:${posted.name}`)) === null) return;
      await deps.facts.forget(`ask:${posted.name}`);
      await closeButtons(deps, posted, life);
      const below = replyParameters(Number(posted.messageId));
      await deps.api.call("sendMessage", { ...placeOf(posted.to).target, ...below, text: say }, life);
    },
    async forgetOver() {
      const stored = await deps.facts.list("ask:");
      const waiting = new Set(deps.approvals.pending().map(({ id }) => id));
      for (const { key, value } of stored)
        if (!waiting.has((JSON.parse(value) as Asked).approval)) await deps.facts.forget(key); // written below
    },
    async press(arrived, role, signal) {
      const [, name = "", choice = ""] = DATA.exec(arrived.press?.data ?? "") ?? [];
      const here = { chat: arrived.address.chat, messageId: String(arrived.messageId) };
      const answered = pressAnswer(deps, arrived, role);
      const said = answered
        ? { say: answered.say, close: answered.over }
        : await decide(deps, name, { arrived, role, choice });
      await deps.api
        .call(
          "answerCallbackQuery",
          { callback_query_id: arrived.press?.callbackId ?? "", text: said.say.slice(0, MAX_TOAST_CHARS) },
          signal,
        )
        .catch(() => undefined); // it is too late to say it; what was decided holds
      if (said.close) await closeButtons(deps, here, signal);
    },
  };
}

/** A question as it stands in its chat. */
interface Posting extends Shown {
  readonly name: string;
  readonly to: ChatAddress;
}

async function post(
  deps: QuestionDeps,
  question: PendingApproval,
  to: ChatAddress,
  life: AbortSignal,
): Promise<Posting> {
  const name = deps.ids.secret(NAME_BYTES);
  const labels = DECISIONS.map(({ label }) => label);
  const asked: Asked = { chat: to.chat, messageId: null, approval: question.id };
  await deps.facts.put(`ask:${name}`, JSON.stringify(asked));
  const buttons = { name, runs: approvalText(question), labels };
  const messageId = await postQuestion(deps, to, buttons, life).catch(async (error: unknown) => {
    if (!isLost(error)) await deps.facts.forget(`ask:${name}`); // nobody will press it
    throw error;
  });
  if ((await deps.facts.get(`ask:${name}`)) !== null)
    // it may have been pressed already
    await deps.facts.put(`ask:${name}`, JSON.stringify({ ...asked, messageId }));
  return { name, to, chat: to.chat, messageId };
}

/** It may be shown, and pressed. */
function isLost(error: unknown): boolean {
  return !(error instanceof Fault) || error.info.kind === "lost";
}

/** It is certainly not shown, and the next look, a second later, may have more luck. */
function isWorthAnother(error: unknown): boolean {
  return error instanceof Fault && (error.info.kind === "unreached" || error.info.kind === "down");
}

interface Shown {
  readonly chat: string;
  readonly messageId: string;
}

/** The name on the button cannot be guessed, so it belongs to this message if it is pressed before the message is known. */
function isFor({ chat, messageId }: Pick<Asked, "chat" | "messageId">, here: Shown): boolean {
  return chat === here.chat && (messageId === null || messageId === here.messageId);
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

async function decide(deps: QuestionDeps, name: string, { arrived, role, choice }: Pressed): Promise<Said> {
  const stored = name === "" ? null : await deps.facts.get(`ask:${name}`);
  const asked = stored === null ? null : (JSON.parse(stored) as Asked); // written above
  const here = { chat: arrived.address.chat, messageId: String(arrived.messageId) };
  const chosen = DECISIONS[Number(choice)];
  if (!asked || !isFor(asked, here) || !chosen) return { say: OVER, close: false };
  if (role !== "owner") return { say: ONLY_OWNERS, close: false };
  const outcome = await deps.approvals.decide(asked.approval, chosen.decision, arrived.sender.principal, arrived);
  if (outcome === "not_allowed") return { say: ONLY_OWNERS, close: false };
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
  const rows = labels.map((text, at) => [{ text, callback_data: `q:${name}:${at}` }]);
  const markup = { inline_keyboard: rows };
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

async function closeButtons({ api }: QuestionDeps, { chat, messageId }: Shown, signal: AbortSignal): Promise<void> {
  await api
    .call("editMessageReplyMarkup", { chat_id: chat, message_id: Number(messageId) }, signal)
    .catch(() => undefined); // they have no effect any more, shown or not
}

function approvalText({ tool, shown }: PendingApproval): readonly Run[] {
  return [
    { text: "The assistant asks for permission to use ", styles: [] },
    { text: tool, styles: [{ type: "code" }] },
    { text: " with:\n", styles: [] },
    { text: shown, styles: [{ type: "pre", language: "json" }] },
    { text: "\nOnly an owner can decide.", styles: [] },
  ];
}
