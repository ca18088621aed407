/** Where a message is written and sent. It never lets go of words before the web console has taken them over. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { line, openKey, sendMessage, stopTurn, turnRuns } from "../../state/console-state.ts";
import { noteKeystroke } from "../../state/preparing.ts";
import { replyingTo, replyToNone } from "../../state/replying.ts";
import { Icon } from "../icons.tsx";
import { ReplyingTo } from "../messages/reply.tsx";
import { AnsweringButton } from "./answering-button.tsx";
import { addImages, clearImages, images, imageProblem, Thumbnails } from "./attachments.tsx";
import { focusAsked } from "./composer-focus.ts";
import { draft, write } from "./draft.ts";
import { SLASH_LIST_ID, slashKey, SlashMenu, slashOptionId } from "./slash-menu.tsx";
import { VoiceButton } from "./voice-button.tsx";

function uploadsRunning(): boolean {
  return images.value.some((image) => image.state === "uploading");
}

function canSend(): boolean {
  const done = images.value.some((image) => image.state === "done");
  return (draft.value.trim() !== "" || done) && !uploadsRunning();
}

/** Words alone join a running answer; files and commands wait for a turn of their own. */
function canSteer(): boolean {
  const text = draft.value.trim();
  return turnRuns.value && text !== "" && !text.startsWith("/") && images.value.length === 0;
}

function steer(): void {
  if (!canSteer()) return;
  sendMessage(draft.value.trim(), [], { steer: true });
  replyToNone();
  write("");
}

function submit(): void {
  if (!canSend()) return;
  const attached = images.value.flatMap((image) =>
    image.state === "done"
      ? [{ mediaId: image.mediaId, name: image.name, mimeType: image.mimeType, url: image.url }]
      : [],
  );
  const replyTo = replyingTo.value?.id;
  sendMessage(draft.value.trim(), attached, replyTo === undefined ? {} : { replyTo });
  replyToNone();
  write("");
  clearImages();
}

function onKeyDown(event: KeyboardEvent): void {
  if (slashKey(event)) return;
  if (event.key === "Escape" && replyingTo.value && !event.isComposing) {
    event.preventDefault();
    event.stopPropagation(); // the same key stops a running answer
    return replyToNone();
  }
  // While an input method composes, Enter chooses a word and must not send.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  if ((event.ctrlKey || event.metaKey) && canSteer()) steer();
  else submit();
}

export function Composer() {
  const input = useRef<HTMLTextAreaElement>(null);
  useGrowing(input);
  useFocus(input);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <ReplyingTo />
      <Thumbnails />
      {imageProblem.value && (
        <p class="composer-problem" role="alert">
          {imageProblem.value}
        </p>
      )}
      <SlashMenu />
      {/* shown below, and before the message field on the way of Tab: every area stays ten stops away from there */}
      <div class="composer-foot">
        <AnsweringButton />
        {canSteer() && (
          <button
            type="button"
            class="quiet small edged steer"
            data-testid="steer"
            title="Say it into the running answer (Ctrl+Enter)"
            onClick={steer}
          >
            <Icon name="steer" size={16} /> Steer
          </button>
        )}
        <p class="hint">
          {turnRuns.value
            ? "Enter sends it as the next message · Ctrl+Enter steers the running answer · Esc stops it"
            : "Enter sends · Shift+Enter starts a new line · / shows commands"}
        </p>
      </div>
      <div class="composer-box">
        <AttachButton />
        <VoiceButton />
        <textarea
          ref={input}
          id="composer"
          dir="auto"
          rows={1}
          data-testid="composer"
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={slashOptionId.value && SLASH_LIST_ID}
          aria-activedescendant={slashOptionId.value}
          placeholder={
            line.value === "open" ? "Message the assistant" : "Write now; it is sent when the connection is back"
          }
          value={draft.value}
          onInput={(event) => {
            noteKeystroke();
            write(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
          onPaste={(event) => takeFiles(event, event.clipboardData?.files)}
        />
        {turnRuns.value && (
          <button
            type="button"
            class="round stop"
            data-testid="stop"
            aria-label="Stop"
            title="Stop (Esc)"
            onClick={stopTurn}
          >
            <Icon name="stop" />
          </button>
        )}
        <button
          type="submit"
          class="round send"
          data-testid="send"
          aria-label="Send"
          title="Send (Enter)"
          disabled={!canSend()}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}

function AttachButton() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="round quiet"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-label="Files to attach"
        data-testid="attach"
        multiple
        onChange={(event) => {
          addImages([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

export function takeFiles(event: Event, files: FileList | undefined): void {
  if (!files || files.length === 0) return;
  event.preventDefault();
  addImages([...files]);
}

/** Not on a touch screen, where the keyboard would cover half of the conversation, unless the person asked for it. */
function useFocus(input: { readonly current: HTMLTextAreaElement | null }): void {
  const answeredTo = useRef(focusAsked.value);
  useLayoutEffect(() => {
    const asked = focusAsked.value !== answeredTo.current;
    answeredTo.current = focusAsked.value;
    if (asked || matchMedia("(pointer: fine)").matches) input.current?.focus({ preventScroll: true });
  }, [openKey.value, focusAsked.value]);
}

/** As tall as its text, up to a share of the window that the stylesheet sets. */
function useGrowing(input: { readonly current: HTMLTextAreaElement | null }): void {
  useLayoutEffect(() => {
    const el = input.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
  }, [draft.value]);
}
