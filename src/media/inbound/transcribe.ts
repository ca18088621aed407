/** Voice to words through any endpoint that speaks OpenAI's transcription call. Never throws for what the endpoint does. */
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import { guardedFetch } from "../../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import { type FormPart, multipart } from "../../kit/outside/multipart.ts";
import type { Secret } from "../../kit/secret.ts";

export interface TranscriptionSettings {
  /** `https://api.groq.com/openai/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: Secret | undefined;
}

export interface TranscribeDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly resolve: Resolver;
}

interface Recording {
  readonly data: Uint8Array;
  readonly mimeType: string;
}

type Transcript =
  { readonly kind: "words"; readonly text: string } | { readonly kind: "failed"; readonly because: TranscriptTrouble };

export type TranscriptTrouble = "limited" | "refused" | "down" | "slow" | "unreadable";

const LIMITS = { totalMs: 60_000, idleMs: 45_000, maxBytes: 2 * 1024 * 1024 } as const;
const MAX_WORDS_CHARS = 100_000;
/** What the endpoints tell formats by is the ending of the name. */
const ENDINGS: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/mp4": "m4a",
  "video/mp4": "mp4",
  "video/webm": "webm",
};

/** Null: the endpoints do not take such files. */
function recordingName(mimeType: string): string | null {
  const ending = ENDINGS[mimeType];
  return ending === undefined ? null : `voice.${ending}`;
}

export async function transcribe(
  deps: TranscribeDeps,
  settings: TranscriptionSettings,
  { data, mimeType }: Recording,
  signal: AbortSignal,
): Promise<Transcript> {
  const fileName = recordingName(mimeType);
  if (fileName === null) return { kind: "failed", because: "unreadable" };
  const parts: readonly FormPart[] = [
    { name: "model", value: settings.model },
    { name: "response_format", value: "json" },
    { name: "file", fileName, mimeType, data },
  ];
  const form = multipart(deps.ids, parts);
  const url = `${settings.baseUrl.replace(/\/+$/, "")}/audio/transcriptions`;
  const headers = {
    ...(settings.apiKey ? { authorization: `Bearer ${settings.apiKey.reveal()}` } : {}),
    accept: "application/json",
    ...form.headers,
  };
  const limits = { ...LIMITS, trustedOrigin: settings.baseUrl };
  const answer = await guardedFetch(deps, { url, method: "POST", headers, body: form.body }, limits, signal);
  const result = read(answer);
  if (result.kind === "failed") {
    const status = answer.kind === "answered" ? answer.status : null;
    deps.log.warn("voice message not transcribed", { because: result.because, answer: answer.kind, status });
  }
  return result;
}

function read(answer: Awaited<ReturnType<typeof guardedFetch>>): Transcript {
  if (answer.kind === "refused") return failed("refused");
  if (answer.kind === "failed") return failed(answer.because === "slow" ? "slow" : "down");
  const { status, text } = answer;
  if (status === 429) return failed("limited");
  if (status >= 500) return failed("down");
  if (status !== 200) return failed("refused");
  const parsed = parseJson(text, { maxChars: LIMITS.maxBytes, maxDepth: 16 });
  const words: unknown =
    parsed.ok && typeof parsed.value === "object" && parsed.value !== null && "text" in parsed.value
      ? parsed.value.text
      : null;
  if (typeof words !== "string") return failed("down");
  return { kind: "words", text: words.trim().slice(0, MAX_WORDS_CHARS).toWellFormed() };
}

const failed = (because: TranscriptTrouble): Transcript => ({ kind: "failed", because });
