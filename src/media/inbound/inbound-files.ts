/**
 * What arrives with a message: counted against its sender's day, streamed up to a limit, known by its content, kept under a name of our own.
 * What the sender did wrong becomes a note; only a broken disk is an error.
 */
import { type ArrivingFile, FileGone, type InboundFiles, type KeptFile } from "../../contracts/channels/platform.ts";
import type { MediaRef } from "../../contracts/chat.ts";
import type { MediaId, Principal } from "../../contracts/ids.ts";
import type { MediaStore } from "../../contracts/store.ts";
import type { TranscriptionStore } from "../../contracts/store/transcriptions.ts";
import { orAborted } from "../../kit/deferred.ts";
import { fileType, mediaKind } from "../file-type.ts";
import { pictureFateOf, type Shrinker } from "./shrink.ts";
import { transcribe, type TranscribeDeps, type TranscriptionSettings, type TranscriptTrouble } from "./transcribe.ts";

interface InboundDeps extends TranscribeDeps {
  readonly media: MediaStore;
  readonly transcriptions: TranscriptionStore;
  readonly shrinker: Shrinker;
}

export interface InboundSettings {
  readonly maxBytes: number;
  /** What one person may send within 24 hours. */
  readonly dailyBytes: number;
  /** Null: voice messages are kept, and nobody listens to them. */
  readonly transcription: TranscriptionSettings | null;
}

export const DAY_MS = 86_400_000;
export const DOWNLOAD_MS = 60_000;
export const IDLE_MS = 15_000;
/** Pauses before the second and the third attempt: a platform that answers 502 once mostly works a second later. */
export const RETRY_PAUSES_MS: readonly number[] = [1_000, 4_000];
const MIB = 1024 * 1024;

export function createInboundFiles(deps: InboundDeps, settings: () => InboundSettings): InboundFiles {
  const quota = createQuota(deps, settings);
  return {
    async keep(file, signal) {
      using share = quota.share(file.owner);
      return await keep(deps, settings(), { ...file, share }, signal);
    },
    transcribe: (media, signal) => transcribeOnce(deps, settings().transcription, media, signal),
    read: (mediaId) => deps.media.read(mediaId),
  };
}

async function keep(
  deps: InboundDeps,
  { maxBytes, dailyBytes }: InboundSettings,
  { share, ...file }: ArrivingFile & { readonly share: Share },
  signal: AbortSignal,
): Promise<KeptFile> {
  const { owner, name } = file;
  const refused = (because: string): KeptFile => ({ kind: "refused", note: `"${name}" was not taken in: ${because}.` });
  const tooLarge = `it is larger than ${maxBytes / MIB} MiB`;
  const tooMuch = `you have sent ${dailyBytes / MIB} MiB within a day, which is the limit`;
  if (file.bytes !== null && file.bytes > maxBytes) return refused(tooLarge);
  if (!(await share.fits(file.bytes ?? 1))) return refused(tooMuch);
  const got = await download(deps, { ...file, share }, maxBytes, signal);
  if (got.kind === "over") return refused(tooLarge);
  if (got.kind !== "got") return refused("it could not be fetched; please send it again");
  const fitted = await fit(deps, got.data, signal);
  if (fitted.kind === "refused") return refused(fitted.because);
  if (!(await share.fits(0))) return refused(tooMuch);
  const mediaId = deps.ids.next("media") as MediaId;
  const { data, mimeType } = fitted;
  return { kind: "kept", media: await deps.media.put({ mediaId, owner, name, mimeType, data, at: deps.clock.now() }) };
}

type Downloaded =
  { readonly kind: "got"; readonly data: Uint8Array } | { readonly kind: "over" } | { readonly kind: "broken" };

type Downloading = ArrivingFile & { readonly share: Share };

