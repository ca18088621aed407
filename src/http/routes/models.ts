/** Models and their providers: what can be chosen and what it costs, which keys are there, and a try of one. */
import { Type } from "typebox";
import type { Caller } from "../../contracts/agent.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { DEFAULT_AGENT, OPERATOR, type TurnId } from "../../contracts/ids.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { queryValues } from "../paging.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_NAME_CHARS = 64;
const MAX_KEY_CHARS = 4_096;
/** Asking which models there are belongs to no turn. */
const NO_TURN = "none" as TurnId;

export function modelRoutes(deps: Pick<HttpDeps, "messages" | "operations">): readonly Route[] {
  const Asked = checkedObject({ agent: Type.Optional(Type.String({ maxLength: MAX_NAME_CHARS })) });
  const Test = bodyOf<"POST /api/models/test">()(
    checkedObject({
      provider: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS }),
      key: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_KEY_CHARS })),
    }),
  );
  return [
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
    {
      ...OPERATOR_GET,
      path: "/api/models/providers",
      scope: READ,
      handle: () => jsonOf<"GET /api/models/providers">({ items: deps.operations.views.modelKeys.providers() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/models/test",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle({ json, signal }) {
        const { provider, key = null } = await Test.parse(json);
        const test = await deps.operations.views.modelKeys.test(provider, key, signal);
        if (test) return jsonOf<"POST /api/models/test">(test);
        throw new GatewayError("not_found", "no such provider", {
          say: `There is no model provider called ${provider}.`,
        });
      },
    },
  ];
}
