/** The bytes behind an address that a program gives: in the address itself (`data:`), or on the public network over https. */
import type { Clock } from "../kit/clock.ts";
import { guardedFetch } from "../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../kit/outside/public-address.ts";

const TOTAL_MS = 20_000;
const IDLE_MS = 10_000;
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/;

export interface AddressDeps {
  readonly clock: Clock;
  readonly resolve: Resolver;
}

interface Address {
  readonly url: string;
  readonly maxBytes: number;
  readonly accept: string;
}

type ReadAddress =
  | { readonly kind: "read"; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: "large" }
  /** A sentence for whoever gave the address. */
  | { readonly kind: "wrong"; readonly because: string };

export async function readAddress(deps: AddressDeps, address: Address, signal: AbortSignal): Promise<ReadAddress> {
  const inline = DATA_URL.exec(address.url);
  const read = inline
    ? decoded(inline[1] ?? "", address.url.slice(inline[0].length))
    : await fetched(deps, address, signal);
  return read.kind === "read" && read.bytes.byteLength > address.maxBytes ? { kind: "large" } : read;
}

function decoded(mimeType: string, base64: string): ReadAddress {
  try {
    return { kind: "read", mimeType, bytes: Uint8Array.fromBase64(base64) };
  } catch {
    return wrong("its data: address is not valid base64.");
  }
}

async function fetched(
  deps: AddressDeps,
  { url, maxBytes, accept }: Address,
  signal: AbortSignal,
): Promise<ReadAddress> {
  if (!url.startsWith("https://"))
    return wrong("its address must begin with https:// or data:, with a type and base64.");
  const limits = { totalMs: TOTAL_MS, idleMs: IDLE_MS, maxBytes };
  const answer = await guardedFetch(deps, { url, method: "GET", headers: { accept } }, limits, signal);
  if (answer.kind === "refused") return wrong(`its address may not be fetched: ${answer.because}`);
  if (answer.kind === "failed" && answer.because === "large") return { kind: "large" };
  if (answer.kind === "failed" || answer.status !== 200 || !answer.body)
    return wrong("it could not be fetched from its address.");
  const [mimeType = ""] = (answer.contentType ?? "").split(";");
  return { kind: "read", mimeType: mimeType.trim().toLowerCase(), bytes: answer.body };
}

function wrong(because: string): ReadAddress {
  return { kind: "wrong", because };
}
