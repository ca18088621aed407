/** A button for what cannot be undone: it asks first, and the question takes the focus, so that it can be answered where one is. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Problem, useAction } from "./use-action.tsx";

interface Props {
  /** What is done: "Remove". */
  readonly verb: string;
  /** For screen readers: what it is done to, "the key of Ann". */
  readonly to: string;
  readonly question: ComponentChildren;
  /** What is done instead; without it: "Keep". */
  readonly otherwise?: string;
  /** Null when it is done; otherwise why not. */
  readonly act: () => Promise<string | null>;
  /** The focus has to go somewhere. */
  readonly onDone: () => void;
  /** Buttons beside it, which make room for the question. */
  readonly children?: ComponentChildren;
}

export function AskFirst({ verb, to, question, otherwise = "Keep", act, onDone, children }: Props) {
  const asking = useSignal(false);
  const { problem, busy, run } = useAction();
  const confirm = async (): Promise<void> => {
    if (await run(act)) onDone();
  };
  if (!asking.value)
    return (
      <div class="approval-buttons" role="group" aria-label={`What to do with ${to}`}>
        {children}
        <button
          type="button"
          class="quiet small edged deny"
          aria-label={`${verb} ${to}…`}
          onClick={() => (asking.value = true)}
        >
          {verb}…
        </button>
      </div>
    );
  return (
    <div class="approval-buttons asking-first" role="group" aria-label={`${verb} ${to}?`}>
      <span class="asking-text">{question}</span>
      <button type="button" class="quiet small edged deny" ref={focus} disabled={busy} onClick={() => void confirm()}>
        {verb}
      </button>
      <button type="button" class="quiet small edged" onClick={() => (asking.value = false)}>
        {otherwise}
      </button>
      <Problem text={problem} />
    </div>
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
