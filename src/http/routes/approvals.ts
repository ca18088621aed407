/** Calls that wait for the owner's word, and how earlier ones ended. Not for agents: nobody approves what they ask for themselves. */
import { OPERATOR } from "../../contracts/ids.ts";
import { Type } from "typebox";
import { MAX_PAGE, pageOf } from "../chat/session-actions.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import { DECISION, decideApproval } from "../tools/approvals.ts";
import type { HttpDeps } from "../types.ts";

export function approvalRoutes(deps: Pick<HttpDeps, "approvals" | "store">): readonly Route[] {
  const Body = checked(Type.Object({ decision: DECISION }, { additionalProperties: false }));
  const Query = checked(
    Type.Object(
      {
        state: Type.Union([Type.Literal("open"), Type.Literal("ended")]),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: Type.Optional(Type.String({ maxLength: 512 })),
      },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "GET",
      path: "/api/approvals",
      auth: "operator",
      body: NO_BODY,
      async handle({ query }) {
        const given: Record<string, string | number> = { state: "open", ...Object.fromEntries(query) };
        if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
        const { state, ...page } = await Query.parse(given);
        if (state === "open") return json({ items: deps.approvals.pending() });
        return json(await deps.store.approvals.ended(pageOf(page)));
      },
    },
    {
      method: "POST",
      path: "/api/approvals/:id",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ params, identity, json: body }) {
        const { decision } = await Body.parse(body);
        return json(await decideApproval(deps, { id: params["id"] ?? "", decision }, identity?.principal ?? OPERATOR));
      },
    },
  ];
}
