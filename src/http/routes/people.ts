/** Everybody with a role and where it comes from: for the owner. */
import { Type } from "typebox";
import type { RoleChange } from "../../contracts/channels/roles.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Role } from "../../contracts/ids.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { identityOf, jsonOf, OPERATOR_GET, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const ROLES: readonly Role[] = ["owner", "member", "guest"];

const REFUSED: Readonly<Record<Extract<RoleChange, { kind: "refused" }>["because"], string>> = {
  not_a_person: "This is not the id of a person, such as telegram:user:123.",
  operator: "The operator is always an owner.",
  named_in_config: "The configuration says which role this person has (roles.owners, roles.members). Change it there.",
  last_owner: "This is the last owner besides the operator, and stays one.",
};

export function peopleRoutes(deps: Pick<HttpDeps, "people">): readonly Route[] {
  const Change = bodyOf<"POST /api/people">()(
    checkedObject({
      principal: Type.String({ minLength: 1, maxLength: 200 }),
      role: Type.Union([Type.Unsafe<Role>({ enum: ROLES }), Type.Null()]),
    }),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/people",
      scope: READ,
      handle: () => jsonOf<"GET /api/people">({ items: deps.people.roles.people() }),
    },
    {
      method: "POST",
      auth: "operator",
      path: "/api/people",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle(call) {
        const { principal, role } = await Change.parse(call.json);
        const change = await deps.people.roles.change({ principal, role, by: identityOf(call).principal });
        if (change.kind === "changed") return jsonOf<"POST /api/people">({ principal, role });
        throw new GatewayError("conflict", change.because, { say: REFUSED[change.because] });
      },
    },
  ];
}
