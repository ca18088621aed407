/** Files that came with a message → the media store. What could not be taken, and what was spoken, becomes words. */
import type { MediaRef } from "../../contracts/chat.ts";
import type { ArrivingFile, InboundFiles } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";

export interface MessageFile extends Omit<ArrivingFile, "owner"> {
  /** It is a voice message: its words are written down if that is set up. */
  readonly spoken: boolean;
}

export interface KeptFiles {
  readonly media: readonly MediaRef[];
  /** For the agent, to be added to the text of the message. */
  readonly words: readonly string[];
  /** Sentences for the sender. */
  readonly tell: readonly string[];
}

interface KeepDeps {
  readonly files: Pick<InboundFiles, "keep" | "transcribe">;
  /** Larger files are not even asked for. */
  readonly mediaMaxMb: number;
}

const MIB = 1024 * 1024;
const MAX_NAME_CHARS = 100;

export async function keepFiles(
  deps: KeepDeps,
  owner: Principal,
  files: readonly MessageFile[],
  signal: AbortSignal,
): Promise<KeptFiles> {
  const kept: KeptFiles[] = [];
  for (const file of files) kept.push(await keepFile(deps, owner, file, signal));
  return {
    media: kept.flatMap(({ media }) => media),
    words: kept.flatMap(({ words }) => words),
    tell: kept.flatMap(({ tell }) => tell),
  };
}

async function keepFile(
  { files, mediaMaxMb }: KeepDeps,
  owner: Principal,
  { name, mimeType, bytes, open, spoken }: MessageFile,
  signal: AbortSignal,
): Promise<KeptFiles> {
  const missing = (note: string): KeptFiles => ({ media: [], words: [`[${note}]`], tell: [note] });
  if ((bytes ?? 0) > mediaMaxMb * MIB)
    return missing(`The file ${name.slice(0, MAX_NAME_CHARS)} is larger than ${mediaMaxMb} MB and was not fetched.`);
  const kept = await files.keep({ owner, name, mimeType, bytes, open }, signal);
  if (kept.kind === "refused") return missing(kept.note);
  const media = [kept.media];
  if (!spoken) return { media, words: [], tell: [] };
  const heard = await files.transcribe(kept.media, signal);
  if (heard.kind === "words") return { media, words: [heard.text], tell: [] };
  return { media, words: ["[Voice message]"], tell: heard.kind === "failed" ? [heard.say] : [] };
}
