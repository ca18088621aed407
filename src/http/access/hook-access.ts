/** Who may call hooks: whoever has their token, which opens nothing else. Guesses at it count together with those at every other secret. */
import type { Log } from "../../kit/log.ts";
import { readBearer } from "./bearer.ts";
import { sameDigest } from "./digests.ts";

export type HookVerdict =
  { readonly kind: "in" | "none" | "wrong" } | { readonly kind: "locked"; readonly retryAfterMs: number };

export interface HookAccess {
  authorizeHook(headers: Headers, client: string): HookVerdict;
  /** A request with the right token was signed wrongly: that is a guess as well. */
  hookForged(client: string): void;
}

export interface HookAccessDeps {
  readonly log: Log;
  lockedForMs(client: string): number;
  fail(client: string): void;
  /** The digest of the token; null: hooks are off. */
  token(): Uint8Array | null;
}

/** Each refusal is one line in the log; none costs more than a digest. */
export function createHookAccess({ log, lockedForMs, fail, token }: HookAccessDeps): HookAccess {
  const refuse = <T extends HookVerdict>(verdict: T, client: string, because: string): T => {
    log.warn("hook refused", { client, because });
    return verdict;
  };
  return {
    authorizeHook(headers, client) {
      const retryAfterMs = lockedForMs(client);
      if (retryAfterMs > 0) return refuse({ kind: "locked", retryAfterMs }, client, "locked out");
      const bearer = readBearer(headers.get("authorization"));
      const expected = token();
      if (bearer === null) return refuse({ kind: "none" }, client, "no token");
      if (expected === null) return refuse({ kind: "none" }, client, "hooks are off");
      if (sameDigest(bearer, expected)) return { kind: "in" };
      fail(client);
      return refuse({ kind: "wrong" }, client, "wrong token");
    },
    hookForged: fail,
  };
}
