/** Whether a request to a hook is what it says it is: decided on its raw bytes, before anything in them is read. Pure. */
import { checkSignature } from "../../kit/signed-body.ts";
import type { WebhookCall } from "../../contracts/automation/webhook.ts";
import type { WebhookRules } from "./rules.ts";

export const TIMESTAMP_HEADER = "x-pi-timestamp";
export const SIGNATURE_HEADER = "x-pi-signature";
/** Which of several keys it is signed with. Without it all are tried. */
export const KEY_ID_HEADER = "x-pi-key-id";
export const KEY_HEADER = "idempotency-key";
const KEY = /^[\x21-\x7e]{1,128}$/;

export type Verified =
  /** `timestamp` null: it need not be signed, and was not. */
  | {
      readonly kind: "good";
      readonly timestamp: string | null;
      readonly key: string | null;
      /** Where the key it is signed with stands in the configuration. */
      readonly signedWith: string | null;
    }
  | { readonly kind: "forged"; readonly because: string }
  | { readonly kind: "stale" }
  | { readonly kind: "bad_key" };

export function verify(
  { headers, body }: Pick<WebhookCall, "headers" | "body">,
  { keys, signed }: Pick<WebhookRules, "keys" | "signed">,
  now: number,
): Verified {
  const key = headers.get(KEY_HEADER);
  const timestamp = headers.get(TIMESTAMP_HEADER);
  const signature = headers.get(SIGNATURE_HEADER);
  let signedAt: string | null = null;
  let signedWith: string | null = null;
  if (signed) {
    const keyId = headers.get(KEY_ID_HEADER);
    const named = keyId === null ? keys : keys.filter(({ id }) => id === keyId);
    const secrets = named.map(({ secret }) => secret.reveal());
    const verdict = checkSignature({ timestamp, signature }, body, { keys: secrets, now });
    if (verdict.kind === "forged") return named.length > 0 ? verdict : { ...verdict, because: "unknown_key" };
    if (verdict.kind !== "good") return verdict;
    signedAt = verdict.timestamp;
    signedWith = named[verdict.key]?.path ?? null;
  }
  if (key !== null && !KEY.test(key)) return { kind: "bad_key" };
  return { kind: "good", timestamp: signedAt, key, signedWith };
}
