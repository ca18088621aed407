/**
 * Requests of other programs: genuine, not too many, understood, not here before; and only when what they ask for is stored is their sender
 * told so. Every refusal is one line in the log and has no other effect.
 */
import { createHash } from "node:crypto";
import type { IncomingWebhooks, WebhookRefusal, WebhookCall } from "../../contracts/automation/webhook.ts";
import type { ErrorCode } from "../../contracts/errors.ts";
import type { WebhookMarkStore } from "../../contracts/store/webhook-marks.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { SharedCount } from "../../kit/shared-count.ts";
import { SIGNATURE_WINDOW_MS } from "../../kit/signed-body.ts";
import { begin, type BeginDeps, findChat } from "./begin.ts";
import { createPace } from "../../kit/pace.ts";
import { type WebhookRules, type WebhookSettings, rulesFor } from "./rules.ts";
import { KEY_ID_HEADER, type Verified, verify } from "./verify.ts";
import { parseWebhook } from "./parse-webhook.ts";

interface IncomingWebhookDeps extends BeginDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly marks: WebhookMarkStore;
  /** Absent: there are no other gateways. */
  readonly counted?: SharedCount;
}

/** A key is remembered so long; a signature only as long as it could be used again. */
const KEY_MS = 24 * 3_600_000;
const SIGNED_MS = 3 * SIGNATURE_WINDOW_MS;

type Genuine = Extract<Verified, { kind: "good" }>;

export function createIncomingWebhooks(deps: IncomingWebhookDeps, settings: () => WebhookSettings): IncomingWebhooks {
  const pace = createPace(deps.clock, deps.counted);
  const refuse = (request: WebhookCall, refusal: Refusal): WebhookRefusal => {
    const { because, code, say, retryAfterMs } = refusal;
    const fields = { hook: request.name.slice(0, MAX_LOGGED_NAME), client: request.client, because };
    deps.log.warn("hook refused", { ...fields, code, ...(refusal.guess ? namedKey(request) : {}) });
    return {
      kind: "refused",
      code,
      guess: refusal.guess ?? false,
      ...(say === undefined ? {} : { say }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  };
  return {
    async receive(request, signal) {
      const rules = rulesFor(request.name, settings());
      if (!rules) return refuse(request, { code: "not_found", because: "unknown hook" });
      const verified = verify(request, rules, deps.clock.now());
      if (verified.kind !== "good") return refuse(request, notGenuine(verified));
      const waitMs = pace.take(request.name, rules.perMinute);
      if (waitMs > 0) return refuse(request, { code: "hook_limited", because: "too many", retryAfterMs: waitMs });
      const outcome = await take(deps, { request, rules, verified }, signal);
      if (outcome.kind === "refusal") return refuse(request, outcome.refusal);
      const { signedWith } = verified; // says which keys are still in use, and which can go
      deps.log.info("hook accepted", { hook: request.name, requestId: outcome.id, signedWith });
      return { kind: "stored", id: outcome.id };
    },
  };
}

const MAX_LOGGED_NAME = 64;
const KEY_ID = /^[a-z0-9-]{1,64}$/;

/** The key a sender says it has signed with. It is anybody's text, a secret in the wrong header included: only what could be an id is told. */
function namedKey({ headers }: WebhookCall): { readonly keyId?: string } {
  const named = headers.get(KEY_ID_HEADER);
  return named === null ? {} : { keyId: KEY_ID.test(named) ? named : "(not an id)" };
}

interface Refusal {
  readonly code: ErrorCode;
  /** For the log; constant words. */
  readonly because: string;
  readonly guess?: boolean;
  readonly say?: string;
  readonly retryAfterMs?: number;
}

type Taken = { readonly kind: "taken"; readonly id: string } | { readonly kind: "refusal"; readonly refusal: Refusal };

function notGenuine(verdict: Exclude<Verified, Genuine>): Refusal {
  if (verdict.kind === "stale") return { code: "hook_stale", because: "old timestamp" };
  if (verdict.kind === "bad_key")
    return {
      code: "bad_request",
      because: "unusable key",
      say: "An Idempotency-Key has 1 to 128 visible characters.",
    };
  return { code: "hook_signature", because: `signature: ${verdict.because}`, guess: true };
}

interface Asked {
  readonly request: WebhookCall;
  readonly rules: WebhookRules;
  readonly verified: Genuine;
}

async function take(
  deps: IncomingWebhookDeps,
  { request, rules, verified }: Asked,
  signal: AbortSignal,
): Promise<Taken> {
  const read = parseWebhook(request.body, rules);
  if (!read.ok) return refused({ code: "invalid_params", because: "unusable body", say: read.problem });
  const chat = await findChat(deps, read.asked, rules.mapping !== null);
  if (typeof chat === "string") return refused({ code: "invalid_params", because: "unknown name", say: chat });
  const fingerprint = digest(request.body);
  const admission = await admit(deps, { request, rules, verified }, fingerprint);
  if (admission.kind === "key_reused") return refused({ code: "key_reused", because: "key of another request" });
  if (admission.kind === "replayed") return refused({ code: "hook_replayed", because: "replay" });
  const id = admission.requestId;
  if (admission.kind === "same") return { kind: "taken", id };
  const begun = await begin(deps, { id, asked: read.asked, chat, role: rules.role, fingerprint }, signal);
  switch (begun.kind) {
    case "begun":
      await deps.marks.stored(id);
      return { kind: "taken", id };
    case "full":
      return refused({ code: "queue_full", because: "queue full", retryAfterMs: begun.retryAfterMs });
    case "stopping":
      return refused({ code: "stopping", because: "stopping" });
  }
}

async function admit({ clock, ids, marks }: IncomingWebhookDeps, { request, verified }: Asked, fingerprint: string) {
  const requestId = ids.next("hook");
  const { timestamp, key } = verified;
  if (timestamp === null && key === null) return { kind: "begin", requestId } as const;
  const now = clock.now();
  return marks.admit({
    requestId,
    hook: request.name,
    fingerprint,
    at: now,
    signed: timestamp === null ? null : digest(`${timestamp}.${fingerprint}`),
    key: key === null ? null : digest(key),
    expiresAt: now + (key === null ? SIGNED_MS : KEY_MS),
  });
}

function refused(refusal: Refusal): Taken {
  return { kind: "refusal", refusal };
}

function digest(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("hex");
}
