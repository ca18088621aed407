/** Secrets as digests, and the one way to compare them. */
import { createHash, timingSafeEqual } from "node:crypto";

const NO_DIGEST = new Uint8Array(32);

/**
 * Digests have one length, so the comparison takes the same time for every wrong value. A slow hash would add nothing: the right value is
 * in memory anyway, and the limiter bounds the guesses.
 */
export function sameDigest(value: string, expected: Uint8Array | null): boolean {
  return timingSafeEqual(digest(value), expected ?? NO_DIGEST) && expected !== null;
}

export function digest(value: string): Uint8Array {
  return createHash("sha256").update(value).digest();
}

export function hexDigest(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("hex");
}
