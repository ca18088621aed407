/** A message on its way to the gateway, or one that it refused. */
import type { MediaRef } from "../../../src/contracts/chat.ts";
import { isPicture } from "../../net/files.ts";
import { discardSend, sendAgain } from "../../state/console-state.ts";
import type { Send } from "../../state/sends.ts";
import { editDraft } from "../composer/draft.ts";
import { Pictures } from "./files.tsx";
import { Answered } from "./reply.tsx";
import { Speaker } from "./row-parts.tsx";

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
        <span key={mediaId} class="picture-name" dir="auto">
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
