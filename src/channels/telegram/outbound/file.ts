/** Sends one file the way it is shown best; as a document when Telegram does not like it that way, and as a note when it cannot be sent at all. */
import type { ChatAddress, MediaRef } from "../../../contracts/chat.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import type { BotApi, Upload } from "../api/bot-api.ts";
import { isRefused } from "../api/faults.ts";
import type { Chunk } from "../render/split.ts";
import { captionFields, replyTarget, sendText } from "./message-calls.ts";
import { shownAs, UPLOAD_MAX_BYTES } from "./plan.ts";

export interface FileJob {
  readonly media: MediaRef;
  readonly caption: Chunk | null;
  readonly to: ChatAddress;
  readonly replyTo: number | null;
}

/** Below the outbox's own limit for a send. */
export const UPLOAD_MS = 55_000;
/** About the file, not about the chat. */
export const BAD_FILE = /photo|image|video|audio|voice|media|file|wrong type|dimension/i;
export const NOT_THE_FILE = /chat not found|not enough rights|blocked|kicked|too long/i;

export async function sendFile(
  deps: { readonly api: BotApi; readonly files: Pick<InboundFiles, "read"> },
  job: FileJob,
  signal: AbortSignal,
): Promise<string> {
  const { media } = job;
  const bytes = media.bytes > UPLOAD_MAX_BYTES ? null : await deps.files.read(media.mediaId);
  if (!bytes) return sayMissing(deps, job, signal);
  const kind = shownAs(media);
  try {
    return await upload(deps.api, job, { kind, bytes }, signal);
  } catch (error) {
    if (kind === "document" || !isRefused(error, BAD_FILE) || isRefused(error, NOT_THE_FILE)) throw error;
    return upload(deps.api, job, { kind: "document", bytes }, signal);
  }
}

async function upload(
  api: BotApi,
  { media, caption, to, replyTo }: FileJob,
  { kind, bytes }: { readonly kind: ReturnType<typeof shownAs>; readonly bytes: Uint8Array },
  signal: AbortSignal,
): Promise<string> {
  const file: Upload = api.upload(bytes, media.name);
  const rest = { ...replyTarget(to, replyTo), ...(caption ? captionFields(caption) : {}) };
  const send = async () => {
    if (kind === "photo") return api.slowCall("sendPhoto", { ...rest, photo: file }, signal, UPLOAD_MS);
    if (kind === "video") return api.slowCall("sendVideo", { ...rest, video: file }, signal, UPLOAD_MS);
    if (kind === "audio") return api.slowCall("sendAudio", { ...rest, audio: file }, signal, UPLOAD_MS);
    if (kind === "voice") return api.slowCall("sendVoice", { ...rest, voice: file }, signal, UPLOAD_MS);
    return api.slowCall("sendDocument", { ...rest, document: file }, signal, UPLOAD_MS);
  };
  return String((await send()).message_id);
}

async function sayMissing({ api }: { readonly api: BotApi }, job: FileJob, signal: AbortSignal): Promise<string> {
  const { media, caption, to, replyTo } = job;
  const why = media.bytes > UPLOAD_MAX_BYTES ? "is larger than Telegram takes" : "is no longer there";
  const text = [caption?.text, `(The file ${media.name} ${why}.)`].filter(Boolean).join("\n");
  return sendText(api, { to, chunk: { text, entities: [] }, replyTo }, signal);
}
