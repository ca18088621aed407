/**
 * The one judge of every credential a request shows. A right strong secret is accepted always, whatever others have tried: nobody can guess
 * it, so a lock would only help whoever wants to keep its holder out. Passwords and weak tokens are locked, per kind and per client.
 */
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { COUNTED_ALONE, type SharedCount } from "../../kit/shared-count.ts";
import { createFailureLimiter, type FailureLimiter, type LimitKey } from "./failure-limiter.ts";

type AttemptKind = "token" | "key" | "password" | "code" | "webhook token" | "webhook signature";

export interface Attempt {
  readonly kind: AttemptKind;
  readonly client: string;
  readonly right: boolean;
  /** No lock applies to it when it is right. */
  readonly strong: boolean;
}

export type AttemptVerdict =
  { readonly kind: "right" } | { readonly kind: "wrong" } | { readonly kind: "locked"; readonly retryAfterMs: number };

export interface Attempts {
  judge(attempt: Attempt): AttemptVerdict;
  /** This client has shown too many wrong ones: what would cost others something is not done for it. */
  isLocked(kind: AttemptKind, client: string): boolean;
}

const MIN_STRONG_CHARS = 22;
/** 22 characters out of eight are 66 bits. */
const MIN_STRONG_DIFFERENT_CHARS = 8;
const CLIENT_FAILURES_PER_MINUTE = 10;
/** Of all addresses of one network together; one person can own a whole IPv6 network. */
const NETWORK_FAILURES_PER_MINUTE = 100;

/** Whether guessing it over the network is hopeless. The gateway's own tokens and codes always are strong; one from the configuration may not be. */
export function isStrongSecret(value: string): boolean {
  return value.length >= MIN_STRONG_CHARS && new Set(value).size >= MIN_STRONG_DIFFERENT_CHARS;
}

interface AttemptDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: there are no other gateways. */
  readonly counted?: SharedCount | undefined;
}

export function createAttempts({ clock, log, counted = COUNTED_ALONE }: AttemptDeps): Attempts {
  const limiters = new Map<AttemptKind, FailureLimiter>();
  // One for each kind: a limiter forgets its oldest clients, and a flood of one kind must not make it forget those of another.
  const limiterOf = (kind: AttemptKind): FailureLimiter => {
    const limiter = limiters.get(kind) ?? createFailureLimiter(clock);
    limiters.set(kind, limiter);
    return limiter;
  };
  counted.hear((name, count) => {
    const [client = "", kind] = name.split("\n");
    for (let failure = 0; failure < count; failure++) limiterOf(kind as AttemptKind).fail(limitKeys(client));
  });
  return {
    judge({ kind, client, right, strong }) {
      if (right && strong) return { kind: "right" };
      const limiter = limiterOf(kind);
      const keys = limitKeys(client);
      const retryAfterMs = limiter.lockedForMs(keys);
      if (retryAfterMs > 0) return { kind: "locked", retryAfterMs };
      if (right) return { kind: "right" };
      limiter.fail(keys);
      counted.tell(`${client}\n${kind}`, CLIENT_FAILURES_PER_MINUTE);
      log.warn("credential refused", { credential: kind, client });
      return { kind: "wrong" };
    },
    isLocked: (kind, client) => limiterOf(kind).lockedForMs(limitKeys(client)) > 0,
  };
}

function limitKeys(client: string): readonly LimitKey[] {
  return [
    { name: `client:${client}`, failuresPerMinute: CLIENT_FAILURES_PER_MINUTE },
    { name: `network:${networkOf(client)}`, failuresPerMinute: NETWORK_FAILURES_PER_MINUTE },
  ];
}

const V6_NETWORK_DIGITS = 12;

/** The /24 of an IPv4 client, the /48 of an IPv6 one; see `ClientAddress.key` for how a client is written. */
function networkOf(client: string): string {
  return client.endsWith("/64") ? client.slice(0, V6_NETWORK_DIGITS) : client.split(".").slice(0, 3).join(".");
}
