/**
 * Posts replies to webhook targets: JSON, an id that stays the same however often it is sent, a signature where there is a secret. The call
 * goes through `guardedFetch`; whether and when it is tried again is decided by the outbox.
 */
import type { Config } from "../../config/index.ts";
import { type Channel, SendError } from "../../contracts/channel.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Fetched, guardedFetch } from "../../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import { isTemporaryStatus } from "../../kit/outside/temporary-status.ts";
import { signBody } from "../../kit/signed-body.ts";
import { TARGET_CHANNEL } from "../runs/cron-channel.ts";
import { KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from "./verify.ts";

interface TargetChannelDeps {
  readonly clock: Clock;
  readonly resolve: Resolver;
}

type Target = Config["hooks"]["targets"][string];

const LIMITS = { totalMs: 30_000, idleMs: 10_000, maxBytes: 256 * 1024 };

/** `targets` is asked for each time, so that a changed configuration holds from the next try on. */
export function createTargetChannel(deps: TargetChannelDeps, targets: () => Readonly<Record<string, Target>>): Channel {
  return {
    id: TARGET_CHANNEL,
    canRefuse: true,
    repeat: "deduplicated", // by the key, which is the same for every try
    async send(part, signal) {
      const { chat } = part.to;
      const target = Object.hasOwn(targets(), chat) ? targets()[chat] : undefined;
      if (!target) throw new SendError("permanent", `there is no place called ${chat} in hooks.targets`);
      const failure = failureOf(await postToTarget(deps, target, payloadOf(part), signal));
      if (failure) throw failure;
      return {};
    },
    ready: () => true,
    health: () => ({ ok: true, detail: "posts to hooks.targets" }),
  };
}

interface Payload {
  /** The same for every try. */
  readonly id: string;
  readonly source: string;
  readonly text: string;
  readonly at: number;
}

export function postToTarget(
  deps: TargetChannelDeps,
  target: Target,
  payload: Payload,
  signal: AbortSignal,
): Promise<Fetched> {
  const body = new TextEncoder().encode(JSON.stringify(payload));
  const headers = {
    "content-type": "application/json",
    "content-length": String(body.byteLength),
    [KEY_HEADER]: payload.id,
    ...signed(target, body, deps.clock.now()),
  };
  const limits = target.privateNetwork ? { ...LIMITS, trustedOrigin: target.url } : LIMITS;
  const request = { url: target.url, method: "POST", headers, body } as const;
  return guardedFetch(deps, request, limits, signal);
}

/** The same bytes for every try. Files are named, not sent. */
function payloadOf({ id, to, message, createdAt }: Pick<OutboxRow, "id" | "to" | "message" | "createdAt">) {
  const files = (message.attachments ?? []).map(({ name, mimeType, bytes }) => ({ name, mimeType, bytes }));
  return { id, source: to.thread ?? "", text: message.text, at: createdAt, ...(files.length > 0 ? { files } : {}) };
}

function signed({ secret }: Target, body: Uint8Array, now: number): Record<string, string> {
  if (!secret) return {};
  const { timestamp, signature } = signBody(secret.reveal(), body, now);
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature };
}

/** Null: it was taken. */
export function failureOf(answer: Fetched): SendError | null {
  if (answer.kind === "refused") return new SendError("permanent", `the place may not be called: ${answer.because}`);
  if (answer.kind === "failed")
    return answer.because === "unreachable"
      ? new SendError("retry", "the place could not be reached")
      : new SendError("lost", `the place did not answer in the usual way: ${answer.because}`);
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return null;
  const detail = `the place answered with status ${status}`;
  if (!isTemporaryStatus(status)) return new SendError("permanent", detail);
  return retryAfterMs === undefined
    ? new SendError("retry", detail)
    : new SendError("limited", detail, { retryAfterMs });
}
