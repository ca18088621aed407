/** `pi-gw questions list|answer`: what running turns want to know from people, and answering it from a terminal. */
import { writeOut } from "../../kit/marks/written-out.ts";
import { visible } from "../../observe/index.ts";
import { printAnswer, printList } from "../ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

export interface AnswerFlags extends CommonFlags {
  readonly yes?: boolean;
  readonly no?: boolean;
  readonly dismiss?: boolean;
}

const MS_PER_SECOND = 1_000;

export function questionsList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/questions", {
    line: (question) => questionText(world, question),
    none: "No question is open.",
  });
}

export function questionsAnswer(
  world: CliWorld,
  id: string,
  words: readonly string[],
  flags: AnswerFlags,
): Promise<number> {
  const body = { answer: answerOf(words, flags) };
  const path = `/api/questions/${encodeURIComponent(id)}`;
  return printAnswer(world, flags, { method: "POST", path: path, body }, (answer) => visible(textOf(answer["said"])));
}

function answerOf(words: readonly string[], { yes, no, dismiss }: AnswerFlags): string | boolean | null {
  if (dismiss) return null;
  if (yes || no) return yes === true;
  return words.join(" ");
}

/** Whole: nobody should answer a part of it. */
function questionText({ clock }: CliWorld, one: Fields): string {
  const seconds = Math.max(0, Math.ceil((numberOf(one["expiresAt"]) - clock.now()) / MS_PER_SECOND));
  const question = recordOf(one["question"]);
  const facts = [one["id"], "for", one["principal"], "in", one["sessionKey"]].map(textOf).join(" ");
  const options = listOf(question["options"]).map((option) => `- ${textOf(option)}`);
  const asked = [question["title"], question["text"], question["placeholder"], question["prefill"]].map(textOf);
  const lines = [...asked.filter((line) => line !== ""), ...options].join("\n");
  return `${visible(`${facts}, ${seconds} s left`)}\n${writeOut(lines)}\n`;
}
