/** What models have cost, for the owner: GET /api/usage, added up by day, agent, origin, model or person. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { USAGE_BY, type UsageBy } from "../../contracts/store/usage.ts";
import { MAX_PAGE, pageOf } from "../chat/session-actions.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const DAY = Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });

export function usageRoutes({ store, budget }: Pick<HttpDeps, "store" | "budget">): readonly Route[] {
  const Query = checked(
    Type.Object(
      {
        from: Type.Optional(DAY),
        to: Type.Optional(DAY),
        by: Type.Optional(Type.Unsafe<UsageBy>({ enum: USAGE_BY })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: Type.Optional(Type.String({ maxLength: 16 })),
      },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "GET",
      path: "/api/usage",
      auth: "operator",
      body: NO_BODY,
      async handle({ query }) {
        const given: Record<string, string | number> = Object.fromEntries(query);
        if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
        const { by = "day", ...asked } = await Query.parse(given);
        const { day, timezone } = budget.today();
        const { from = `${(asked.to ?? day).slice(0, 7)}-01`, to = from > day ? from : day } = asked;
        for (const one of [from, to]) if (!isDay(one)) throw wrong(`${one} is not a day.`);
        if (from > to) throw wrong("`from` is after `to`.");
        const report = await store.usage.report({ from, to, by }, pageOf(asked));
        return json({ from, to, timezone, by, ...report, limits: budget.limits() });
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
