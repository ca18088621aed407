/** What a person said: shown as it was written, with what can be done about it. */
import { useState } from "preact/hooks";
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { turnRuns } from "../../state/console-state.ts";
import { changeMessage } from "../../state/message-actions.ts";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import { EditAgain } from "./edit-again.tsx";
import { Files } from "./files.tsx";
import { canSendAgain } from "./go-on.tsx";
import { anchorOf, Answered, ReplyButton } from "./reply.tsx";
import { Marks, RowTime, Speaker } from "./row-parts.tsx";

export function UserMessage({ item }: { readonly item: TranscriptItem }) {
  const [changing, setChanging] = useState(false);
  const done = () => setChanging(false);
  const sent = item.turnId !== null;
  const canEdit = item.text !== "" && !item.text.startsWith("/") && canSendAgain(item.turnId);
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
      {changing ? (
        sent ? (
          <EditAgain item={item} done={done} />
        ) : (
          <ChangeText item={item} done={done} />
        )
      ) : (
        item.text && (
          <div class="bubble" dir="auto">
            {item.text}
          </div>
        )
      )}
      {item.editedAt !== undefined && <p class="row-note">Edited</p>}
      <Marks item={item} />
      {sent && !changing && (
        <div class="row-foot">
          <div class="row-actions">
            {canEdit && (
              <button
                type="button"
                class="quiet small"
                data-testid="edit"
                aria-label="Edit this message and send it again"
                disabled={turnRuns.value}
                onClick={() => setChanging(true)}
              >
                <Icon name="edit" size={16} /> Edit
              </button>
            )}
            <ReplyButton item={item} />
            {item.text && <CopyButton text={item.text} label="Copy message" />}
          </div>
          <RowTime at={item.at} />
        </div>
      )}
      {!sent && (
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
      <textarea
        aria-label="Change your message"
        dir="auto"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
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
