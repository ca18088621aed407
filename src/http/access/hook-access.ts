/** Who may call webhooks: holders of their token, which opens nothing else. Wrong attempts are counted apart from those at every other secret. */
import type { Log } from "../../kit/log.ts";
import type { Attempts, AttemptVerdict } from "./attempts.ts";
import { readBearer } from "./bearer.ts";
import { sameDigest } from "./digests.ts";

type WebhookVerdict =
  { readonly kind: "in" | "none" | "wrong" } | { readonly kind: "locked"; readonly retryAfterMs: number };

export interface WebhookAccess {
  authorizeHook(headers: Headers, client: string): WebhookVerdict;
  /** Counts a request with the right token and a wrong signature; the verdict says how to answer it. */
  hookForged(client: string): AttemptVerdict;
}

interface WebhookAccessDeps {
  readonly log: Log;
  readonly attempts: Attempts;
  /** Null: webhooks are off. */
  token(): { readonly digest: Uint8Array; readonly strong: boolean } | null;
}

/** Each refusal is one line in the log; none costs more than a digest. */
export function createWebhookAccess({ log, attempts, token }: WebhookAccessDeps): WebhookAccess {
  const refuse = <T extends WebhookVerdict>(verdict: T, client: string, because: string): T => {
    log.warn("hook refused", { client, because });
    return verdict;
  };
  return {
    authorizeHook(headers, client) {
      const bearer = readBearer(headers.get("authorization"));
      const expected = token();
      if (bearer === null) return refuse({ kind: "none" }, client, "no token");
      if (expected === null) return refuse({ kind: "none" }, client, "hooks are off");
      const right = sameDigest(bearer, expected.digest);
      const verdict = attempts.judge({ kind: "webhook token", client, right, strong: expected.strong });
      if (verdict.kind === "right") return { kind: "in" };
      return refuse(verdict, client, verdict.kind === "locked" ? "too many wrong tokens" : "wrong token");
    },
    // A right signature never comes here, so a broken sender costs nobody else anything.
    hookForged: (client) => attempts.judge({ kind: "webhook signature", client, right: false, strong: true }),
  };
}
