/** One line of the conversation: what a person said, what the assistant said, or what the gateway has to say about a turn. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { MediaRef, TranscriptItem } from "../../src/contracts/chat.ts";
import { changeMessage, react } from "../state/message-actions.ts";
import { chat, discardSend, refreshMedia, sendAgain, sendMessage } from "../state/console-state.ts";
import { shownApprovals, shownQuestions } from "../state/asking.ts";
import type { Live } from "../state/chat.ts";
import type { Send } from "../state/sends.ts";
import { isPicture, sizeText } from "../net/files.ts";
import { Html, Markdown } from "../text/markdown.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { editDraft } from "./composer.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icons.tsx";
import { anchorOf, Answered, ReplyButton } from "./reply.tsx";
import { ToolCard } from "./tool-card.tsx";

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
      <Answered replyTo={item.replyTo} />
      {item.attachments && item.attachments.length > 0 && <Files media={item.attachments} />}
      {item.text && <MessageText item={item} />}
      {item.editedAt !== undefined && <p class="row-note">Edited</p>}
      <Marks item={item} />
      {item.text && (
        <div class="row-actions">
          <ReplyButton item={item} />
          <CopyButton text={item.text} label="Copy message" />
          <Reactions item={item} />
        </div>
      )}
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

/** What the assistant did to a message: reactions, and that it is pinned. */
function Marks({ item: { ownReactions = [], pinned } }: { readonly item: TranscriptItem }) {
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
    <p class="row-note" data-testid="own-note">
      {item.text}
    </p>
  );
}

function UserMessage({ item }: { readonly item: TranscriptItem }) {
  const [changing, setChanging] = useState(false);
  return (
    <article
      id={anchorOf(item.id)}
      tabIndex={-1}
      class="row user"
      data-testid="message"
      data-role="user"
      data-kind="message"
    >
      <Speaker who={item.sender?.name ?? "You"} at={item.at} />
      <Answered replyTo={item.replyTo} />
      {item.attachments && item.attachments.length > 0 && <Files media={item.attachments} />}
      {item.turnId === null && changing ? (
        <ChangeText item={item} done={() => setChanging(false)} />
      ) : (
        item.text && (
          <div class="bubble" dir="auto">
            {item.text}
          </div>
        )
      )}
      {item.editedAt !== undefined && <p class="row-note">Edited</p>}
      <Marks item={item} />
      {item.turnId !== null && (
        <div class="row-actions">
          <ReplyButton item={item} />
        </div>
      )}
      {item.turnId === null && (
        <p class="row-note queued">
          Waiting for its turn{" "}
          {!changing && !item.text.startsWith("/") && (
            <button type="button" class="quiet small" onClick={() => setChanging(true)}>
              Change
            </button>
          )}
        </p>
      )}
    </article>
  );
}

/** Possible only while it waits; the gateway has the last word about that. */
function ChangeText({ item, done }: { readonly item: TranscriptItem; readonly done: () => void }) {
  const [text, setText] = useState(item.text);
  const [problem, setProblem] = useState("");
  const save = async () => {
    const refused = await changeMessage(item.id, text.trim());
    if (refused === null) done();
    else setProblem(refused);
  };
  return (
    <div class="bubble">
      <textarea aria-label="Change your message" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      {problem && <p role="alert">{problem}</p>}
      <button type="button" class="quiet small" disabled={text.trim() === ""} onClick={() => void save()}>
        Save
      </button>
      <button type="button" class="quiet small" onClick={done}>
        Leave as it is
      </button>
    </div>
  );
}

/** Heard, not seen: the shape and side of a message already say who speaks. */
function Speaker({ who, at }: { readonly who: string; readonly at: number }) {
  return (
    <h2 class="hidden">
      {who}, {new Date(at).toLocaleString()}
    </h2>
  );
}

export function SendRow({ send }: { readonly send: Send }) {
  const shown = send.attachments.filter(({ mimeType = "image/png" }) => isPicture(mimeType));
  const media = shown.map((one) => ({ ...one, mimeType: "", bytes: 0 }) as unknown as MediaRef);
  const files = send.attachments.filter((one) => !shown.includes(one));
  return (
    <article
      class="row user pending"
      data-testid="message"
      data-role="user"
      data-kind={send.refused === null ? "sending" : "failed"}
    >
      <Speaker who="You" at={send.at} />
      <Answered replyTo={send.replyTo} />
      {media.length > 0 && <Pictures media={media} />}
      {files.map(({ mediaId, name }) => (
        <span key={mediaId} class="picture-name">
          {name}
        </span>
      ))}
      {send.text && (
        <div class="bubble" dir="auto">
          {send.text}
        </div>
      )}
      {send.refused === null ? (
        <p class="row-note queued">Sending…</p>
      ) : (
        <div class="row-note failed" role="alert">
          <p>Not sent. {send.refused}</p>
          <div class="buttons">
            <button type="button" class="quiet small" onClick={() => sendAgain(send)}>
              Try again
            </button>
            <button type="button" class="quiet small" onClick={() => withdraw(send)}>
              Edit
            </button>
            <button type="button" class="quiet small" onClick={() => discardSend(send)}>
              Discard
            </button>
          </div>
        </div>
      )}
    </article>
  );
}

