/** Who asks to be let in and who was: GET /api/pairing, POST /api/pairing/:id with a decision. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { OPERATOR } from "../access/auth.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const NOT_THERE = "There is no such entry or code, or its hour is over. A new message of theirs brings a new code.";

export function pairingRoutes({ pairing }: Pick<HttpDeps, "pairing">): readonly Route[] {
  const Body = checked(
    Type.Object(
      { decision: Type.Union([Type.Literal("approve"), Type.Literal("revoke")]) },
      { additionalProperties: false },
    ),
  );
  const unknown = () => new GatewayError("not_found", "no such pairing", { say: NOT_THERE });
  return [
    {
      method: "GET",
      path: "/api/pairing",
      auth: "operator",
      body: NO_BODY,
      handle: () => json({ items: pairing.list() }),
    },
    {
      method: "POST",
      path: "/api/pairing/:id",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ params, identity, json: body }) {
        const { decision } = await Body.parse(body);
        const by = identity?.principal ?? OPERATOR;
        const id = params["id"] ?? "";
        if (decision === "revoke") {
          if (!(await pairing.revoke(id, by))) throw unknown();
          return json({ revoked: true });
        }
        const approval = await pairing.approve(id, by);
        if (approval.kind === "unknown") throw unknown();
        return json({ person: approval.person, role: approval.role });
      },
    },
  ];
}
