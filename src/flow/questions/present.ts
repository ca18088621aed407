/** A question as people read it: its text, whole, and the buttons below it. Its hidden characters have been written out. Pure. */
import type { ChatQuestion, QuestionMessages } from "../../contracts/channels/question.ts";

export interface Presented {
  readonly text: string;
  /** Empty: words are wanted. */
  readonly labels: readonly string[];
}

type Buttons = Pick<QuestionMessages, "maxButtons" | "maxLabelChars">;

/** For chats without any. */
export const NO_BUTTONS: Buttons = { maxButtons: 0, maxLabelChars: 0 };

const YES_NO: readonly string[] = ["Yes", "No"];

export function present(question: ChatQuestion, buttons: Buttons): Presented {
  const { title } = question;
  switch (question.kind) {
    case "confirm": {
      const text = lines(title, question.text ?? "");
      if (buttons.maxButtons >= YES_NO.length) return { text, labels: YES_NO };
      return { text: lines(text, "Answer with yes or no."), labels: [] };
    }
    case "select":
      return presentOptions(title, question.options, buttons);
    case "input": {
      const { placeholder, prefill } = question;
      const before = prefill ? `It says now:\n${prefill}` : "";
      return { text: lines(title, placeholder ? `(${placeholder})` : "", before), labels: [] };
    }
  }
}

/** A button shows its option whole, or its number: nobody chooses what they cannot read. */
function presentOptions(title: string, options: readonly string[], buttons: Buttons): Presented {
  const fit = options.every((option) => option.trim() !== "" && option.length <= buttons.maxLabelChars);
  if (options.length <= buttons.maxButtons && fit) return { text: title, labels: options };
  const list = options.map((option, at) => `${at + 1}. ${option}`).join("\n");
  if (options.length <= buttons.maxButtons)
    return { text: lines(title, list), labels: options.map((_option, at) => String(at + 1)) };
  return { text: lines(title, list, `Answer with a number from 1 to ${options.length}.`), labels: [] };
}

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
