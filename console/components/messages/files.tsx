/** Pictures and files of a message. Pictures open large in the web console; everything else is only ever downloaded. */
import type { MediaRef } from "../../../src/contracts/chat.ts";
import { isPicture, sizeText } from "../../net/files.ts";
import { chat, refreshMedia } from "../../state/console-state.ts";
import { Icon } from "../icons.tsx";
import { showLarge } from "./lightbox.tsx";

/** What a browser shows as a picture. SVG is not among them: it can carry scripts, and is only ever downloaded. */
const isShown = ({ mimeType, as }: MediaRef): boolean => isPicture(mimeType) && as !== "document";

export function Files({ media }: { readonly media: readonly MediaRef[] }) {
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
    return (
      <span class="picture-name" dir="auto">
        {media.name}
      </span>
    );
  }
  return (
    <a class="file-chip" data-testid="file" href={url} download={media.name} rel="noopener noreferrer">
      <Icon name="file" size={18} />
      <span class="file-name" dir="auto">
        {media.name}
      </span>
      <span class="file-size">{sizeText(media.bytes)}</span>
    </a>
  );
}

export function Pictures({ media }: { readonly media: readonly MediaRef[] }) {
  return (
    <div class="pictures">
      {media.map((one, at) => (
        <Picture key={one.mediaId} media={one} onOpen={() => showLarge(media, at)} />
      ))}
    </div>
  );
}

function Picture({ media, onOpen }: { readonly media: MediaRef; readonly onOpen: () => void }) {
  const url = chat.value.mediaUrls[media.mediaId];
  if (!url) {
    refreshMedia();
    return (
      <span class="picture-name" dir="auto">
        {media.name}
      </span>
    );
  }
  return (
    <button type="button" class="picture" aria-label={`Show ${media.name} large`} onClick={onOpen}>
      <img src={url} alt={media.name} loading="lazy" onError={refreshMedia} />
    </button>
  );
}
