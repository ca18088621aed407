/** Reads a request body within its size and time. Refuses by the declared length before it reads anything. */
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import { parseJson } from "../kit/json.ts";
import type { HeldBytes } from "./byte-room.ts";

const BODY_DEADLINE_MS = 30_000;
export const JSON_MAX_DEPTH = 64;
const KIB = 1024;

export async function readJson(clock: Clock, request: Request, maxBytes: number, held: HeldBytes): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new GatewayError("wrong_type", "content type is not application/json");
  refuseOtherCharset(request.headers);
  const parsed = parseJson(utf8(await readBytes(clock, request, maxBytes, held)), {
    maxChars: maxBytes,
    maxDepth: JSON_MAX_DEPTH,
  });
  if (parsed.ok) return parsed.value;
  if (parsed.because === "too_large") throw tooLarge(null, maxBytes);
  const say =
    parsed.because === "too_deep"
      ? `The JSON is nested deeper than ${JSON_MAX_DEPTH} levels.`
      : "The body is not valid JSON.";
  throw new GatewayError("bad_request", parsed.because, { say });
}

/** JSON is UTF-8 (RFC 8259). A sender that names another charset expects its bytes to be read in another way. */
export function refuseOtherCharset(headers: Headers): void {
  const parameters = headers.get("content-type")?.split(";").slice(1) ?? [];
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.toLowerCase().split("=", 2);
    if (name.trim() !== "charset" || /^\s*"?utf-?8"?\s*$/.test(value)) continue;
    throw new GatewayError("wrong_type", "charset is not UTF-8", {
      say: "Send JSON as UTF-8: leave the charset out of the content type, or write charset=utf-8.",
    });
  }
}

export async function readBytes(
  clock: Clock,
  request: Request,
  maxBytes: number,
  held: HeldBytes,
): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > maxBytes) throw tooLarge(declared, maxBytes);
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  using limit = clock.deadline(BODY_DEADLINE_MS, () => new GatewayError("too_slow", "body did not arrive in time"));
  const over = AbortSignal.any([limit.signal, request.signal]);
  const chunks: Uint8Array[] = [];
  let received = 0;
  for (;;) {
    const piece: { done: boolean; value?: Uint8Array } = await orAborted(reader.read(), over);
    const { done, value } = piece;
    if (done || value === undefined) return Buffer.concat(chunks);
    received += value.byteLength;
    if (received > maxBytes) throw tooLarge(null, maxBytes);
    held.take(value.byteLength);
    chunks.push(value);
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GatewayError("bad_request", "not UTF-8", { cause, say: "The body is not valid UTF-8 text." });
  }
}

function tooLarge(bytes: number | null, maxBytes: number): GatewayError {
  const size = bytes === null ? "The body" : `The body of ${sizeText(bytes)}`;
  return new GatewayError("too_large", `body over ${maxBytes} bytes`, {
    say: `${size} is larger than this route accepts (${sizeText(maxBytes)}).`,
  });
}

export function sizeText(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  return bytes < KIB * KIB ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / KIB / KIB).toFixed(1)} MiB`;
}
