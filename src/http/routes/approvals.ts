/** Calls that wait for the owner's word, and how earlier ones ended. Not for agents: nobody approves what they ask for themselves. */
import { Type } from "typebox";
import { bodyOf, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { DECISION, decideApproval } from "../tools/approvals.ts";
import type { HttpDeps } from "../types.ts";

export function approvalRoutes(deps: Pick<HttpDeps, "tools" | "store">): readonly Route[] {
  const Body = bodyOf<"POST /api/approvals/:id">()(checkedObject({ decision: DECISION }));
  const Query = checkedObject({ ...PAGE_FIELDS, state: Type.Union([Type.Literal("open"), Type.Literal("ended")]) });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/approvals",
      scope: READ,
      async handle({ query }) {
        const { state, ...page } = await Query.parse({ state: "open", ...queryValues(query) });
        if (state === "open") return jsonOf<"GET /api/approvals">({ items: deps.tools.approvals.pending() });
        return jsonOf<"GET /api/approvals">(await deps.store.approvals.ended(pageOf(page)));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/approvals/:id",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { decision } = await Body.parse(call.json);
        return jsonOf<"POST /api/approvals/:id">(
          await decideApproval(deps, { id: param(call, "id"), decision }, principalOf(call)),
        );
      },
    },
  ];
}
