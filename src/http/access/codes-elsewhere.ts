/**
 * Sign-in codes of other gateways: the link was made at one of them, and the proxy in front of all brought the browser here. Anybody can send
 * something that looks like a code, and each question costs every other gateway a letter: a client that was wrong too often asks nothing, and few
 * are asked about at a time.
 */
import type { Attempts } from "./attempts.ts";
import type { SignInAttempt, SignInsElsewhere } from "./auth.ts";
import { hexDigest } from "./digests.ts";
import { looksLikeCode } from "./sign-in-codes.ts";

const MAX_AT_ONCE = 10;

interface CodesElsewhereDeps {
  /** Absent: there are no other gateways. */
  readonly elsewhere?: Pick<SignInsElsewhere, "useCode"> | undefined;
  readonly attempts: Pick<Attempts, "isLocked">;
}

/** True once, for a code that one of them made. */
export function createCodesElsewhere({ elsewhere, attempts }: CodesElsewhereDeps) {
  let asked = 0;
  return async ({ kind, value }: SignInAttempt, client: string): Promise<boolean> => {
    if (!elsewhere || kind !== "code" || !looksLikeCode(value)) return false;
    if (attempts.isLocked(kind, client) || asked >= MAX_AT_ONCE) return false;
    asked++;
    try {
      return await elsewhere.useCode(hexDigest(value));
    } finally {
      asked--;
    }
  };
}
