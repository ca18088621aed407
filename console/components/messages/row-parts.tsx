/** What rows of a conversation share: who speaks, when, and what the assistant did to a message. */
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { clockText } from "../../net/error-text.ts";
import { minute } from "../../state/screen.ts";
import { Icon } from "../icons.tsx";
import { dateText } from "../../text/dates.ts";

/** What the assistant did to a message: reactions, and that it is pinned. */
export function Marks({ item: { ownReactions = [], pinned } }: { readonly item: TranscriptItem }) {
  if (ownReactions.length === 0 && !pinned) return null;
  return (
    <p class="row-marks" data-testid="marks">
      {pinned && (
        <span class="mark" aria-label="Pinned">
          <Icon name="pin" size={14} /> Pinned
        </span>
      )}
      {ownReactions.map((emoji) => (
        <span key={emoji} class="mark" role="img" aria-label={`The assistant reacted with ${emoji}`}>
          {emoji}
        </span>
      ))}
    </p>
  );
}

/** Heard, not seen: the shape and side of a message already say who speaks. */
export function Speaker({ who, at }: { readonly who: string; readonly at: number }) {
  return (
    <h2 class="hidden">
      {who}, {dateText(at, "whole")}
    </h2>
  );
}

/** When it was said: the time alone for today, with the day before that. */
export function RowTime({ at }: { readonly at: number }) {
  const when = new Date(at);
  return (
    <time
      class="row-time"
      dir="auto"
      data-testid="row-time"
      dateTime={when.toISOString()}
      title={dateText(at, "whole")}
    >
      {clockText(at, minute.value)}
    </time>
  );
}
