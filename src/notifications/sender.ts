/**
 * The one place from which notifications leave: encrypted for the browser, signed for its push service, and sent by the guarded way out. The
 * address of a push service comes from a browser and is not trusted: https on the open internet, or an origin that the settings name.
 */
import type { RequestOptions } from "web-push";
import type { PushNotice, PushOutcome } from "../contracts/notifications.ts";
import type { StoredPushSubscription } from "../contracts/store/push-subscriptions.ts";
import type { Clock } from "../kit/clock.ts";
import { lazy } from "../kit/deferred.ts";
import { type Fetched, type GuardedRequest, guardedFetch } from "../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../kit/outside/public-address.ts";
import { isTemporaryStatus } from "../kit/outside/temporary-status.ts";
import type { SecretMask } from "../kit/secret.ts";
import type { PushKeys } from "./keys.ts";

interface SenderDeps {
  readonly clock: Clock;
  readonly resolve: Resolver;
  readonly mask: Pick<SecretMask, "text">;
  readonly keys: PushKeys;
}

export interface SenderSettings {
  readonly contact: string;
  /** Origins on a private network that may be called. */
  readonly pushServices: readonly string[];
}

type PushTarget = Pick<StoredPushSubscription, "endpoint" | "p256dh" | "auth">;

export interface SentNotice {
  readonly notice: PushNotice;
  /** `high` wakes a phone that saves its battery. */
  readonly urgency: "normal" | "high";
  /** After this the push service need not deliver it any more. */
  readonly expiresAt: number;
}

export type PushSender = (to: PushTarget, sent: SentNotice, signal: AbortSignal) => Promise<PushOutcome>;

/** Less than a command waits for the gateway, so that a person who tries it hears why. */
const LIMITS = { totalMs: 9_000, idleMs: 9_000, maxBytes: 64 * 1024 };
/** Push services take 4096 bytes, of which encryption needs 103. With these the worst text takes 2400, and the rest of a notice less than 800. */
const MAX_TITLE_CHARS = 100;
const MAX_BODY_CHARS = 300;
const webPush = lazy(async () => (await import("web-push")).default); // with the first notification: no start waits for it

export function createPushSender(deps: SenderDeps, settings: () => SenderSettings): PushSender {
  return async (to, { notice, urgency, expiresAt }, signal) => {
    const { contact, pushServices } = settings();
    const trustedOrigin = trustedOriginOf(to.endpoint, pushServices);
    const refusal = whyNotCalled(to.endpoint, trustedOrigin);
    if (refusal !== null) return { kind: "failed", because: refusal, again: false };
    const { publicKey, privateKey } = deps.keys;
    const request = await sealed(to, payloadOf(notice, deps.mask), {
      vapidDetails: { subject: contact, publicKey, privateKey },
      TTL: Math.max(0, Math.floor((expiresAt - deps.clock.now()) / 1_000)),
      urgency,
      contentEncoding: "aes128gcm",
    });
    if (request === null) return { kind: "failed", because: "the keys of the browser are not valid", again: false };
    const limits = trustedOrigin === null ? LIMITS : { ...LIMITS, trustedOrigin };
    return outcomeOf(await guardedFetch(deps, request, limits, signal));
  };
}

/** Encrypted and signed. Null: the browser's keys are none. */
async function sealed(
  { endpoint, p256dh, auth }: PushTarget,
  payload: string,
  options: RequestOptions,
): Promise<GuardedRequest | null> {
  const { generateRequestDetails } = await webPush();
  try {
    const { headers, body } = generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payload, options);
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return { url: endpoint, method: "POST", headers: texts, body };
  } catch {
    return null; // everything else that it takes is our own
  }
}

/** Null: the settings do not name it. */
function trustedOriginOf(endpoint: string, pushServices: readonly string[]): string | null {
  const origin = URL.parse(endpoint)?.origin;
  return pushServices.find((service) => URL.parse(service)?.origin === origin) ?? null;
}

/** Null: it may be called, as far as the address itself says; `guardedFetch` judges where it leads. */
function whyNotCalled(endpoint: string, trustedOrigin: string | null): string | null {
  if (trustedOrigin !== null) return null;
  return URL.parse(endpoint)?.protocol === "https:" ? null : "the address of its push service is not an https address";
}

/** Whether a browser's address could be called at all. */
export function isPushAddress(endpoint: string, { pushServices }: Pick<SenderSettings, "pushServices">): boolean {
  return whyNotCalled(endpoint, trustedOriginOf(endpoint, pushServices)) === null;
}

/** Masked first and cut then: the half of a secret is known to nobody. */
function payloadOf(notice: PushNotice, mask: Pick<SecretMask, "text">): string {
  const title = cut(mask.text(notice.title), MAX_TITLE_CHARS);
  const body = cut(mask.text(notice.body), MAX_BODY_CHARS);
  return JSON.stringify({ ...notice, title, body });
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

const GONE: readonly number[] = [404, 410];
const TOO_LARGE = 413;

function outcomeOf(answer: Fetched): PushOutcome {
  if (answer.kind === "refused")
    return { kind: "failed", because: `its push service may not be called: ${answer.because}`, again: false };
  if (answer.kind === "failed")
    return { kind: "failed", because: `its push service did not answer (${answer.because})`, again: true };
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { kind: "sent" };
  if (GONE.includes(status)) return { kind: "gone" };
  const because =
    status === TOO_LARGE ? "it was too large for its push service" : `its push service answered with status ${status}`;
  const again = isTemporaryStatus(status);
  return { kind: "failed", because, again, ...(again && retryAfterMs !== undefined ? { retryAfterMs } : {}) };
}
