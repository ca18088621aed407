/** What the headers of a request below /v1 say, and how many requests are left for whoever asks. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Asking, RateState } from "../../contracts/openai.ts";
import { hexDigest } from "../access/digests.ts";
import { type Call, identityOf } from "../route.ts";
import type { ServerParts } from "../types.ts";
import { inSession, type SessionDeps } from "./in-session.ts";

const MS_PER_SECOND = 1_000;

export function askingOf(deps: SessionDeps, server: ServerParts, call: Call): Asking {
  const by = identityOf(call);
  const { principal, key } = by;
  return {
    principal,
    key,
    idempotencyKey: keyOf(call.request.headers),
    digest: hexDigest(JSON.stringify([call.json, sessionIn(call.request)])),
    inSession: inSession(deps, server, by),
  };
}

export function sessionIn({ headers }: Pick<Request, "headers">): string | null {
  return headers.get("x-session-key");
}

function keyOf(headers: Headers): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new GatewayError("bad_request", "unreadable Idempotency-Key", {
    say: "Idempotency-Key is 1 to 200 printable characters without spaces.",
  });
}

export function withRate(response: Response, { limit, remaining, resetMs }: RateState): Response {
  const { headers } = response;
  headers.set("x-ratelimit-limit-requests", String(limit));
  headers.set("x-ratelimit-remaining-requests", String(remaining));
  headers.set("x-ratelimit-reset-requests", `${Math.ceil(resetMs / MS_PER_SECOND)}s`);
  return response;
}
