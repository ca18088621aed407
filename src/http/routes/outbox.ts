/** Replies that did not simply arrive, for the owner. Only reads: what was given up is not sent again from here. */
import { Type } from "typebox";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { OPERATOR_GET, type Route, jsonOf } from "../route.ts";
import { READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

export function outboxRoutes({ store }: Pick<HttpDeps, "store">): readonly Route[] {
  const Query = checkedObject({ ...PAGE_FIELDS, state: Type.Union([Type.Literal("dead"), Type.Literal("ambiguous")]) });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/outbox",
      scope: READ,
      async handle({ query }) {
        const { state, ...page } = await Query.parse({ state: "dead", ...queryValues(query) });
        return jsonOf<"GET /api/outbox">(await store.outbox.list(state, pageOf(page)));
      },
    },
  ];
}
