/** Rules of questions: who may be asked, who may answer, and whether a text is an answer. Pure. */
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, Answerer, ChatQuestion, GivenAnswer } from "../../contracts/channels/question.ts";
import type { AnsweringText, ChatAddress, InboundMessage, MessageOrigin } from "../../contracts/chat.ts";
import type { Principal, Role } from "../../contracts/ids.ts";
import { passesOn } from "../../kit/marks/quoted.ts";
import { readBack } from "../../kit/marks/written-out.ts";

/** More than one turn asks before somebody has answered the first. */
export const MAX_WAITING_PER_SESSION = 10;
export const MAX_WAITING = 200;
/** Longer ones are not asked: what is shown is shown whole. */
export const MAX_QUESTION_CHARS = 8_000;
export const MAX_OPTIONS = 100;
export const MAX_ANSWER_CHARS = 32_000;

type Unattended = Exclude<MessageOrigin, "chat" | "reaction">;
const UNATTENDED: Readonly<Record<Unattended, string>> = {
  cron: "a scheduled job",
  heartbeat: "the heartbeat",
  webhook: "a webhook",
  delegate: "another agent",
};

interface Crowd {
  readonly here: number;
  readonly everywhere: number;
}

/** Null: it may be asked. Otherwise why not, as a sentence. */
export function whyNotAsk(question: ChatQuestion, of: Pick<Caller, "cause" | "origin">, crowd: Crowd): string | null {
  const cause = causeOf(of);
  if (cause !== "chat") return `Nobody is there to be asked: this turn was begun by ${UNATTENDED[cause]}.`;
  if (crowd.here >= MAX_WAITING_PER_SESSION || crowd.everywhere >= MAX_WAITING)
    return "Too many questions wait for an answer already.";
  if (lengthOf(question) > MAX_QUESTION_CHARS) return "It is too long to be shown whole.";
  if (question.kind !== "select") return null;
  if (question.options.length === 0) return "There is nothing to choose from.";
  return question.options.length > MAX_OPTIONS ? "There are too many options to choose from." : null;
}

/** A turn that another agent asked for works for a person too, and in no chat of theirs. */
export function causeOf({ cause = "chat", origin }: Pick<Caller, "cause" | "origin">): "chat" | Unattended {
  if (origin.channel === "delegate") return "delegate";
  return cause === "reaction" ? "chat" : cause; // who reacted a moment ago is there
}

function lengthOf(question: ChatQuestion): number {
  if (question.kind === "select") return question.title.length + question.options.join("").length;
  if (question.kind === "confirm") return question.title.length + (question.text ?? "").length;
  return question.title.length + (question.placeholder ?? "").length + (question.prefill ?? "").length;
}

interface Asked {
  readonly principal: Principal;
  readonly to: ChatAddress;
}

/** A button counts in the chat it was shown in, for the person it was shown to or an owner. */
export function mayAnswer(asked: Asked, { principal, role, at }: Answerer): "yes" | "over" | "not_yours" {
  if (at && !isSameChat(at, asked.to)) return "over";
  return principal === asked.principal || role === "owner" ? "yes" : "not_yours";
}

export interface Listening extends Asked {
  readonly messageId: string | null;
  /** There are no buttons. */
  readonly wantsText: boolean;
  /** The channel shows questions as plain messages, and knows nothing of answers. */
  readonly plain: boolean;
}

/**
 * The words with which this message answers the question; null: it does not. A reply to the question always does. In a direct chat the next
 * words do where words are wanted; in a group only where there is no other way to say which message is meant.
 */
export function textFor(one: Listening, message: InboundMessage, role: Role): string | null {
  const said = answerIn(message, one.plain);
  const { principal } = message.sender;
  if (!said || said.text.trim() === "" || !isSameChat(message.address, one.to)) return null;
  if (said.to !== null) {
    const isMeant = said.to === one.messageId && mayAnswer(one, { principal, role }) === "yes";
    return isMeant ? said.text : null;
  }
  if (!one.wantsText || principal !== one.principal) return null;
  return message.scope === "dm" || (one.plain && message.mentioned) ? said.text : null;
}

