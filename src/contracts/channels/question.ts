/**
 * Something a running turn wants to know from the person it works for: with buttons where there are some, with words elsewhere. It belongs to
 * that turn and that chat, is answered once, and is over with its turn. Nothing of it is stored: after a restart it is void.
 */
import type { Caller } from "../agent.ts";
import type { ChatAddress, InboundMessage } from "../chat.ts";
import type { Principal, Role, SessionKey, TurnId } from "../ids.ts";

export type ChatQuestion =
  | { readonly kind: "select"; readonly title: string; readonly options: readonly string[] }
  | { readonly kind: "confirm"; readonly title: string; readonly text?: string }
  /** `prefill`: what is there to begin with, to be changed. `many`: several lines are usual. */
  | {
      readonly kind: "input";
      readonly title: string;
      readonly placeholder?: string;
      readonly prefill?: string;
      readonly many?: true;
    };

/** `none`: nobody answered, nobody could be asked, or whoever was asked did not want to say. */
export type ChatAnswer =
  | { readonly kind: "chosen"; readonly option: string }
  | { readonly kind: "confirmed"; readonly yes: boolean }
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "none" };

/** The one place where questions are asked, and the only one that decides who may answer. */
export interface Questions {
  /** One after the other within a session. `timeoutMs`: how long whoever asks waits. Never rejects. */
  ask(question: ChatQuestion & { readonly timeoutMs?: number }, of: Caller, signal: AbortSignal): Promise<ChatAnswer>;
  /** Tells the chat something that needs no answer: short, and not often. Never rejects. */
  tell(note: ChatNote, of: Caller): Promise<void>;
  /** Oldest first. */
  pending(): readonly OpenQuestion[];
  /** Of a turn of this gateway. */
  answer(id: string, given: GivenAnswer, by: Answerer): AnswerVerdict;
  /** Of a turn of whichever gateway. Throws `node_silent`. */
  answerAnywhere(id: string, given: GivenAnswer, by: Answerer): Promise<AnswerVerdict>;
  /** Words that may answer a question of the chat they were said in; null: they do not, and are a message like any other. Of turns of this gateway. */
  hear(message: InboundMessage, by: { readonly role: Role; readonly sessionKey: SessionKey }): AnswerVerdict | null;
  /** Of turns of whichever gateway. One that does not answer has no question for them. */
  hearAnywhere(...said: Parameters<Questions["hear"]>): Promise<AnswerVerdict | null>;
}

export interface ChatNote {
  readonly text: string;
  readonly level: "info" | "warning" | "error";
}

/** `value`: what a program says. A text is one of the options, or words; true and false are yes and no; null: no answer is wanted. */
export type GivenAnswer =
  | { readonly kind: "press"; readonly at: number }
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "value"; readonly value: string | boolean | null };

export interface Answerer {
  readonly principal: Principal;
  readonly role: Role;
  /** Where a button was pressed; absent: not in a chat. */
  readonly at?: ChatAddress;
}

/** `say`: one short sentence for whoever answered. */
export type AnswerVerdict =
  | { readonly kind: "taken"; readonly say: string }
  | { readonly kind: "refused"; readonly because: "over" | "not_yours" | "unfit"; readonly say: string };

export interface OpenQuestion {
  readonly id: string;
  readonly question: ChatQuestion;
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  /** Who is asked. An owner may answer instead. */
  readonly principal: Principal;
  readonly askedAt: number;
  readonly expiresAt: number;
}

/** `said`: which option, or yes or no. Words that somebody wrote are told to nobody but the asker. */
export interface QuestionEnd {
  readonly how: "answered" | "expired" | "cancelled";
  readonly by: Principal | null;
  /** For people: a sentence. */
  readonly because: string;
  readonly said?: string;
}

/** What clients hear: a question, and later the same one with its end. One that nobody could be asked has an end from the beginning. */
export type QuestionNews = OpenQuestion & { readonly end: QuestionEnd | null };

// ── how a channel shows them ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a channel with buttons brings. Without it a question is a plain message, and the next words answer it. */
export interface QuestionMessages {
  /** More options than this become a numbered list that is answered with words. */
  readonly maxButtons: number;
  readonly maxLabelChars: number;
  /** Resolves when people can see it. A rejection means that nobody does. */
  show(asked: AskedQuestion, signal: AbortSignal): Promise<ShownQuestion>;
}

export interface AskedQuestion {
  /** Cannot be guessed: letters, digits, `-` and `_`, at most 40. */
  readonly id: string;
  readonly to: ChatAddress;
  readonly of: Principal;
  readonly sessionKey: SessionKey;
  /** Whole. Plain text, and what is shown of it is never cut. */
  readonly text: string;
  /** A button each, pressed by its number from 0; empty: words are wanted. */
  readonly labels: readonly string[];
}

export interface ShownQuestion {
  /** As the platform numbers the message; null: it is no message. */
  readonly messageId: string | null;
  /** Takes the buttons away and shows how it ended. Never rejects. */
  close(end: { readonly answered: boolean; readonly words: string }): Promise<void>;
}
