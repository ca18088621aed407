/** Turns as something to look at: which there were, how each ended and where its time went. Changes nothing. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { sessionOf } from "../chat/accept-message.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { json, OPERATOR_GET, param, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function turnRoutes(deps: Pick<HttpDeps, "messages" | "store">): readonly Route[] {
  const Query = checkedObject({
    ...PAGE_FIELDS,
    session: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    outcome: Type.Optional(Type.Union([Type.Literal("done"), Type.Literal("failed"), Type.Literal("aborted")])),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/turns",
      async handle({ query }) {
        const { session, outcome, ...page } = await Query.parse(queryValues(query));
        const filter = {
          ...(session === undefined ? {} : { sessionKey: sessionOf(deps, session).sessionKey }),
          ...(outcome === undefined ? {} : { outcome }),
        };
        return json(await deps.store.turns.list(filter, pageOf(page)));
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/turns/:id",
      async handle(call) {
        const found = await deps.store.turns.get(param(call, "id") as TurnId);
        if (found) return json(found);
        throw new GatewayError("not_found", "no such turn", { say: "There is no such turn." });
      },
    },
  ];
}
