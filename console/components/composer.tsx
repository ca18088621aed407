/** Where a message is written. Keeps a draft per conversation and never lets go of words before the web console has taken them over. */
import { effect, signal, untracked } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { chat, line, openKey, sendMessage, stopTurn, turnRuns } from "../state/console-state.ts";
import { keep, kept } from "../state/kept.ts";
import { replyingTo, replyToNone } from "../state/replying.ts";
import { addImages, clearImages, images, imageProblem, Thumbnails } from "./attachments.tsx";
import { focusAsked, focusComposer } from "./composer-focus.ts";
import { Icon } from "./icons.tsx";
import { ReplyingTo } from "./reply.tsx";

const DRAFT_PREFIX = "pi-gateway.draft.";

const draft = signal("");

/** Each conversation has its own draft; this tab keeps them across a reload. */
export function keepDrafts(): void {
  let key = "";
  effect(() => {
    const open = openKey.value;
    if (open === key) return;
    key = open;
    draft.value = kept(DRAFT_PREFIX + key) ?? "";
    untracked(clearImages);
  });
}

export function editDraft(text: string): void {
  const now = draft.value.trim();
  write(now ? `${text}\n\n${now}` : text);
  focusComposer();
}

function write(text: string): void {
  draft.value = text;
  keep(DRAFT_PREFIX + chat.value.key, text);
}

function uploadsRunning(): boolean {
  return images.value.some((image) => image.state === "uploading");
}

function canSend(): boolean {
  const done = images.value.some((image) => image.state === "done");
  return (draft.value.trim() !== "" || done) && !uploadsRunning();
}

function submit(): void {
  if (!canSend()) return;
  const attached = images.value.flatMap((image) =>
    image.state === "done"
      ? [{ mediaId: image.mediaId, name: image.name, mimeType: image.mimeType, url: image.url }]
      : [],
  );
  sendMessage(draft.value.trim(), attached, replyingTo.value?.id);
  replyToNone();
  write("");
  clearImages();
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key === "Escape" && replyingTo.value && !event.isComposing) {
    event.preventDefault();
    event.stopPropagation(); // the same key stops a running answer
    return replyToNone();
  }
  // While an input method composes, Enter chooses a word and must not send.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  submit();
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
      <div class="composer-box">
        <AttachButton />
        <textarea
          ref={input}
          id="composer"
          dir="auto"
          rows={1}
          data-testid="composer"
          aria-label="Message"
          placeholder={
            line.value === "open" ? "Message the assistant" : "Write now; it is sent when the connection is back"
          }
          value={draft.value}
          onInput={(event) => write(event.currentTarget.value)}
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
      <p class="hint">Enter sends · Shift+Enter starts a new line · /help lists commands</p>
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
        <Icon name="image" />
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
