/** Requests of other programs: `POST /hooks/{name}`. Their token is checked before the body is read, and the body's signature before it is parsed. */
import type { WebhookRefusal } from "../../contracts/automation/webhook.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Auth } from "../access/auth.ts";
import { refuseOtherCharset } from "../body.ts";
import { lockedOut } from "../problem.ts";
import { json, param, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export const MAX_HOOK_BYTES = 256 * 1024;

export function webhookRoutes(
  { automation }: Pick<HttpDeps, "automation">,
  auth: Pick<Auth, "hookForged">,
): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/hooks/:name",
      auth: "hook",
      scope: "open",
      body: { kind: "bytes", maxBytes: MAX_HOOK_BYTES },
      async handle(call) {
        const { request, bytes, client, signal } = call;
        refuseOtherCharset(request.headers);
        const asked = { name: param(call, "name"), headers: request.headers, body: bytes, client: client.key };
        const answer = await automation.webhooks.receive(asked, signal);
        if (answer.kind === "stored") return json({ id: answer.id }, 202);
        const verdict = answer.guess ? auth.hookForged(client.key) : null;
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
