/** Programs that show a key: which key it is, and whether it has requests left this minute. A wrong one counts like any wrong credential. */
import { type ApiKey, type ApiKeys, keyPrincipal } from "../../contracts/api-keys.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { createPace } from "../../kit/pace.ts";
import type { SharedCount } from "../../kit/shared-count.ts";
import type { Attempts, AttemptVerdict } from "./attempts.ts";
import type { Identity } from "./auth.ts";

interface KeyAccess {
  authorize(secret: string, client: string): { readonly kind: "known"; readonly identity: Identity } | NotRight;
  /** Counts one request. Throws `rate_limited` when the minute has no more for this key; whoever shows no key is not counted. */
  count(identity: Pick<Identity, "key">): void;
}

type NotRight = Exclude<AttemptVerdict, { kind: "right" }>;

interface KeyAccessDeps {
  readonly clock: Clock;
  readonly attempts: Attempts;
  readonly keys: Pick<ApiKeys, "find" | "used">;
  /** Absent: there are no other gateways. */
  readonly counted?: SharedCount | undefined;
}

const MS_PER_SECOND = 1_000;

export function createKeyAccess({ clock, attempts, keys, counted }: KeyAccessDeps): KeyAccess {
  const pace = createPace(clock, counted);
  return {
    authorize(secret, client) {
      const key = keys.find(secret);
      const verdict = attempts.judge({ kind: "key", client, right: key !== null, strong: true });
      if (verdict.kind === "right") return key ? { kind: "known", identity: identityOf(key) } : { kind: "wrong" };
      return verdict;
    },
    count({ key }) {
      if (key === null) return;
      keys.used(key.id);
      const retryAfterMs = key.requestsPerMinute === null ? 0 : pace.take(key.id, key.requestsPerMinute);
      if (retryAfterMs > 0) throw tooOften(key.requestsPerMinute, retryAfterMs);
    },
  };
}

function identityOf(key: ApiKey): Identity {
  const { id, expiresAt } = key;
  const principal = keyPrincipal(id);
  return { principal, by: "key", key, authDigest: principal, signIn: null, expiresAt: expiresAt ?? Infinity };
}

function tooOften(perMinute: number | null, retryAfterMs: number): GatewayError {
  const seconds = Math.ceil(retryAfterMs / MS_PER_SECOND);
  return new GatewayError("rate_limited", "too many requests of a key", {
    say: `This key may make ${perMinute} requests a minute. Try again in ${seconds} s, not before.`,
    fields: { retryAfterMs },
  });
}
