/** Looking after the gateway: checks from inside, settings with where they come from, going back to the last good ones, and the log. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { LogLevelName } from "../../contracts/system-api.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, queryValues } from "../paging.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_TEXT_CHARS = 200;
const USUAL_LINES = 100;

export function systemRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  const Logs = checkedObject({
    limit: PAGE_FIELDS.limit,
    level: Type.Optional(Type.Unsafe<LogLevelName>({ enum: ["debug", "info", "warn", "error"] })),
    q: Type.Optional(Type.String({ maxLength: MAX_TEXT_CHARS })),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/doctor",
      scope: READ,
      handle: async () => jsonOf<"GET /api/doctor">({ items: await operations.views.system.doctor() }),
    },
    {
      ...OPERATOR_GET,
      path: "/api/config/settings",
      scope: ADMIN,
      handle: async () => jsonOf<"GET /api/config/settings">(await operations.views.system.settings()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/config/revert",
      scope: ADMIN,
      async handle() {
        const problems = await operations.views.system.revert();
        if (problems.length === 0) return jsonOf<"POST /api/config/revert">({ reverted: true });
        throw new GatewayError("conflict", "not reverted", { say: problems.join(" ") });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/logs",
      scope: ADMIN,
      async handle({ query }) {
        const { limit = USUAL_LINES, level = "info", q = "" } = await Logs.parse(queryValues(query));
        return jsonOf<"GET /api/logs">(await operations.views.system.logs({ level, text: q, limit }));
      },
    },
  ];
}
