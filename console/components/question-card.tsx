/** What a running turn wants to know, where it belongs in the conversation: the question, how long there is, and a way to answer. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ChatQuestion, QuestionNews } from "../../src/contracts/channels/question.ts";
import { answerQuestion } from "../state/approval-state.ts";
import { TimeLeft } from "./approval-card.tsx";
import { Icon } from "./icons.tsx";

type Value = string | boolean | null;

export function QuestionCard({ asked }: { readonly asked: QuestionNews }) {
  const { question, end } = asked;
  const card = useRef<HTMLElement>(null);
  const answered = useRef(false);
  const title = useId();
  useEffect(() => {
    if (end !== null && answered.current) card.current?.focus(); // what had the focus is gone
  }, [end]);
  return (
    <section
      ref={card}
      class="approval asked"
      data-testid="question"
      data-decision={end?.how ?? "open"}
      aria-labelledby={title}
      tabindex={-1}
    >
      <h2 id={title}>
        <Icon name={end === null ? "unknown" : end.how === "answered" ? "check" : "clock"} size={18} />
        <span>
          {question.title}
          {end !== null && ` · ${end.because}`}
        </span>
      </h2>
      {end === null && <Open asked={asked} onAnswer={() => (answered.current = true)} />}
    </section>
  );
}

function Open({ asked, onAnswer }: { readonly asked: QuestionNews; readonly onAnswer: () => void }) {
  const { id, question, principal, expiresAt } = asked;
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const answer = async (value: Value) => {
    onAnswer();
    setSent(true);
    const said = await answerQuestion(id, value);
    setProblem(said);
    if (said !== null) setSent(false);
  };
  const dismiss = (
    <button type="button" class="quiet" disabled={sent} onClick={() => void answer(null)}>
      Dismiss
    </button>
  );
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
        <Words question={question} sent={sent} dismiss={dismiss} onSay={(text) => void answer(text)} />
      ) : (
        <Choices question={question} sent={sent} dismiss={dismiss} onChoose={(value) => void answer(value)} />
      )}
      {problem !== null && (
        <p class="row-note failed" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly question: Exclude<ChatQuestion, { kind: "input" }>;
  readonly sent: boolean;
  readonly dismiss: ComponentChildren;
  readonly onChoose: (value: Value) => void;
}

function Choices({ question, sent, dismiss, onChoose }: ChoicesProps) {
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
        <button key={at} type="button" class="quiet edged" disabled={sent} onClick={() => onChoose(value)}>
          {label}
        </button>
      ))}
      {dismiss}
    </div>
  );
}

interface WordsProps {
  readonly question: Extract<ChatQuestion, { kind: "input" }>;
  readonly sent: boolean;
  readonly dismiss: ComponentChildren;
  readonly onSay: (text: string) => void;
}

function Words({ question, sent, dismiss, onSay }: WordsProps) {
  const [text, setText] = useState(question.prefill ?? "");
  const field = {
    class: "asked-field",
    value: text,
    placeholder: question.placeholder ?? "",
    "aria-label": question.title,
    disabled: sent,
    maxLength: 32_000,
    onInput: (event: Event) => setText((event.currentTarget as HTMLInputElement | HTMLTextAreaElement).value),
  };
  const say = (event: Event) => {
    event.preventDefault();
    onSay(text);
  };
  return (
    <form onSubmit={say}>
      {question.many ? <textarea {...field} rows={5} /> : <input {...field} type="text" autocomplete="off" />}
      <div class="approval-buttons">
        <button type="submit" class="primary" disabled={sent}>
          Answer
        </button>
        {dismiss}
      </div>
    </form>
  );
}
