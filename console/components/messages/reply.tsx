/** Replies to one message: the button below it, the quote above the composer, and the quote of a message that was sent. */
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { replyingTo, replyTo, replyToNone, shortText } from "../../state/replying.ts";
import { readOnlyBecause } from "../../state/route.ts";
import { chat, openKey } from "../../state/console-state.ts";
import { focusComposer } from "../composer/composer-focus.ts";
import { Icon } from "../icons.tsx";

/** What a message is found by in the web console. */
export const anchorOf = (id: string): string => `message-${id}`;

/** Not where nobody can write. */
export function ReplyButton({ item }: { readonly item: TranscriptItem }) {
  if (readOnlyBecause(openKey.value) !== null) return null;
  const begin = () => {
    replyTo(item);
    focusComposer();
  };
  return (
    <button type="button" class="quiet small" data-testid="reply" aria-label="Reply to this message" onClick={begin}>
      <Icon name="reply" size={16} /> Reply
    </button>
  );
}

/** The message that this one replies to, in short; a press shows it where it stands. */
export function Answered({ replyTo: id }: { readonly replyTo?: string | undefined }) {
  if (id === undefined) return null;
  const answered = chat.value.items.find((item) => item.id === id);
  const words = answered ? shortText(answered) : "an earlier message";
  const show = () => {
    const row = document.getElementById(anchorOf(id));
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
  };
  return (
    <blockquote class="row-answered" data-testid="answered" dir="auto">
      {answered ? (
        <button
          type="button"
          class="answered-link"
          aria-label={`In reply to: ${words}`}
          title="Show the message"
          onClick={show}
        >
          {words}
        </button>
      ) : (
        words
      )}
    </blockquote>
  );
}

/** Above the composer: what is replied to, and a way out of it. */
export function ReplyingTo() {
  const item = replyingTo.value;
  if (!item) return null;
  const leave = () => {
    replyToNone();
    focusComposer();
  };
  return (
    <div class="replying" data-testid="replying" role="group" aria-label="Replying to">
      <p class="replying-text" dir="auto">
        <span class="replying-who">{item.role === "assistant" ? "Assistant" : (item.sender?.name ?? "You")}</span>{" "}
        {shortText(item)}
      </p>
      <button
        type="button"
        class="icon-button"
        aria-label="Do not reply to this message"
        title="Do not reply (Esc)"
        onClick={leave}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
