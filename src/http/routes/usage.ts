/** What models have cost, for the owner: GET /api/usage, added up by day, agent, origin, model or person. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { USAGE_BY, type UsageBy } from "../../contracts/store/usage.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { OPERATOR_GET, type Route, jsonOf } from "../route.ts";
import { READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const DAY = Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });

export function usageRoutes({ store, people }: Pick<HttpDeps, "store" | "people">): readonly Route[] {
  const Query = checkedObject({
    from: Type.Optional(DAY),
    to: Type.Optional(DAY),
    by: Type.Optional(Type.Unsafe<UsageBy>({ enum: USAGE_BY })),
    limit: PAGE_FIELDS.limit,
    cursor: Type.Optional(Type.String({ maxLength: 16 })),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/usage",
      scope: READ,
      async handle({ query }) {
        const { by = "day", ...asked } = await Query.parse(queryValues(query));
        const { day, timezone } = people.budget.today();
        const { from = `${(asked.to ?? day).slice(0, 7)}-01`, to = from > day ? from : day } = asked;
        for (const one of [from, to]) if (!isDay(one)) throw wrong(`${one} is not a day.`);
        if (from > to) throw wrong("`from` is after `to`.");
        const report = await store.usage.report({ from, to, by }, pageOf(asked));
        return jsonOf<"GET /api/usage">({ from, to, timezone, by, ...report, limits: people.budget.limits() });
      },
    },
  ];
}

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

function wrong(say: string): GatewayError {
  return new GatewayError("invalid_params", say, { say });
}
