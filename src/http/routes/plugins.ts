/** What plugins are there, and the addresses they answer at: everything below /plugins/{id}/ belongs to that plugin, under the same gate. */
import { GatewayError } from "../../contracts/errors.ts";
import type { MountedRoute, PluginHost } from "../../contracts/plugin.ts";
import type { createMatcher } from "../route-match.ts";
import { NO_BODY, OPERATOR_GET, OPERATOR_POST, param, type Route, jsonOf } from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const BELOW = /^\/plugins\/([a-z0-9][a-z0-9-]{0,63})(\/.*)$/;
/** A plugin's pages share the gateway's origin; without this, one careless page could act as the owner. */
const SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'";

export function pluginRoutes(deps: Pick<HttpDeps, "operations">): readonly Route[] {
  return [
    {
      ...OPERATOR_GET,
      path: "/api/plugins",
      scope: READ,
      handle: () => jsonOf<"GET /api/plugins">({ items: deps.operations.plugins.list() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/plugins/:id/reload",
      scope: ADMIN,
      async handle(call) {
        const id = param(call, "id");
        const plugin = await deps.operations.plugins.reload(id);
        if (plugin) return jsonOf<"POST /api/plugins/:id/reload">({ plugin });
        throw new GatewayError("not_found", "no such plugin", {
          say: `There is no plugin called ${id}. GET /api/plugins and "pi-gw plugins list" show those that there are.`,
        });
      },
    },
  ];
}

/** The table is fixed, plugins are not: what the table does not know is looked for among them. */
export function withPluginRoutes(
  match: ReturnType<typeof createMatcher>,
  plugins: PluginHost,
): ReturnType<typeof createMatcher> {
  return (method, path) => {
    const found = match(method, path);
    const [, id, rest] = found.kind === "unknown" ? (BELOW.exec(path) ?? []) : [];
    if (id === undefined || rest === undefined) return found;
    const wanted = method === "HEAD" ? "GET" : method;
    const mounted = plugins.route(id, wanted, rest);
    if (mounted) return { kind: "row", route: rowOf(mounted, wanted, path), params: {} };
    const other = plugins.route(id, wanted === "GET" ? "POST" : "GET", rest);
    return other ? { kind: "wrong_method" } : found;
  };
}

const OPEN = { auth: "public", scope: "open" } as const;
/** What a plugin does is not known, so its pages are for keys that may do everything. */
const OPERATORS = { auth: "operator", scope: ADMIN } as const;

function rowOf(mounted: MountedRoute, method: string, path: string): Route {
  return {
    method: method === "POST" ? "POST" : "GET",
    path,
    ...(mounted.access === "public" ? OPEN : OPERATORS),
    body: method === "POST" ? { kind: "bytes", maxBytes: MAX_BODY_BYTES } : NO_BODY,
    async handle({ request, query, identity, bytes, signal }) {
      const { headers } = request;
      const principal = identity?.principal ?? null;
      const reply = await mounted.handle({ query, headers, body: bytes, principal, signal });
      if (!reply.headers.has("content-security-policy")) reply.headers.set("content-security-policy", SANDBOX);
      return reply;
    },
  };
}
