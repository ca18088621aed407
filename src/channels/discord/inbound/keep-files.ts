/** What comes with a message → the media store; what could not be taken is said in the text, for the agent and whoever reads along. */
import type { InboundMessage, MediaRef } from "../../../contracts/chat.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import { appendText } from "../../../kit/marks/quoted.ts";
import type { RestClient } from "../outbound/rest-client.ts";
import type { Translated } from "./translate.ts";

interface KeepDeps {
  readonly files: InboundFiles;
  readonly download: RestClient["download"];
  /** Larger ones are not even asked for. */
  readonly maxFileBytes: number;
}

const MAX_NAME_CHARS = 100;
const UNKNOWN_TYPE = "application/octet-stream";

/** The files, and the message with what is to be said about them. */
export interface KeptFiles extends Pick<InboundMessage, "text" | "quoted"> {
  readonly media: readonly MediaRef[];
}

export async function keepFiles(
  { files, download, maxFileBytes }: KeepDeps,
  { message, attachments, voice }: Translated,
  signal: AbortSignal,
): Promise<KeptFiles> {
  const media: MediaRef[] = [];
  const words: string[] = [];
  for (const { filename, content_type, size, url } of attachments) {
    if (size > maxFileBytes) {
      words.push(`[${filename.slice(0, MAX_NAME_CHARS)} is too large and was not taken]`);
      continue;
    }
    const kept = await files.keep(
      {
        owner: message.sender.principal,
        name: filename,
        mimeType: content_type ?? UNKNOWN_TYPE,
        bytes: size,
        open: (until) => download(url, until),
      },
      signal,
    );
    if (kept.kind === "refused") words.push(`[${kept.note}]`);
    else media.push(kept.media);
  }
  const [spoken] = media;
  if (voice && spoken) {
    const heard = await files.transcribe(spoken, signal);
    if (heard.kind === "words") words.push(heard.text);
    if (heard.kind === "failed") words.push(`[${heard.say}]`);
  }
  return { media, ...appendText(message, words) };
}
