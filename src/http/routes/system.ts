/** Looking after the gateway: checks from inside, settings with where they come from, going back to the last good ones, and the log. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { ConfigChange } from "../../contracts/config-api.ts";
import { HEALTH_FIXES, type HealthFix, type LogLevelName } from "../../contracts/system-api.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checked, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, queryValues } from "../paging.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route, SMALL_JSON } from "../route.ts";
import { settingEdits } from "../setting-edits.ts";
import type { HttpDeps } from "../types.ts";

const MAX_TEXT_CHARS = 200;
const MAX_MODULE_CHARS = 64;
/** The text of the largest file, written as JSON. */
const CONFIG_BODY: Route["body"] = { kind: "json", maxBytes: 3 * 1024 * 1024 };
const MAX_CONFIG_CHARS = 1024 * 1024;
const USUAL_LINES = 100;

export function systemRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  const Logs = checkedObject({
    limit: PAGE_FIELDS.limit,
    level: Type.Optional(Type.Unsafe<LogLevelName>({ enum: ["debug", "info", "warn", "error"] })),
    module: Type.Optional(Type.String({ maxLength: MAX_MODULE_CHARS })),
    q: Type.Optional(Type.String({ maxLength: MAX_TEXT_CHARS })),
  });
  const Fix = bodyOf<"POST /api/doctor/fix">()(checkedObject({ fix: Type.Unsafe<HealthFix>({ enum: HEALTH_FIXES }) }));
  return [
    {
      ...OPERATOR_GET,
      path: "/api/doctor",
      scope: READ,
      handle: async () => jsonOf<"GET /api/doctor">({ items: await operations.views.system.doctor() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/doctor/fix",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle({ json }) {
        const { fix } = await Fix.parse(json);
        return jsonOf<"POST /api/doctor/fix">({ say: await operations.views.system.fix(fix) });
      },
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
    ...configFileRoutes(operations),
    {
      ...OPERATOR_GET,
      path: "/api/logs",
      scope: ADMIN,
      async handle({ query }) {
        const { limit = USUAL_LINES, level = "info", module = "", q = "" } = await Logs.parse(queryValues(query));
        return jsonOf<"GET /api/logs">(await operations.views.system.logs({ level, module, text: q, limit }));
      },
    },
  ];
}

/** The configuration file for an editor: read without secrets, a change looked at before it is written. */
function configFileRoutes(operations: HttpDeps["operations"]): readonly Route[] {
  const closed = { additionalProperties: false };
  const version = Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS });
  const change = checked(
    Type.Unsafe<ConfigChange>(
      Type.Union([
        Type.Object({ version, text: Type.String({ maxLength: MAX_CONFIG_CHARS }) }, closed),
        Type.Object({ version, edits: settingEdits() }, closed),
      ]),
    ),
  );
  const Proposed = bodyOf<"POST /api/config/propose">()(change);
  const Saved = bodyOf<"POST /api/config/save">()(change);
  return [
    {
      ...OPERATOR_GET,
      path: "/api/config/file",
      scope: ADMIN,
      handle: async () => jsonOf<"GET /api/config/file">(await operations.views.system.config.file()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/config/propose",
      scope: ADMIN,
      body: CONFIG_BODY,
      handle: async ({ json }) =>
        jsonOf<"POST /api/config/propose">(await operations.views.system.config.propose(await Proposed.parse(json))),
    },
    {
      ...OPERATOR_POST,
      path: "/api/config/save",
      scope: ADMIN,
      body: CONFIG_BODY,
      handle: async ({ json }) =>
        jsonOf<"POST /api/config/save">(await operations.views.system.config.save(await Saved.parse(json))),
    },
  ];
}
