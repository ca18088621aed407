/** What a file is, by its content. Its name is not believed. Whatever a browser could run is named as what it is, so that it is only ever offered for download. */
import type { MediaKind } from "../contracts/chat.ts";

interface Signature {
  readonly mimeType: string;
  readonly at: number;
  readonly bytes: string; // latin-1
}

const SIGNATURES: readonly Signature[] = [
  { mimeType: "image/png", at: 0, bytes: "\x89PNG\r\n\x1a\n" },
  { mimeType: "image/jpeg", at: 0, bytes: "\xff\xd8\xff" },
  { mimeType: "image/gif", at: 0, bytes: "GIF87a" },
  { mimeType: "image/gif", at: 0, bytes: "GIF89a" },
  { mimeType: "image/webp", at: 8, bytes: "WEBP" },
  { mimeType: "image/bmp", at: 0, bytes: "BM" },
  { mimeType: "application/pdf", at: 0, bytes: "%PDF-" },
  { mimeType: "audio/wav", at: 8, bytes: "WAVE" },
  { mimeType: "audio/mpeg", at: 0, bytes: "ID3" },
  { mimeType: "audio/mpeg", at: 0, bytes: "\xff\xfb" },
  { mimeType: "audio/mpeg", at: 0, bytes: "\xff\xf3" },
  { mimeType: "audio/ogg", at: 0, bytes: "OggS" },
  { mimeType: "audio/flac", at: 0, bytes: "fLaC" },
  { mimeType: "audio/mp4", at: 4, bytes: "ftypM4A" },
  { mimeType: "video/quicktime", at: 4, bytes: "ftypqt" },
  { mimeType: "video/mp4", at: 4, bytes: "ftyp" },
  { mimeType: "video/webm", at: 0, bytes: "\x1aE\xdf\xa3" },
  { mimeType: "application/zip", at: 0, bytes: "PK\x03\x04" },
  { mimeType: "application/gzip", at: 0, bytes: "\x1f\x8b" },
];
const LOOK_BYTES = 4_096;
/** Containers whose second mark decides; the first one has to be there as well. */
const RIFF = new Set(["image/webp", "audio/wav"]);
const MIN_BMP_BYTES = 26;

export function fileType(data: Uint8Array): string {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, LOOK_BYTES));
  const start = head.toString("latin1");
  const found = SIGNATURES.find(({ at, bytes }) => start.startsWith(bytes, at));
  const known =
    found &&
    (!RIFF.has(found.mimeType) || start.startsWith("RIFF")) &&
    (found.mimeType !== "image/bmp" || isBmp(head, data.byteLength));
  if (found && known) return found.mimeType;
  return textType(head);
}

/** Two letters are a weak sign: the size it names has to be its size. */
function isBmp(head: Buffer, bytes: number): boolean {
  return bytes >= MIN_BMP_BYTES && head.readUInt32LE(2) === bytes;
}

function textType(head: Buffer): string {
  // the last character may have been cut in half
  const text = new TextDecoder("utf-8").decode(head, { stream: true });
  if (text.includes("\ufffd") || /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) return "application/octet-stream";
  if (/<svg[\s>]/i.test(text)) return "image/svg+xml";
  if (/<(!doctype html|html|head|body|script|iframe)[\s>]/i.test(text)) return "text/html";
  if (/^\s*[[{]/.test(text)) return "application/json";
  return "text/plain";
}

const PHOTOS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"]);

/** SVG is no photo: it is text that can carry scripts. */
export function mediaKind(mimeType: string): MediaKind {
  if (PHOTOS.has(mimeType)) return "photo";
  if (mimeType.startsWith("audio/")) return "audio";
  return mimeType.startsWith("video/") ? "video" : "document";
}
