/** Everybody with a role and where it comes from, and the models that an agent can be told to use: for the owner. */
import { Type } from "typebox";
import type { Caller } from "../../contracts/agent.ts";
import type { RoleChange } from "../../contracts/channels/roles.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { DEFAULT_AGENT, OPERATOR, type Role, type TurnId } from "../../contracts/ids.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { queryValues } from "../paging.ts";
import { identityOf, jsonOf, OPERATOR_GET, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const ROLES: readonly Role[] = ["owner", "member", "guest"];

const REFUSED: Readonly<Record<Extract<RoleChange, { kind: "refused" }>["because"], string>> = {
  not_a_person: "This is not the id of a person, such as telegram:user:123.",
  operator: "The operator is always an owner.",
  named_in_config: "The configuration says which role this person has (roles.owners, roles.members). Change it there.",
  last_owner: "This is the last owner besides the operator, and stays one.",
};

export function peopleRoutes(deps: Pick<HttpDeps, "people" | "messages" | "operations">): readonly Route[] {
  const Change = bodyOf<"POST /api/people">()(
    checkedObject({
      principal: Type.String({ minLength: 1, maxLength: 200 }),
      role: Type.Union([Type.Unsafe<Role>({ enum: ROLES }), Type.Null()]),
    }),
  );
  const Asked = checkedObject({ agent: Type.Optional(Type.String({ maxLength: 64 })) });
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
    {
      ...OPERATOR_GET,
      path: "/api/models",
      scope: READ,
      async handle({ query, signal }) {
        const { agent = DEFAULT_AGENT } = await Asked.parse(queryValues(query));
        const target = deps.messages.sessions.parse("models", agent, null);
        if (target === null)
          throw new GatewayError("not_found", "no such agent", { say: `There is no agent ${agent}.` });
        const { sessionKey, agentId, channel, chat } = target;
        const origin = { channel, account: "default", chat };
        const caller: Caller = { sessionKey, agentId, origin, principal: OPERATOR, role: "owner", turnId: NO_TURN };
        const { models, providers } = await deps.messages.models.offer(caller, signal);
        const current = agentId === DEFAULT_AGENT ? deps.operations.status().model.name : null;
        return jsonOf<"GET /api/models">({ items: models, providers, current });
      },
    },
  ];
}

/** Asking which models there are belongs to no turn. */
const NO_TURN = "none" as TurnId;
