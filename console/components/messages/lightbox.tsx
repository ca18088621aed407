/** Pictures of a message, large and one at a time. Arrow keys lead through them, Escape goes back to the conversation. */
import { signal } from "@preact/signals";
import type { MediaRef } from "../../../src/contracts/chat.ts";
import { chat } from "../../state/console-state.ts";
import { Icon } from "../icons.tsx";
import { Dialog } from "../parts/dialog.tsx";

const shown = signal<{ readonly media: readonly MediaRef[]; readonly at: number } | null>(null);

export function showLarge(media: readonly MediaRef[], at: number): void {
  shown.value = { media, at };
}

const close = (): void => {
  shown.value = null;
};

export function Lightbox() {
  const { media, at } = shown.value ?? { media: [], at: 0 };
  const picture = media[at];
  const url = picture && chat.value.mediaUrls[picture.mediaId];
  if (!picture || !url) return null;
  const step = (by: 1 | -1): void => {
    shown.value = { media, at: (at + by + media.length) % media.length };
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const backwards = document.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    if (media.length > 1 && (event.key === "ArrowLeft" || event.key === "ArrowRight"))
      step(event.key === backwards ? -1 : 1);
  };
  return (
    <Dialog name={picture.name} class="lightbox" onClose={close}>
      <div class="lightbox-frame" data-testid="lightbox" onKeyDown={onKeyDown}>
        <img src={url} alt={picture.name} />
        <div class="lightbox-bar">
          <span class="lightbox-name" dir="auto">
            {picture.name}
          </span>
          {media.length > 1 && (
            <>
              <button type="button" class="icon-button" aria-label="Previous picture" onClick={() => step(-1)}>
                <Icon name="back" />
              </button>
              <span>
                {at + 1} of {media.length}
              </span>
              <button type="button" class="icon-button" aria-label="Next picture" onClick={() => step(1)}>
                <Icon name="chevron" />
              </button>
            </>
          )}
          <a class="quiet small" href={url} download={picture.name} rel="noopener noreferrer">
            Download
          </a>
          <button type="button" class="icon-button" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </div>
      </div>
    </Dialog>
  );
}
