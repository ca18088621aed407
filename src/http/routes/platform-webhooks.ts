/**
 * Requests of the platforms themselves. Which paths there are changes with the configuration, so they are asked for and not listed. Nobody
 * signs in here: the channel checks the raw bytes, and nothing is parsed before that.
 */
import type { Webhook } from "../../contracts/channels/platform.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Match } from "../route-match.ts";
import { json, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export const MAX_WEBHOOK_BYTES = 1024 * 1024;
/** Platforms give up after about this long themselves, and try again. */
const ANSWER_MS = 20_000;

/** Looks only where the table has nothing, so that no platform can take over one of our own paths. */
export function withWebhooks(
  match: (method: string, path: string) => Match,
  { clock, messages }: Pick<HttpDeps, "clock" | "messages">,
): (method: string, path: string) => Match {
  return (method, path) => {
    const found = match(method, path);
    if (found.kind !== "unknown" || method !== "POST") return found;
    const webhook = messages.platformWebhook(path);
    return webhook ? { kind: "row", route: routeOf(clock, webhook), params: {} } : found;
  };
}

function routeOf(clock: Clock, webhook: Webhook): Route {
  return {
    method: "POST",
    path: webhook.path,
    ...(webhook.hosts === undefined ? {} : { hosts: webhook.hosts }),
    auth: "public",
    scope: "open",
    body: { kind: "bytes", maxBytes: MAX_WEBHOOK_BYTES },
    async handle({ request, bytes, signal }) {
      using limit = clock.deadline(ANSWER_MS, () => new GatewayError("too_slow", "the channel did not answer in time"));
      const until = AbortSignal.any([signal, limit.signal]);
      const answer = await orAborted(webhook.handle({ headers: request.headers, body: bytes }, until), until);
      return answer.json === undefined
        ? new Response(null, { status: answer.status })
        : json(answer.json, answer.status);
    },
  };
}
