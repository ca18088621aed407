/** Whether a request comes from Discord: Ed25519 over its timestamp and its exact bytes, and not long ago. Nothing is parsed before. */
import { isSmallOrderKey } from "../../../config/index.ts";

const SIGNATURE = "x-signature-ed25519";
const TIMESTAMP = "x-signature-timestamp";
const KEY_HEX = /^[0-9a-f]{64}$/i;
const SIGNATURE_HEX = /^[0-9a-f]{128}$/i;
const SECONDS = /^\d{1,12}$/;
/** How far the time of a request may be from ours. */
export const MAX_AGE_MS = 300_000;

interface SignedRequest {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

type Verdict = "genuine" | "forged" | "old";

export async function verifyRequest(
  { headers, body }: SignedRequest,
  publicKey: string,
  now: number,
): Promise<Verdict> {
  const signature = headers.get(SIGNATURE) ?? "";
  const timestamp = headers.get(TIMESTAMP) ?? "";
  if (!SIGNATURE_HEX.test(signature) || !SECONDS.test(timestamp) || !KEY_HEX.test(publicKey)) return "forged";
  if (isSmallOrderKey(publicKey)) return "forged"; // anybody could have signed it
  const signed = Buffer.concat([Buffer.from(timestamp, "utf8"), body]);
  const key = await crypto.subtle.importKey("raw", Buffer.from(publicKey, "hex"), "Ed25519", false, ["verify"]);
  if (!(await crypto.subtle.verify("Ed25519", key, Buffer.from(signature, "hex"), signed))) return "forged";
  return Math.abs(now - Number(timestamp) * 1_000) <= MAX_AGE_MS ? "genuine" : "old";
}
