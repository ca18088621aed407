/** Where a message is written. Keeps a draft per conversation and never lets go of words before the page has taken them over. */
import { effect, signal, untracked } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { chat, line, openKey, sendMessage, stopTurn, turnRuns } from "../state/session-page.ts";
import { keep, kept } from "../state/kept.ts";
import { addImages, clearImages, images, imageProblem, Thumbnails } from "./attachments.tsx";
import { Icon } from "./icons.tsx";

const DRAFT_PREFIX = "pi-gateway.draft.";

const draft = signal("");
const focusAsked = signal(0);

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
  focusAsked.value++;
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
  sendMessage(draft.value.trim(), attached);
  write("");
  clearImages();
}

export function Composer() {
  const input = useRef<HTMLTextAreaElement>(null);
  useGrowing(input);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) input.current?.focus({ preventScroll: true });
  }, [openKey.value, focusAsked.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a word and must not send.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
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

/** As tall as its text, up to a share of the window that the stylesheet sets. */
function useGrowing(input: { readonly current: HTMLTextAreaElement | null }): void {
  useLayoutEffect(() => {
    const el = input.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
  }, [draft.value]);
}