/** All attempts together have `DOWNLOAD_MS`: other messages of the chat wait for them. */
async function download(
  deps: Pick<InboundDeps, "clock" | "log">,
  file: Downloading,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Downloaded> {
  using total = deps.clock.deadline(DOWNLOAD_MS, () => new Error("the download took too long"));
  const until = AbortSignal.any([signal, total.signal]);
  for (let attempt = 1; ; attempt++) {
    const pauseMs = RETRY_PAUSES_MS[attempt - 1];
    try {
      return await downloadOnce(deps, file, maxBytes, until);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const retry = pauseMs !== undefined && !total.signal.aborted && !(error instanceof FileGone);
      deps.log.warn("file could not be fetched", { error, attempt, retry });
      if (!retry) return { kind: "broken" };
    }
    await deps.clock.sleep(pauseMs, until).catch(() => undefined); // the next attempt ends at once, and says why
  }
}

/** Declared sizes are not believed: it stops at the first byte too many. Rejects when the download breaks off. */
async function downloadOnce(
  deps: Pick<InboundDeps, "clock">,
  file: Downloading,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Downloaded> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let bytes = 0;
  try {
    const stream = await withIdleLimit(deps, file.open(until), until);
    const reader = stream.getReader();
    const pieces: Uint8Array[] = [];
    for (;;) {
      const { done, value } = await withIdleLimit(deps, reader.read(), until);
      if (done) return { kind: "got", data: Buffer.concat(pieces) };
      bytes += value.byteLength;
      file.share.add(value.byteLength);
      if (bytes > maxBytes) {
        void reader.cancel().catch(() => undefined); // nobody wants the rest
        return { kind: "over" };
      }
      pieces.push(value);
    }
  } catch (error) {
    file.share.add(-bytes); // the next attempt counts them again
    throw error;
  } finally {
    over.abort(new Error("the download is over")); // whatever is still open for it
  }
}

async function withIdleLimit<T>(
  { clock }: Pick<InboundDeps, "clock">,
  step: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  using idle = clock.deadline(IDLE_MS, () => new Error("nothing came for too long"));
  return await orAborted(step, AbortSignal.any([signal, idle.signal]));
}

type Fitted =
  | { readonly kind: "fits"; readonly data: Uint8Array; readonly mimeType: string }
  | { readonly kind: "refused"; readonly because: string };

async function fit({ shrinker }: InboundDeps, data: Uint8Array, signal: AbortSignal): Promise<Fitted> {
  const mimeType = fileType(data);
  if (data.byteLength === 0) return { kind: "refused", because: "it is empty" };
  if (mediaKind(mimeType) !== "photo") return { kind: "fits", data, mimeType };
  const fate = pictureFateOf(data, mimeType);
  if (fate.kind === "refuse") return { kind: "refused", because: fate.because };
  if (fate.kind === "as_it_is") return { kind: "fits", data, mimeType };
  const smaller = await shrinker.shrink(data, signal);
  if (!smaller) return { kind: "refused", because: "the picture could not be made small enough for a model" };
  return { kind: "fits", data: smaller, mimeType: fileType(smaller) };
}

interface Share extends Disposable {
  add(bytes: number): void;
  /** With `more` bytes on top, this person stays within their day. */
  fits(more: number): Promise<boolean>;
}

/** What is on its way counts as well, byte by byte, so that files which arrive together cannot slip past each other. */
function createQuota({ media, clock }: InboundDeps, settings: () => InboundSettings) {
  const onTheWay = new Map<Principal, number>();
  const change = (owner: Principal, bytes: number): void => {
    const now = (onTheWay.get(owner) ?? 0) + bytes;
    if (now > 0) onTheWay.set(owner, now);
    else onTheWay.delete(owner);
  };
  return {
    share(owner: Principal): Share {
      let held = 0;
      return {
        add(bytes) {
          held += bytes;
          change(owner, bytes);
        },
        async fits(more) {
          const used = await media.bytesSince(owner, clock.now() - DAY_MS);
          return used + (onTheWay.get(owner) ?? 0) + more <= settings().dailyBytes;
        },
        [Symbol.dispose]: () => change(owner, -held),
      };
    },
  };
}

const TROUBLE: Readonly<Record<TranscriptTrouble, string>> = {
  limited: "The service that turns voice into text is busy. Please try again in a moment, or write instead.",
  refused:
    "Your voice message could not be turned into text: the service refused it. The owner can check media.transcription.",
  down: "The service that turns voice into text has a problem right now. Please try again later, or write instead.",
  slow: "Turning your voice message into text took too long. Please try again, or write instead.",
  unreadable: "This kind of recording cannot be turned into text. Please write instead.",
};

/** The same recording is sent to the service once. */
async function transcribeOnce(
  deps: InboundDeps,
  settings: TranscriptionSettings | null,
  media: MediaRef,
  signal: AbortSignal,
): ReturnType<InboundFiles["transcribe"]> {
  if (!settings) return { kind: "off" };
  const data = await deps.media.read(media.mediaId);
  if (!data) return { kind: "failed", say: TROUBLE.unreadable };
  const digest = new Bun.CryptoHasher("sha256").update(`${settings.model}\n`).update(data).digest("hex");
  const known = await deps.transcriptions.find(digest);
  if (known !== null) return { kind: "words", text: known };
  const made = await transcribe(deps, settings, { data, mimeType: media.mimeType }, signal);
  if (made.kind === "failed") return { kind: "failed", say: TROUBLE[made.because] };
  await deps.transcriptions.put(digest, made.text, deps.clock.now());
  return made;
}
