/** Replies that did not simply arrive, for the owner. Only reads: what was given up is not sent again from here. */
import { Type } from "typebox";
import { MAX_PAGE, pageOf } from "../chat/session-actions.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function outboxRoutes(deps: Pick<HttpDeps, "store">): readonly Route[] {
  const Query = checked(
    Type.Object(
      {
        state: Type.Union([Type.Literal("dead"), Type.Literal("ambiguous")]),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: Type.Optional(Type.String({ maxLength: 512 })),
      },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "GET",
      path: "/api/outbox",
      auth: "operator",
      body: NO_BODY,
      async handle({ query }) {
        const given: Record<string, string | number> = { state: "dead", ...Object.fromEntries(query) };
        if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
        const { state, ...page } = await Query.parse(given);
        return json(await deps.store.outbox.list(state, pageOf(page)));
      },
    },
  ];
}
