/** Status, metrics, configuration and the event socket: what the owner's page and command line need to run the gateway. */
import { GatewayError } from "../../contracts/errors.ts";
import { isUpgrade } from "../access/gate.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";
import { createFrameRate } from "../ws/frame-rate.ts";

export function operateRoutes(
  deps: Pick<HttpDeps, "clock" | "status" | "metrics" | "publicConfig" | "reloadConfig" | "restart">,
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
      method: "POST",
      path: "/api/restart",
      auth: "operator",
      body: NO_BODY,
      handle() {
        if (deps.restart()) return json({ restarting: true }, 202);
        throw new GatewayError("forbidden", "restart is off", {
          say: "Restarting from here is off. Set gateway.commands.restart to true to allow it.",
        });
      },
    },
    {
      ...read,
      path: "/ws",
      handle({ request, server, identity, requestId }) {
        const headers = { "x-request-id": requestId };
        const data = identity && {
          identity,
          rate: createFrameRate(deps.clock),
          inFlight: 0,
          following: new Map(),
          sending: Promise.resolve(),
          gone: new AbortController(),
        };
        if (data && isUpgrade(request.headers) && server.upgrade(request, { data, headers })) return "upgraded";
        throw new GatewayError("bad_request", "no upgrade", { say: "This address takes WebSocket connections only." });
      },
    },
  ];
}
