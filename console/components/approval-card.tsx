/** A question to the owner, where it belongs in the conversation: what would run, for whom, how long there is, and three answers. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApprovalDecision } from "../../src/contracts/tools/approval.ts";
import { duration } from "../net/error-text.ts";
import { decide } from "../state/approval-state.ts";
import type { Question } from "../state/approvals.ts";
import { DECIDED } from "../state/questions.ts";
import { Icon, type IconName } from "./icons.tsx";

const TICK_MS = 1_000;
const ENDS: Readonly<Record<NonNullable<Question["decision"]>, IconName>> = {
  once: "check",
  session: "check",
  deny: "blocked",
  expired: "clock",
};

export function ApprovalCard({ question }: { readonly question: Question }) {
  const { id, tool, decision } = question;
  const card = useRef<HTMLElement>(null);
  const answered = useRef(false);
  useEffect(() => {
    if (decision !== null && answered.current) card.current?.focus(); // the button that had the focus is gone
  }, [decision]);
  return (
    <section
      ref={card}
      class="approval"
      data-testid="approval"
      data-decision={decision ?? "open"}
      aria-labelledby={`${id}-title`}
      tabindex={-1}
    >
      <h2 id={`${id}-title`}>
        <Icon name={decision === null ? "clock" : ENDS[decision]} size={18} />
        <span>
          <code>{tool}</code> {decision === null ? "waits for your approval" : `· ${DECIDED[decision]}`}
        </span>
      </h2>
      {question.say !== undefined && <p class="because">{question.say}</p>}
      {decision === null && <Open question={question} onAnswer={() => (answered.current = true)} />}
    </section>
  );
}

function Open({ question, onAnswer }: { readonly question: Question; readonly onAnswer: () => void }) {
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const answer = async (decision: ApprovalDecision) => {
    onAnswer();
    setSent(true);
    const said = await decide(question.id, decision);
    setProblem(said);
    if (said !== null) setSent(false);
  };
  const button = (decision: ApprovalDecision, words: string, look: string) => (
    <button type="button" class={look} disabled={sent} onClick={() => void answer(decision)}>
      {words}
    </button>
  );
  return (
    <>
      <p class="approval-who">
        For <b>{question.principal}</b>, because {question.because}. <TimeLeft until={question.expiresAt} />
      </p>
      <pre tabindex={0} aria-label="What it would run with">
        {question.shown}
      </pre>
      <div class="approval-buttons">
        {button("once", "Allow once", "primary")}
        {button("session", "Allow for this conversation", "quiet edged")}
        {button("deny", "Deny", "quiet edged deny")}
      </div>
      {problem !== null && (
        <p class="row-note failed" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

export function TimeLeft({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <span class="approval-time">{until > now ? `${duration(until - now)} left.` : "Its time is up."}</span>;
}
