/** Whether a request to a hook is what it says it is: decided on its raw bytes, before anything in them is read. Pure. */
import { checkSignature } from "../../kit/signed-body.ts";
import type { HookRequest } from "../../contracts/automation/hook.ts";
import type { HookRules } from "./rules.ts";

export const TIMESTAMP_HEADER = "x-pi-timestamp";
export const SIGNATURE_HEADER = "x-pi-signature";
export const KEY_HEADER = "idempotency-key";
const KEY = /^[\x21-\x7e]{1,128}$/;

export type Verified =
  /** `timestamp` null: it need not be signed, and was not. */
  | { readonly kind: "good"; readonly timestamp: string | null; readonly key: string | null }
  | { readonly kind: "forged"; readonly because: string }
  | { readonly kind: "stale" }
  | { readonly kind: "bad_key" };

export function verify(
  { headers, body }: Pick<HookRequest, "headers" | "body">,
  { keys, signed }: Pick<HookRules, "keys" | "signed">,
  now: number,
): Verified {
  const key = headers.get(KEY_HEADER);
  const timestamp = headers.get(TIMESTAMP_HEADER);
  const signature = headers.get(SIGNATURE_HEADER);
  let signedAt: string | null = null;
  if (signed) {
    const verdict = checkSignature({ timestamp, signature }, body, { keys, now });
    if (verdict.kind !== "good") return verdict;
    signedAt = verdict.timestamp;
  }
  if (key !== null && !KEY.test(key)) return { kind: "bad_key" };
  return { kind: "good", timestamp: signedAt, key };
}
