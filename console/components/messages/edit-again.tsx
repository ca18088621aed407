/** A message of one's own in a field: sent again with other words, from where it stood. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { resend } from "../../state/message-actions.ts";
import { Problem, useAction } from "../parts/use-action.tsx";

interface Props {
  readonly item: TranscriptItem;
  readonly done: () => void;
}

export function EditAgain({ item, done }: Props) {
  const [text, setText] = useState(item.text);
  const field = useRef<HTMLTextAreaElement>(null);
  const { busy, problem, run } = useAction();
  useEffect(() => field.current?.focus(), []);
  const send = async () => {
    if (text.trim() !== "" && (await run(() => resend(item.id, text.trim())))) done();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") done();
    else if (event.key === "Enter" && !event.shiftKey) void send();
    else return;
    event.preventDefault();
    event.stopPropagation(); // Escape would stop a running answer
  };
  return (
    <div class="bubble editing">
      <textarea
        ref={field}
        data-testid="edit-again"
        aria-label="Change your message and send it again"
        dir="auto"
        rows={Math.min(12, text.split("\n").length + 1)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <p class="row-note">What came after it is replaced. What tools did stays done.</p>
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" class="quiet small edged" onClick={done}>
          Leave as it is
        </button>
        <button type="button" class="primary" disabled={busy || text.trim() === ""} onClick={() => void send()}>
          Send again
        </button>
      </div>
    </div>
  );
}
