/** Notifications in browsers: which browsers get them, and approvals that are decided in one. A browser asks for itself, by its own sign-in. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { BrowserSignIn, PushOutcome } from "../../contracts/notifications.ts";
import type { StoredPushSubscription } from "../../contracts/store/push-subscriptions.ts";
import type { NotifiedBrowser } from "../../contracts/notifications-api.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { ADMIN } from "../access/key-reach.ts";
import {
  type Call,
  jsonOf,
  NO_BODY,
  OPERATOR_GET,
  OPERATOR_POST,
  param,
  principalOf,
  type Route,
  SMALL_JSON,
} from "../route.ts";
import { requireDecided } from "../tools/approvals.ts";
import type { HttpDeps } from "../types.ts";

const MAX_ENDPOINT_CHARS = 1_024;
const MAX_NAME_CHARS = 80;
/** 65 bytes and 16 bytes, as RFC 8291 has them. */
const P256DH = Type.String({ pattern: "^[A-Za-z0-9_-]{87}=?$" });
const AUTH = Type.String({ pattern: "^[A-Za-z0-9_-]{22}(==)?$" });
const MAX_TOKEN_CHARS = 100;

export function notificationRoutes({ people: { notifications } }: Pick<HttpDeps, "people">): readonly Route[] {
  const Subscription = bodyOf<"POST /api/notifications">()(
    checkedObject({
      endpoint: Type.String({ minLength: 1, maxLength: MAX_ENDPOINT_CHARS }),
      keys: Type.Object({ p256dh: P256DH, auth: AUTH }, { additionalProperties: false }),
      browser: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS })),
    }),
  );
  const Decision = bodyOf<"POST /api/notifications/decision">()(
    checkedObject({
      approval: Type.String({ minLength: 1, maxLength: MAX_TOKEN_CHARS }),
      decision: Type.Union([Type.Literal("once"), Type.Literal("deny")]),
      token: Type.String({ minLength: 1, maxLength: MAX_TOKEN_CHARS }),
    }),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/notifications",
      scope: ADMIN,
      async handle(call) {
        const items = (await notifications.list()).map((one) => shown(one, call));
        const enabled = notifications.isEnabled();
        return jsonOf<"GET /api/notifications">({ enabled, publicKey: notifications.publicKey, items });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/notifications",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { endpoint, keys, browser = "A browser" } = await Subscription.parse(call.json);
        const stored = await notifications.subscribe({ endpoint, ...keys, browser }, browserOf(call));
        return jsonOf<"POST /api/notifications">({ browser: shown(stored, call) });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/notifications/decision",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const asked = await Decision.parse(call.json);
        requireDecided(await notifications.decide(asked, browserOf(call)));
        return jsonOf<"POST /api/notifications/decision">({ decision: asked.decision });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/notifications/:id/test",
      scope: ADMIN,
      async handle(call) {
        const outcome = await notifications.test(param(call, "id"), call.signal);
        return jsonOf<"POST /api/notifications/:id/test">(tested(outcome));
      },
    },
    {
      method: "DELETE",
      path: "/api/notifications/:id",
      auth: "operator",
      scope: ADMIN,
      body: NO_BODY,
      async handle(call) {
        if (!(await notifications.remove(param(call, "id"), principalOf(call))))
          throw new GatewayError("not_found", "no such subscription", { say: "No such browser gets notifications." });
        return jsonOf<"DELETE /api/notifications/:id">({ removed: true });
      },
    },
  ];
}

/** Throws `forbidden` for a program: a notification is shown, and decided, in a browser that is signed in. */
function browserOf({ identity }: Call): BrowserSignIn {
  if (identity?.signIn) return { principal: identity.principal, signIn: identity.signIn };
  throw new GatewayError("forbidden", "no browser that is signed in", {
    say: "Notifications are for a browser that is signed in to the web console. Open the web console there and switch them on.",
  });
}

function shown(stored: StoredPushSubscription, { identity }: Call): NotifiedBrowser {
  const { id, browser, createdAt, sentAt, problem, signIn } = stored;
  return { id, browser, createdAt, sentAt, problem, current: identity?.signIn === signIn };
}

function tested(outcome: PushOutcome): { readonly ok: boolean; readonly say: string } {
  if (outcome.kind === "sent") return { ok: true, say: "The push service took it. The browser shows it in a moment." };
  if (outcome.kind === "gone")
    return { ok: false, say: "The browser does not want notifications any more, so it was removed from the list." };
  return { ok: false, say: `The notification was not sent: ${outcome.because}.` };
}
