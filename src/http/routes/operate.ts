/** Status, metrics, configuration and the event socket: what the web console and the command line need to run the gateway. */
import { GatewayError } from "../../contracts/errors.ts";
import { OPERATOR_GET, OPERATOR_POST, param, type Route, jsonOf } from "../route.ts";
import { ADMIN, ANY_SCOPE, READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";
import { upgraded } from "../ws/upgraded.ts";

const NOT_FOR_KEYS = "A key cannot replace the operator's token.";
const CONFIGURED = "The token is set in the configuration (gateway.auth.token). Change it there; it counts at once.";

export function operateRoutes(deps: Pick<HttpDeps, "clock" | "operations" | "store">): readonly Route[] {
  return [
    {
      ...OPERATOR_GET,
      path: "/api/status",
      scope: READ,
      handle: () => jsonOf<"GET /api/status">(deps.operations.status()),
    },
    {
      ...OPERATOR_GET,
      path: "/api/metrics",
      scope: READ,
      handle: () => jsonOf<"GET /api/metrics">(deps.operations.metrics.snapshot()),
    },
    {
      ...OPERATOR_GET,
      path: "/metrics",
      scope: READ,
      async handle() {
        const { text, contentType } = await deps.operations.metrics.prometheus();
        return new Response(text, { headers: { "content-type": contentType } });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/nodes",
      scope: READ,
      handle: async () => jsonOf<"GET /api/nodes">(await deps.operations.nodes.list()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/nodes/:id/drain",
      scope: ADMIN,
      handle: async (call) =>
        jsonOf<"POST /api/nodes/:id/drain">({ draining: await deps.operations.nodes.drain(param(call, "id")) }, 202),
    },
    {
      ...OPERATOR_GET,
      path: "/api/storage",
      scope: READ,
      handle: async ({ request }) => jsonOf<"GET /api/storage">(await deps.operations.storage(request.signal)),
    },
    {
      ...OPERATOR_GET,
      path: "/api/config",
      scope: ADMIN,
      handle: () => jsonOf<"GET /api/config">(deps.operations.publicConfig()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/config/reload",
      scope: ADMIN,
      handle: async () => jsonOf<"POST /api/config/reload">(await deps.operations.reloadConfig()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/token/rotate",
      scope: ADMIN,
      async handle({ identity }) {
        if (identity?.key) throw new GatewayError("forbidden", "a key asked for a new token", { say: NOT_FOR_KEYS });
        const rotation = await deps.operations.rotateToken();
        if (rotation.kind === "configured")
          throw new GatewayError("conflict", "token is configured", { say: CONFIGURED });
        const { browsers } = rotation;
        const at = deps.clock.now();
        const actor = identity?.principal ?? "operator";
        await deps.store.audit.note({ kind: "token.rotated", at, actor, subject: "", detail: { browsers } });
        await rotation.spread();
        return jsonOf<"POST /api/token/rotate">({ browsers });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/restart",
      scope: ADMIN,
      handle() {
        if (deps.operations.restart()) return jsonOf<"POST /api/restart">({ restarting: true }, 202);
        throw new GatewayError("forbidden", "restart is off", {
          say: "Restarting from here is off. Set gateway.commands.restart to true to allow it.",
        });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/ws",
      scope: ANY_SCOPE,
      handle: (call) => upgraded(deps, call, null),
    },
  ];
}
