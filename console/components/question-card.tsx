/** What a running turn wants to know, where it belongs in the conversation: the question, how long there is, and a way to answer. */
import { useState } from "preact/hooks";
import type { ChatQuestion, QuestionNews } from "../../src/contracts/channels/question.ts";
import { answerQuestion } from "../state/asking.ts";
import { AnswerCard, type Answering, TimeLeft, useAnswer } from "./answer-card.tsx";
import { Problem } from "./parts/use-action.tsx";

/** Null: it was dismissed. */
type Value = string | boolean | null;

export function QuestionCard({ asked }: { readonly asked: QuestionNews }) {
  const { id, question, end } = asked;
  const answering = useAnswer<Value>((value) => answerQuestion(id, value));
  return (
    <AnswerCard
      kind="question"
      icon={end === null ? "unknown" : end.how === "answered" ? "check" : "clock"}
      title={end === null ? question.title : `${question.title} · ${end.because}`}
      end={end?.how ?? null}
      answeredHere={answering.answeredHere}
    >
      {end === null && <Open asked={asked} answering={answering} />}
    </AnswerCard>
  );
}

function Open({ asked, answering }: { readonly asked: QuestionNews; readonly answering: Answering<Value> }) {
  const { question, principal, expiresAt } = asked;
  return (
    <>
      {question.kind === "confirm" && question.text && <p class="asked-text">{question.text}</p>}
      <p class="approval-who">
        {principal !== "operator" && (
          <>
            For <b>{principal}</b>.{" "}
          </>
        )}
        <TimeLeft until={expiresAt} />
      </p>
      {question.kind === "input" ? (
        <TextAnswer question={question} answering={answering} />
      ) : (
        <Choices question={question} answering={answering} />
      )}
      <Problem text={answering.problem} />
    </>
  );
}

function Dismiss({ sent, answer }: Answering<Value>) {
  return (
    <button type="button" class="quiet" disabled={sent} onClick={() => answer(null)}>
      Dismiss
    </button>
  );
}

interface ChoicesProps {
  readonly question: Exclude<ChatQuestion, { kind: "input" }>;
  readonly answering: Answering<Value>;
}

function Choices({ question, answering }: ChoicesProps) {
  const choices: readonly (readonly [string, Value])[] =
    question.kind === "confirm"
      ? [
          ["Yes", true],
          ["No", false],
        ]
      : question.options.map((option) => [option, option] as const);
  return (
    <div class="approval-buttons">
      {choices.map(([label, value], at) => (
        <button
          key={at}
          type="button"
          class="quiet edged"
          disabled={answering.sent}
          onClick={() => answering.answer(value)}
        >
          {label}
        </button>
      ))}
      <Dismiss {...answering} />
    </div>
  );
}

interface TextAnswerProps {
  readonly question: Extract<ChatQuestion, { kind: "input" }>;
  readonly answering: Answering<Value>;
}

function TextAnswer({ question, answering }: TextAnswerProps) {
  const [text, setText] = useState(question.prefill ?? "");
  const field = {
    class: "asked-field",
    dir: "auto" as const,
    value: text,
    placeholder: question.placeholder ?? "",
    "aria-label": question.title,
    disabled: answering.sent,
    maxLength: 32_000,
    onInput: (event: Event) => setText((event.currentTarget as HTMLInputElement | HTMLTextAreaElement).value),
  };
  const submit = (event: Event) => {
    event.preventDefault();
    answering.answer(text);
  };
  return (
    <form onSubmit={submit}>
      {question.many ? <textarea {...field} rows={5} /> : <input {...field} type="text" autocomplete="off" />}
      <div class="approval-buttons">
        <button type="submit" class="primary" disabled={answering.sent}>
          Answer
        </button>
        <Dismiss {...answering} />
      </div>
    </form>
  );
}
