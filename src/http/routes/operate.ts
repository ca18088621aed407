/** Status, metrics, configuration and the event socket: what the owner's page and command line need to run the gateway. */
import { GatewayError } from "../../contracts/errors.ts";
import { isUpgrade } from "../access/gate.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function operateRoutes(
  deps: Pick<HttpDeps, "status" | "metrics" | "publicConfig" | "reloadConfig">,
): readonly Route[] {
  const read = { method: "GET", auth: "operator", body: NO_BODY } as const;
  return [
    { ...read, path: "/api/status", handle: () => json(deps.status()) },
    { ...read, path: "/api/metrics", handle: () => json(deps.metrics.snapshot()) },
    {
      ...read,
      path: "/metrics",
      async handle() {
        const { text, contentType } = await deps.metrics.prometheus();
        return new Response(text, { headers: { "content-type": contentType } });
      },
    },
    { ...read, path: "/api/config", handle: () => json(deps.publicConfig()) },
    {
      method: "POST",
      path: "/api/config/reload",
      auth: "operator",
      body: NO_BODY,
      handle: async () => json(await deps.reloadConfig()),
    },
    {
      ...read,
      path: "/ws",
      handle({ request, server, identity, requestId }) {
        const headers = { "x-request-id": requestId };
        const fresh = { inFlight: 0, following: new Map(), sending: Promise.resolve(), gone: new AbortController() };
        const data = identity && { identity, ...fresh };
        if (data && isUpgrade(request.headers) && server.upgrade(request, { data, headers })) return "upgraded";
        throw new GatewayError("bad_request", "no upgrade", { say: "This address takes WebSocket connections only." });
      },
    },
  ];
}
