/** Turns as something to look at: which there were, how each ended and where its time went. Changes nothing. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { sessionOf } from "../chat/accept-message.ts";
import { MAX_PAGE, pageOf } from "../chat/session-actions.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function turnRoutes(deps: HttpDeps): readonly Route[] {
  const Query = checked(
    Type.Object(
      {
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: Type.Optional(Type.String({ maxLength: 512 })),
        session: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
        outcome: Type.Optional(Type.Union([Type.Literal("done"), Type.Literal("failed"), Type.Literal("aborted")])),
      },
      { additionalProperties: false },
    ),
  );
  const read = { method: "GET", auth: "operator", body: NO_BODY } as const;
  return [
    {
      ...read,
      path: "/api/turns",
      async handle({ query }) {
        const given: Record<string, string | number> = Object.fromEntries(query);
        if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
        const { session, outcome, ...page } = await Query.parse(given);
        const filter = {
          ...(session === undefined ? {} : { sessionKey: sessionOf(deps, session).sessionKey }),
          ...(outcome === undefined ? {} : { outcome }),
        };
        return json(await deps.store.turns.list(filter, pageOf(page)));
      },
    },
    {
      ...read,
      path: "/api/turns/:id",
      async handle({ params }) {
        const found = await deps.store.turns.get((params["id"] ?? "") as TurnId);
        if (found) return json(found);
        throw new GatewayError("not_found", "no such turn", { say: "There is no such turn." });
      },
    },
  ];
}
