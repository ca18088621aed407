/** One line of the conversation: what a person said, what the assistant said, or what the gateway has to say about a turn. */
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { react } from "../../state/message-actions.ts";
import { Html, Markdown } from "../../text/markdown.tsx";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import { ToolCard } from "../tool-card.tsx";
import { Files } from "./files.tsx";
import { GoOn } from "./go-on.tsx";
import { Notice } from "./notice.tsx";
import { Reasoning } from "./reasoning.tsx";
import { anchorOf, Answered, ReplyButton } from "./reply.tsx";
import { Marks, RowTime, Speaker } from "./row-parts.tsx";
import { UserMessage } from "./user-message.tsx";

export function Message({ item }: { readonly item: TranscriptItem }) {
  if (item.role === "tool") {
    return <ToolCard call={{ ...item, tool: item.tool ?? "tool", status: item.status ?? "unknown" }} />;
  }
  if (item.kind === "notice") return <Notice item={item} />;
  if (item.origin !== undefined) return <OwnNote item={item} />;
  if (item.role === "user") return <UserMessage item={item} />;
  return (
    <article
      id={anchorOf(item.id)}
      tabIndex={-1}
      class="row assistant"
      data-testid="message"
      data-role="assistant"
      data-kind={item.kind ?? "reply"}
    >
      <Speaker who="Assistant" at={item.at} />
      {item.reasoned && item.turnId !== null && <Reasoning turnId={item.turnId} />}
      <Answered replyTo={item.replyTo} />
      {item.attachments && item.attachments.length > 0 && <Files media={item.attachments} />}
      {item.text && <MessageText item={item} />}
      {item.editedAt !== undefined && <p class="row-note">Edited</p>}
      <Marks item={item} />
      <div class="row-foot">
        <RowTime at={item.at} />
        {item.text && (
          <div class="row-actions">
            <ReplyButton item={item} />
            <CopyButton text={item.text} label="Copy message" />
            <Reactions item={item} />
            <GoOn item={item} />
          </div>
        )}
      </div>
    </article>
  );
}

/** As its sender meant it; Markdown is the usual way. */
function MessageText({ item: { text, format } }: { readonly item: TranscriptItem }) {
  if (format === "plain")
    return (
      <div class="prose plain" dir="auto">
        {text}
      </div>
    );
  if (format === "html") return <Html text={text} />;
  return <Markdown text={text} />;
}

/** The assistant hears of it with the next message. Drawn, because not every machine has a font for the emoji themselves. */
const REACTIONS = [
  { emoji: "👍", icon: "good", words: "Good answer" },
  { emoji: "👎", icon: "bad", words: "Bad answer" },
] as const;

function Reactions({ item }: { readonly item: TranscriptItem }) {
  return REACTIONS.map(({ emoji, icon, words }) => {
    const chosen = item.reaction === emoji;
    return (
      <button
        key={emoji}
        type="button"
        class={`quiet small${chosen ? " chosen" : ""}`}
        aria-label={words}
        aria-pressed={chosen}
        title={words}
        onClick={() => react(item.id, chosen ? null : emoji)}
      >
        <Icon name={icon} size={16} />
      </button>
    );
  });
}

/** Nobody typed it: it says why the assistant speaks. */
function OwnNote({ item }: { readonly item: TranscriptItem }) {
  return (
    <p class="row-note" data-testid="own-note" dir="auto">
      {item.text}
    </p>
  );
}
