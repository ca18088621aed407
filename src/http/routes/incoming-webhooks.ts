/** Requests of other programs: `POST /hooks/{name}`. Their token is checked before the body is read, and the body's signature before it is parsed. */
import type { IncomingWebhooks, WebhookRefusal } from "../../contracts/automation/webhook.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Auth } from "../access/auth.ts";
import { refuseOtherCharset } from "../body.ts";
import { lockedOut } from "../problem.ts";
import { json, type Route } from "../route.ts";

export const MAX_HOOK_BYTES = 256 * 1024;

interface WebhookRouteDeps {
  readonly webhooks: IncomingWebhooks;
  readonly signIn: { readonly auth: Pick<Auth, "hookForged"> };
}

export function webhookRoutes(deps: WebhookRouteDeps): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/hooks/:name",
      auth: "hook",
      body: { kind: "bytes", maxBytes: MAX_HOOK_BYTES },
      async handle({ request, params, bytes, client, signal }) {
        refuseOtherCharset(request.headers);
        const asked = { name: params["name"] ?? "", headers: request.headers, body: bytes, client: client.key };
        const answer = await deps.webhooks.receive(asked, signal);
        if (answer.kind === "stored") return json({ id: answer.id }, 202);
        const verdict = answer.guess ? deps.signIn.auth.hookForged(client.key) : null;
        if (verdict?.kind === "locked") throw lockedOut(verdict.retryAfterMs);
        throw problemOf(answer);
      },
    },
  ];
}

function problemOf({ code, say, retryAfterMs }: WebhookRefusal): GatewayError {
  return new GatewayError(code, "hook refused", {
    ...(say === undefined ? {} : { say }),
    fields: retryAfterMs === undefined ? {} : { retryAfterMs },
  });
}
