/**
 * Signed requests: HMAC-SHA256 over `timestamp.body`, in one spelling only. A signature written in another way is refused even when it means
 * the same bytes, so that no two header texts stand for one request.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the clocks of sender and receiver may be apart. */
export const SIGNATURE_WINDOW_MS = 5 * 60_000;
const MS_PER_SECOND = 1_000;
/** Seconds since 1970, ten digits: no sign, no leading zero, no fraction. */
const TIMESTAMP = /^[1-9][0-9]{9}$/;
const SIGNATURE = /^v1=[0-9a-f]{64}$/;

interface SignatureHeaders {
  readonly timestamp: string;
  readonly signature: string;
}

/** `forged` also when something is missing or spelt in another way. `stale`: well signed, but too long ago or too far ahead. */
type SignatureVerdict =
  /** `key`: which of the keys it was signed with, by its place in the list. */
  | { readonly kind: "good"; readonly timestamp: string; readonly key: number }
  | { readonly kind: "forged"; readonly because: "no_signature" | "spelling" | "wrong" }
  | { readonly kind: "stale" };

export function signBody(key: string, body: Uint8Array, now: number): SignatureHeaders {
  const timestamp = String(Math.floor(now / MS_PER_SECOND));
  return { timestamp, signature: `v1=${mac(key, timestamp, body).toString("hex")}` };
}

/**
 * `keys`: any of them may have signed it, so that a key can be replaced without a gap. All are tried, whichever fits. None at all costs as
 * much as one that is wrong, so that the time taken does not tell which keys there are.
 */
export function checkSignature(
  { timestamp, signature }: { readonly timestamp: string | null; readonly signature: string | null },
  body: Uint8Array,
  { keys, now }: { readonly keys: readonly string[]; readonly now: number },
): SignatureVerdict {
  if (timestamp === null || signature === null) return { kind: "forged", because: "no_signature" };
  if (!TIMESTAMP.test(timestamp) || !SIGNATURE.test(signature)) return { kind: "forged", because: "spelling" };
  const given = Buffer.from(signature.slice("v1=".length), "hex");
  const tried = keys.length > 0 ? keys : [""];
  const fits = tried.map((key) => timingSafeEqual(given, mac(key, timestamp, body)));
  const key = fits.indexOf(true);
  if (key === -1 || keys.length === 0) return { kind: "forged", because: "wrong" };
  const apartMs = Math.abs(now - Number(timestamp) * MS_PER_SECOND);
  return apartMs <= SIGNATURE_WINDOW_MS ? { kind: "good", timestamp, key } : { kind: "stale" };
}

function mac(key: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${timestamp}.`).update(body).digest();
}
