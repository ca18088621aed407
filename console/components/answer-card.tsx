/** What approvals and questions have in common: the card, which takes the focus when its buttons go, and an answer on its way. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { duration } from "../net/error-text.ts";
import { Icon, type IconName } from "./icons.tsx";

const TICK_MS = 1_000;

interface CardProps {
  readonly kind: "approval" | "question";
  readonly icon: IconName;
  readonly title: ComponentChildren;
  /** How it ended; null: it is open. */
  readonly end: string | null;
  /** Whether it was answered here, so that what had the focus is gone with the buttons. */
  readonly answeredHere: boolean;
  readonly children: ComponentChildren;
}

export function AnswerCard({ kind, icon, title, end, answeredHere, children }: CardProps) {
  const card = useRef<HTMLElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (end !== null && answeredHere) card.current?.focus();
  }, [end]);
  return (
    <section
      ref={card}
      class={kind === "question" ? "approval asked" : "approval"}
      data-testid={kind}
      data-decision={end ?? "open"}
      aria-labelledby={titleId}
      tabindex={-1}
    >
      <h2 id={titleId}>
        <Icon name={icon} size={18} />
        <span>{title}</span>
      </h2>
      {children}
    </section>
  );
}

export interface Answering<T> {
  /** It was answered here, even if the gateway refused the answer. */
  readonly answeredHere: boolean;
  /** An answer is on its way, or was taken. */
  readonly sent: boolean;
  /** Why the gateway refused it. */
  readonly problem: string | null;
  answer(value: T): void;
}

/** `send` gives null when the gateway has taken the answer, otherwise why not. */
export function useAnswer<T>(send: (value: T) => Promise<string | null>): Answering<T> {
  const [answeredHere, setAnsweredHere] = useState(false);
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const deliver = async (value: T) => {
    setAnsweredHere(true);
    setSent(true);
    const refused = await send(value);
    setProblem(refused);
    if (refused !== null) setSent(false);
  };
  return { answeredHere, sent, problem, answer: (value) => void deliver(value) };
}

export function TimeLeft({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <span class="approval-time">{until > now ? `${duration(until - now)} left.` : "Its time is up."}</span>;
}
