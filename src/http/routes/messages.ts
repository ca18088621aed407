/** POST /api/messages/:id/cancel: takes a message back as long as it waits. */
import { OPERATOR } from "../access/auth.ts";
import { cancelMessage } from "../chat/cancel-message.ts";
import { json, NO_BODY, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function messageRoutes(deps: Pick<HttpDeps, "takeBack">): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/messages/:id/cancel",
      auth: "operator",
      body: NO_BODY,
      handle: async ({ params, identity }) =>
        json(await cancelMessage(deps, params["id"] ?? "", identity?.principal ?? OPERATOR)),
    },
  ];
}
