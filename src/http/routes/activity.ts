/** What happened, in one list; and whether the audit log is what the gateway wrote. Changes nothing. */
import { Type } from "typebox";
import { ACTIVITY_KINDS, ACTIVITY_OUTCOMES } from "../../contracts/store/activity.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_NAME_CHARS = 256;

export function activityRoutes({ store, operations }: Pick<HttpDeps, "store" | "operations">): readonly Route[] {
  const name = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }));
  const Query = checkedObject({
    ...PAGE_FIELDS,
    kind: Type.Optional(Type.Union(ACTIVITY_KINDS.map((kind) => Type.Literal(kind)))),
    outcome: Type.Optional(Type.Union(ACTIVITY_OUTCOMES.map((outcome) => Type.Literal(outcome)))),
    agent: name,
    person: name,
    channel: name,
    q: name,
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/activity",
      scope: READ,
      async handle({ query }) {
        const { limit, cursor, q, ...filter } = await Query.parse(queryValues(query));
        const page = pageOf({ ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) });
        const asked = q === undefined ? filter : { ...filter, text: q };
        return jsonOf<"GET /api/activity">(await store.activity.list(asked, page));
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/audit/verification",
      scope: READ,
      handle: () => jsonOf<"GET /api/audit/verification">({ verification: operations.views.auditVerifier.last() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/audit/verification",
      scope: ADMIN,
      handle: async () =>
        jsonOf<"POST /api/audit/verification">({ verification: await operations.views.auditVerifier.verify() }),
    },
  ];
}
