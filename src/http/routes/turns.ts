/** Turns as something to look at: which there were, how each ended and where its time went. Changes nothing. */
import { Type } from "typebox";
import { GatewayError, sentenceOf } from "../../contracts/errors.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { seenSession } from "../chat/session-actions.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { identityOf, OPERATOR_GET, param, type Route, jsonOf } from "../route.ts";
import { CHAT_OR_READ, maySee, READ_SESSIONS, reachOf } from "../access/key-reach.ts";
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
      scope: READ_SESSIONS,
      async handle(call) {
        const { session, outcome, ...page } = await Query.parse(queryValues(call.query));
        const asking = identityOf(call);
        const filter = {
          within: reachOf(asking),
          ...(session === undefined ? {} : { sessionKey: seenSession(deps, session, asking) }),
          ...(outcome === undefined ? {} : { outcome }),
        };
        const { items, ...rest } = await deps.store.turns.list(filter, pageOf(page));
        return jsonOf<"GET /api/turns">({
          items: items.filter(({ turn }) => maySee(asking, turn.sessionKey)),
          ...rest,
        });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/turns/:id",
      scope: CHAT_OR_READ,
      async handle(call) {
        const found = await deps.store.turns.get(param(call, "id") as TurnId);
        if (!found || !maySee(identityOf(call), found.turn.sessionKey))
          throw new GatewayError("not_found", "no such turn", { say: "There is no such turn." });
        const { errorCode } = found.turn;
        return jsonOf<"GET /api/turns/:id">({ ...found, ...(errorCode ? { because: sentenceOf(errorCode) } : {}) });
      },
    },
  ];
}
