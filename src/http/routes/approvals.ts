/** Calls that wait for the owner's word, how earlier ones ended, and the rules that were made of answers. Not for agents: nobody approves what they ask for themselves. */
import { Type } from "typebox";
import { bodyOf, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { OPERATOR_GET, OPERATOR_POST, param, principalOf, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { DECISION, decideApproval, removeRule } from "../tools/approvals.ts";
import type { HttpDeps } from "../types.ts";

export function approvalRoutes(deps: Pick<HttpDeps, "tools" | "store">): readonly Route[] {
  const Body = bodyOf<"POST /api/approvals/:id">()(checkedObject(DECISION));
  const Query = checkedObject({ ...PAGE_FIELDS, state: Type.Union([Type.Literal("open"), Type.Literal("ended")]) });
  const Rules = checkedObject(PAGE_FIELDS);
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
        const decided = await Body.parse(call.json);
        return jsonOf<"POST /api/approvals/:id">(
          await decideApproval(deps, { id: param(call, "id"), ...decided }, principalOf(call)),
        );
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/approval-rules",
      scope: READ,
      async handle({ query }) {
        const page = pageOf(await Rules.parse(queryValues(query)));
        return jsonOf<"GET /api/approval-rules">(await deps.tools.approvalRules.list(page));
      },
    },
    {
      ...OPERATOR_POST,
      method: "DELETE",
      path: "/api/approval-rules/:id",
      scope: ADMIN,
      handle: async (call) =>
        jsonOf<"DELETE /api/approval-rules/:id">(await removeRule(deps, param(call, "id"), principalOf(call))),
    },
  ];
}