/** Messages with files, forwards and internal messages are no answers. */
function answerIn(message: InboundMessage, plain: boolean): AnsweringText | null {
  if ((message.origin ?? "chat") !== "chat" || message.attachments.length > 0 || passesOn(message.quoted)) return null;
  return message.answering ?? (plain ? { to: null, text: message.text } : null);
}

function isSameChat(one: ChatAddress, other: ChatAddress): boolean {
  return (
    one.channel === other.channel &&
    one.account === other.account &&
    one.chat === other.chat &&
    one.thread === other.thread
  );
}

type ReadAnswer =
  /** `said`: for everybody to see; words that somebody wrote are not. */
  | { readonly kind: "fits"; readonly answer: ChatAnswer; readonly said?: string }
  | { readonly kind: "unfit"; readonly say: string };

const YES: ReadonlySet<string> = new Set(["yes", "y", "ok", "1", "true"]);
const NO: ReadonlySet<string> = new Set(["no", "n", "2", "false"]);

/** `raw`: the question as it was asked, before its hidden characters were written out. Whoever asked gets its own words back. */
export function readAnswer(question: ChatQuestion, given: GivenAnswer, raw: ChatQuestion = question): ReadAnswer {
  if (given.kind === "value" && given.value === null) return { kind: "fits", answer: { kind: "none" } };
  switch (question.kind) {
    case "confirm":
      return confirmed(yesOrNo(given));
    case "select":
      return chosen(question.options, given, raw.kind === "select" ? raw.options : question.options);
    case "input":
      return said(given, question.prefill !== undefined);
  }
}

function yesOrNo(given: GivenAnswer): boolean | null {
  if (given.kind === "press") return given.at === 0 ? true : given.at === 1 ? false : null;
  const word = given.kind === "words" ? given.text.trim().toLowerCase() : given.value;
  if (typeof word === "boolean") return word;
  if (word === null) return null;
  return YES.has(word) ? true : NO.has(word) ? false : null;
}

function confirmed(yes: boolean | null): ReadAnswer {
  if (yes === null) return { kind: "unfit", say: "That is no answer to this question. Answer with yes or no." };
  return { kind: "fits", answer: { kind: "confirmed", yes }, said: yes ? "Yes" : "No" };
}

function chosen(options: readonly string[], given: GivenAnswer, raw: readonly string[]): ReadAnswer {
  const at = indexIn(options, given);
  const option = raw[at];
  if (option !== undefined) return { kind: "fits", answer: { kind: "chosen", option }, said: options[at] ?? option };
  return {
    kind: "unfit",
    say: `That is none of the answers. Answer with a number from 1 to ${options.length}, or with the words of one of them.`,
  };
}

/** An option that is a number itself is meant before the option with that number. A program names an option exactly. */
function indexIn(options: readonly string[], given: GivenAnswer): number {
  if (given.kind === "press") return given.at;
  if (given.kind === "value") return options.findIndex((option) => option === given.value);
  const text = given.text.trim();
  const exact = options.findIndex((option) => option.trim() === text);
  if (exact >= 0) return exact;
  const close = options.findIndex((option) => option.trim().toLowerCase() === text.toLowerCase());
  if (close >= 0) return close;
  return /^\d{1,3}[.)]?$/.test(text) ? Number.parseInt(text, 10) - 1 : -1;
}

/** `changed`: it is a text that its reader got written out, and sends back. */
function said(given: GivenAnswer, changed: boolean): ReadAnswer {
  const text = given.kind === "words" ? given.text : given.kind === "value" ? given.value : null;
  if (typeof text !== "string") return { kind: "unfit", say: "This question wants words for an answer." };
  if (text.length > MAX_ANSWER_CHARS)
    return { kind: "unfit", say: `An answer has ${MAX_ANSWER_CHARS} characters at most.` };
  return { kind: "fits", answer: { kind: "said", text: changed ? readBack(text) : text } };
}
