/** Agents for their owner: what each is set up with, what it may do for whom, and which processes run. Changes nothing. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { checkedObject } from "../checked.ts";
import { jsonOf, OPERATOR_GET, param, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function agentRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  const Query = checkedObject({
    role: Type.Optional(Type.Union([Type.Literal("owner"), Type.Literal("member"), Type.Literal("guest")])),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/agents",
      scope: READ,
      handle: () => jsonOf<"GET /api/agents">(operations.views.agents.list()),
    },
    {
      ...OPERATOR_GET,
      path: "/api/agents/:id",
      scope: ADMIN,
      async handle(call) {
        const { role = "owner" } = await Query.parse(Object.fromEntries(call.query));
        const agent = operations.views.agents.show(param(call, "id"), role);
        if (agent) return jsonOf<"GET /api/agents/:id">({ agent });
        throw new GatewayError("not_found", "no such agent", { say: "There is no such agent." });
      },
    },
  ];
}
