/** Images of a request, from `data:` addresses or fetched over https: only pictures that models see, and only up to a size. */
import type { HistoryImage, HistoryMessage } from "../contracts/client-request.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { RequestMessage } from "../contracts/openai.ts";
import { type AddressDeps, readAddress } from "./address.ts";

/** Of a whole conversation: each may be as large as an upload. */
const MAX_IMAGES_IN_ALL = 32;
const MODELS_SEE: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export interface ImageDeps extends AddressDeps {
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
    throw wrongImage("messages", `A conversation can have ${MAX_IMAGES_IN_ALL} images at most.`);
  const read = (urls: readonly string[]) =>
    Promise.all(urls.map((url) => readImage(deps, { url, param: "messages" }, signal)));
  const prompt = await read(said.prompt);
  const history: HistoryMessage[] = [];
  for (const one of said.history) history.push(one.role === "user" ? { ...one, images: await read(one.images) } : one);
  return { prompt, history };
}

/** `param`: the field that it came from. */
async function readImage(
  deps: ImageDeps,
  { url, param }: { readonly url: string; readonly param: string },
  signal: AbortSignal,
): Promise<HistoryImage> {
  const read = await readAddress(deps, { url, maxBytes: deps.maxImageBytes(), accept: "image/*" }, signal);
  if (read.kind === "wrong") throw wrongImage(param, `An image could not be taken: ${read.because}`);
  if (read.kind === "large") throw new GatewayError("too_large", "image too large", { fields: { param } });
  if (!MODELS_SEE.has(read.mimeType)) throw wrongImage(param, "An image must be a PNG, JPEG, GIF or WebP.");
  return { mimeType: read.mimeType, base64: Buffer.from(read.bytes).toString("base64") };
}

/** The same images as `data:` addresses, so that nobody has to fetch them again. */
export function inlineImages(deps: ImageDeps, urls: readonly string[], signal: AbortSignal): Promise<string[]> {
  return Promise.all(
    urls.map(async (url) => {
      const { mimeType, base64 } = await readImage(deps, { url, param: "input" }, signal);
      return `data:${mimeType};base64,${base64}`;
    }),
  );
}

function wrongImage(param: string, say: string): GatewayError {
  return new GatewayError("bad_request", "image not taken", { say, fields: { param } });
}
