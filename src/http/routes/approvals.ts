/** Calls that wait for the owner's word, and how earlier ones ended. Not for agents: nobody approves what they ask for themselves. */
import { Type } from "typebox";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { json, OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, SMALL_JSON } from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { DECISION, decideApproval } from "../tools/approvals.ts";
import type { HttpDeps } from "../types.ts";

export function approvalRoutes(deps: Pick<HttpDeps, "tools" | "store">): readonly Route[] {
  const Body = checkedObject({ decision: DECISION });
  const Query = checkedObject({ ...PAGE_FIELDS, state: Type.Union([Type.Literal("open"), Type.Literal("ended")]) });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/approvals",
      scope: READ,
      async handle({ query }) {
        const { state, ...page } = await Query.parse({ state: "open", ...queryValues(query) });
        if (state === "open") return json({ items: deps.tools.approvals.pending() });
        return json(await deps.store.approvals.ended(pageOf(page)));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/approvals/:id",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { decision } = await Body.parse(call.json);
        return json(await decideApproval(deps, { id: param(call, "id"), decision }, principalOf(call)));
      },
    },
  ];
}
