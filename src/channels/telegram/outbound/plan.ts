/** One stored reply part → the messages it takes on Telegram. The same part always gives the same list, so that a resend can go on in the middle. */
import type { MediaKind, MediaRef, OutboundMessage } from "../../../contracts/chat.ts";
import { renderCaption, renderText } from "../render/render.ts";
import type { Chunk } from "../render/split.ts";

export type Step =
  | { readonly kind: "text"; readonly chunk: Chunk }
  | { readonly kind: "file"; readonly media: MediaRef; readonly caption: Chunk | null }
  /** Pictures and videos that Telegram shows as one. */
  | { readonly kind: "album"; readonly media: readonly MediaRef[]; readonly caption: Chunk | null };

/** Shown when there is nothing left to show after all: a part must not vanish. */
const NOTHING: Chunk = { text: "(no text)", entities: [] };

/** `apart`: the text has a message of its own already, a preview, so no file can carry it. */
export function stepsOf(message: OutboundMessage, apart: boolean): readonly Step[] {
  const { attachments = [] } = message;
  const words =
    message.kind === "notice" ? { text: message.text, format: message.format ?? ("plain" as const) } : message;
  const [only, ...more] = groupsOf(attachments);
  const caption = only && more.length === 0 && !apart ? renderCaption(words) : null;
  if (only && caption) return [fileStep(only, caption.text === "" ? null : caption)];
  const text: readonly Step[] = renderText(words).map((chunk) => ({ kind: "text", chunk }));
  const files: readonly Step[] = groupsOf(attachments).map((media) => fileStep(media, null));
  return text.length + files.length > 0 ? [...text, ...files] : [{ kind: "text", chunk: NOTHING }];
}

/** Telegram's limit for an album. */
const MAX_ALBUM = 10;

/** Pictures and videos that follow each other are one group; everything else is a group of its own. */
function groupsOf(attachments: readonly MediaRef[]): readonly (readonly MediaRef[])[] {
  const groups: MediaRef[][] = [];
  let bytes = 0;
  for (const media of attachments) {
    const group = groups.at(-1);
    bytes += media.bytes;
    const fits = group && group.length < MAX_ALBUM && bytes <= UPLOAD_MAX_BYTES;
    if (fits && [...group, media].every(isPicture)) group.push(media);
    else {
      groups.push([media]);
      bytes = media.bytes;
    }
  }
  return groups;
}

function isPicture(media: MediaRef): boolean {
  const kind = shownAs(media);
  return kind === "photo" || kind === "video";
}

function fileStep(group: readonly MediaRef[], caption: Chunk | null): Step {
  const [media, ...more] = group;
  if (media && more.length === 0) return { kind: "file", media, caption };
  return { kind: "album", media: group, caption };
}

const PHOTO_MAX_BYTES = 10_000_000;
export const UPLOAD_MAX_BYTES = 50_000_000;
const PHOTO_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/webp"];
const AUDIO_TYPES: readonly string[] = ["audio/mpeg", "audio/mp4", "audio/x-m4a"];

/** How a file is shown best; Telegram has the last word, and a document is always possible. */
export function shownAs({ as, mimeType, bytes }: MediaRef): MediaKind | "voice" {
  if (as === "document") return as;
  if (PHOTO_TYPES.includes(mimeType) && bytes <= PHOTO_MAX_BYTES) return "photo";
  if (mimeType === "video/mp4") return "video";
  if (mimeType === "audio/ogg") return "voice";
  return AUDIO_TYPES.includes(mimeType) ? "audio" : "document";
}