function withdraw(send: Send): void {
  editDraft(send.text);
  discardSend(send);
}

export function LiveRow({ live }: { readonly live: Live }) {
  const asked = shownApprovals.value;
  return (
    <>
      {live.tools.map((tool) => (
        <Fragment key={tool.callId}>
          <ToolCard call={tool} />
          {asked
            .filter(({ callId }) => callId === tool.callId)
            .map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
        </Fragment>
      ))}
      <article
        class="row assistant live"
        data-testid="live"
        data-role="assistant"
        data-kind="live"
        aria-busy={!live.ended}
      >
        {live.text ? <Markdown text={live.text} /> : <Thinking words={whatItDoes(live)} />}
      </article>
    </>
  );
}

function whatItDoes({ tools, waiting }: Live): string {
  if (waiting !== null) return waiting;
  if (tools.some(({ status }) => status === "pending")) return "The assistant waits for your approval…";
  if (shownQuestions.value.some(({ end }) => end === null)) return "The assistant waits for your answer…";
  return tools.some(({ status }) => status === "running")
    ? "The assistant is using a tool…"
    : "The assistant is thinking…";
}

function Thinking({ words }: { readonly words: string }) {
  return (
    <p class="thinking">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {words}
    </p>
  );
}

function Notice({ item }: { readonly item: TranscriptItem }) {
  const asked = askedBefore(item);
  const media = chat.value.mediaUrls;
  const resend = () => {
    const attached = asked.flatMap((one) => one.attachments ?? []);
    const text = asked.map((one) => one.text).filter((said) => said !== "");
    sendMessage(
      text.join("\n\n"),
      attached.map((one) => ({ ...one, url: media[one.mediaId] ?? "" })),
    );
  };
  const wanted = item.outcome === "aborted"; // somebody pressed stop: no alarm
  return (
    <article
      class="row notice"
      data-testid="message"
      data-role={item.role}
      data-kind="notice"
      data-outcome={item.outcome}
    >
      <Icon name={wanted ? "stop" : "alert"} size={18} />
      <p>{item.text}</p>
      {asked.length > 0 && (
        <button type="button" class="quiet small" onClick={resend}>
          <Icon name="retry" size={16} /> Retry
        </button>
      )}
    </article>
  );
}

/** What the notice's turn was to answer: several messages when it had collected them. */
function askedBefore(notice: TranscriptItem): readonly TranscriptItem[] {
  const said = chat.value.items.filter((one) => one.role === "user" && one.at <= notice.at);
  if (notice.turnId === null) return said.slice(-1);
  return said.filter((one) => one.turnId === notice.turnId);
}

/** What a browser shows as a picture. SVG is not among them: it can carry scripts, and is only ever downloaded. */
const isShown = ({ mimeType, as }: MediaRef): boolean => isPicture(mimeType) && as !== "document";

function Files({ media }: { readonly media: readonly MediaRef[] }) {
  const pictures = media.filter(isShown);
  return (
    <>
      {pictures.length > 0 && <Pictures media={pictures} />}
      {media
        .filter((one) => !isShown(one))
        .map((one) => (
          <FileChip key={one.mediaId} media={one} />
        ))}
    </>
  );
}

function FileChip({ media }: { readonly media: MediaRef }) {
  const url = chat.value.mediaUrls[media.mediaId];
  if (!url) {
    refreshMedia();
    return <span class="picture-name">{media.name}</span>;
  }
  return (
    <a class="file-chip" data-testid="file" href={url} download={media.name} rel="noopener noreferrer">
      <Icon name="file" size={18} />
      <span class="file-name">{media.name}</span>
      <span class="file-size">{sizeText(media.bytes)}</span>
    </a>
  );
}

function Pictures({ media }: { readonly media: readonly MediaRef[] }) {
  return (
    <div class="pictures">
      {media.map((one) => (
        <Picture key={one.mediaId} media={one} />
      ))}
    </div>
  );
}

function Picture({ media }: { readonly media: MediaRef }) {
  const url = chat.value.mediaUrls[media.mediaId];
  if (!url) {
    refreshMedia();
    return <span class="picture-name">{media.name}</span>;
  }
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      <img src={url} alt={media.name} loading="lazy" onError={refreshMedia} />
    </a>
  );
}
