/** Browsers that are signed in: which there are, and signing one out from elsewhere. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Identity } from "../access/auth.ts";
import { ADMIN } from "../access/key-reach.ts";
import { jsonOf, NO_BODY, OPERATOR_GET, param, type Route } from "../route.ts";
import type { SignInDeps } from "./sign-in.ts";

const SHORT_ID_CHARS = 12;

/** The digest of a cookie is no secret, but too long to read out. */
function shortId({ signIn }: Identity): string {
  return (signIn ?? "").slice(0, SHORT_ID_CHARS);
}

export function browserRoutes(deps: SignInDeps): readonly Route[] {
  return [
    {
      ...OPERATOR_GET,
      path: "/api/sign-ins",
      scope: ADMIN,
      async handle(call) {
        const items = (await deps.auth.browsers()).map(({ identity, createdAt, browser }) => ({
          id: shortId(identity),
          browser,
          createdAt,
          expiresAt: identity.expiresAt,
          current: identity.signIn !== null && identity.signIn === call.identity?.signIn,
        }));
        return jsonOf<"GET /api/sign-ins">({ items });
      },
    },
    {
      method: "DELETE",
      path: "/api/sign-ins/:id",
      auth: "operator",
      scope: ADMIN,
      body: NO_BODY,
      async handle(call) {
        const found = (await deps.auth.browsers()).find(({ identity }) => shortId(identity) === param(call, "id"));
        if (!found) throw new GatewayError("not_found", "no such sign-in", { say: "No such browser is signed in." });
        await deps.auth.signOut(found.identity);
        await deps.signedOut(found.identity);
        return jsonOf<"DELETE /api/sign-ins/:id">({ signedOut: true });
      },
    },
  ];
}
