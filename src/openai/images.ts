/** Images of a request, from `data:` addresses or fetched over https: only pictures that models see, and only up to a size. */
import type { HistoryImage, HistoryMessage } from "../contracts/client-request.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { RequestMessage } from "../contracts/openai.ts";
import type { Clock } from "../kit/clock.ts";
import { guardedFetch } from "../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../kit/outside/public-address.ts";

/** Of a whole conversation: each may be as large as an upload. */
const MAX_IMAGES_IN_ALL = 32;
const TOTAL_MS = 20_000;
const IDLE_MS = 10_000;
const MODELS_SEE: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/;

export interface ImageDeps {
  readonly clock: Clock;
  readonly resolve: Resolver;
  maxImageBytes(): number;
}

export interface ReadImages {
  readonly prompt: readonly HistoryImage[];
  readonly history: readonly HistoryMessage[];
}

/** Throws GatewayError for the first that cannot be used. */
export async function readImages(
  deps: ImageDeps,
  said: { readonly prompt: readonly string[]; readonly history: readonly RequestMessage[] },
  signal: AbortSignal,
): Promise<ReadImages> {
  const earlier = said.history.flatMap((one) => (one.role === "user" ? one.images : []));
  if (said.prompt.length + earlier.length > MAX_IMAGES_IN_ALL)
    throw wrongImage(`A conversation can have ${MAX_IMAGES_IN_ALL} images at most.`);
  const read = (urls: readonly string[]) => Promise.all(urls.map((url) => readImage(deps, url, signal)));
  const prompt = await read(said.prompt);
  const history: HistoryMessage[] = [];
  for (const one of said.history) history.push(one.role === "user" ? { ...one, images: await read(one.images) } : one);
  return { prompt, history };
}

async function readImage(deps: ImageDeps, url: string, signal: AbortSignal): Promise<HistoryImage> {
  const inline = DATA_URL.exec(url);
  const image = inline ? decoded(inline[1] ?? "", url.slice(inline[0].length)) : await fetched(deps, url, signal);
  if (!MODELS_SEE.has(image.mimeType)) throw wrongImage("An image must be a PNG, JPEG, GIF or WebP.");
  if (image.bytes.byteLength > deps.maxImageBytes())
    throw new GatewayError("too_large", "image too large", { fields: { param: "messages" } });
  return { mimeType: image.mimeType, base64: Buffer.from(image.bytes).toString("base64") };
}

interface Image {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

function decoded(mimeType: string, base64: string): Image {
  try {
    return { mimeType, bytes: Uint8Array.fromBase64(base64) };
  } catch {
    throw wrongImage("A data: address of an image is not valid base64.");
  }
}

async function fetched(deps: ImageDeps, url: string, signal: AbortSignal): Promise<Image> {
  if (!url.startsWith("https://")) throw wrongImage("The address of an image must begin with https:// or data:image/.");
  const limits = { totalMs: TOTAL_MS, idleMs: IDLE_MS, maxBytes: deps.maxImageBytes() };
  const answer = await guardedFetch(deps, { url, method: "GET", headers: { accept: "image/*" } }, limits, signal);
  if (answer.kind === "refused") throw wrongImage(`The address of an image may not be fetched: ${answer.because}`);
  if (answer.kind === "failed" || answer.status !== 200 || !answer.body)
    throw wrongImage("An image could not be fetched from its address.");
  const [mimeType = ""] = (answer.contentType ?? "").split(";");
  return { mimeType: mimeType.trim().toLowerCase(), bytes: answer.body };
}

function wrongImage(say: string): GatewayError {
  return new GatewayError("bad_request", "image not taken", { say, fields: { param: "messages" } });
}
