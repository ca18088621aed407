/** Sends pictures and videos as one album: as documents when Telegram does not like them as pictures, and without those that are gone. */
import type { MediaRef } from "../../../contracts/chat.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import type { BotApi } from "../api/bot-api.ts";
import { isRefused } from "../api/faults.ts";
import type { Chunk } from "../render/split.ts";
import { BAD_FILE, type FileJob, NOT_THE_FILE, sendFile, UPLOAD_MS } from "./file.ts";
import { captionFields, replyTarget } from "./message-calls.ts";
import { shownAs } from "./plan.ts";

type AlbumJob = Omit<FileJob, "media"> & { readonly media: readonly MediaRef[] };

interface ReadFile {
  readonly media: MediaRef;
  readonly bytes: Uint8Array;
}

/** The ids of its messages, in order. */
export async function sendAlbum(
  deps: { readonly api: BotApi; readonly files: Pick<InboundFiles, "read"> },
  job: AlbumJob,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const read: ReadFile[] = [];
  const missing: string[] = [];
  for (const media of job.media) {
    const bytes = await deps.files.read(media.mediaId);
    if (bytes) read.push({ media, bytes });
    else missing.push(`(The file ${media.name} is no longer there.)`);
  }
  const caption = withLines(job.caption, missing);
  const [first, second] = read;
  if (!first || !second) {
    const media = first?.media ?? job.media[0];
    return media ? [await sendFile(deps, { ...job, media, caption: first ? caption : job.caption }, signal)] : [];
  }
  try {
    return await upload(deps.api, { ...job, caption }, { read, as: "pictures" }, signal);
  } catch (error) {
    if (!isRefused(error, BAD_FILE) || isRefused(error, NOT_THE_FILE)) throw error;
    return upload(deps.api, { ...job, caption }, { read, as: "documents" }, signal);
  }
}

function withLines(caption: Chunk | null, lines: readonly string[]): Chunk | null {
  if (lines.length === 0) return caption;
  return { text: [caption?.text ?? "", ...lines].filter(Boolean).join("\n"), entities: caption?.entities ?? [] };
}

async function upload(
  api: BotApi,
  { caption, to, replyTo }: AlbumJob,
  { read, as }: { readonly read: readonly ReadFile[]; readonly as: "pictures" | "documents" },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const media = read.map(({ media: file, bytes }, at) => ({
    type:
      as === "documents" ? ("document" as const) : shownAs(file) === "video" ? ("video" as const) : ("photo" as const),
    media: api.upload(bytes, file.name),
    ...(at === 0 && caption ? captionFields(caption) : {}),
  }));
  const payload = { ...replyTarget(to, replyTo), media: media as never };
  const sent = await api.slowCall("sendMediaGroup", payload, signal, UPLOAD_MS);
  return sent.map(({ message_id: id }) => String(id));
}
