/** POST /api/messages/:id/cancel takes a message back as long as it waits; PATCH /api/messages/:id changes its words. */
import { OPERATOR } from "../../contracts/ids.ts";
import { Type } from "typebox";
import { cancelMessage, editMessage } from "../chat/cancel-message.ts";
import { checked } from "../checked.ts";
import { json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps, HttpOptions } from "../types.ts";

export function messageRoutes(
  deps: Pick<HttpDeps, "waitingMessages">,
  limits: HttpOptions["limits"],
): readonly Route[] {
  const Body = checked(Type.Object({ text: Type.String() }, { additionalProperties: false }));
  return [
    {
      method: "POST",
      path: "/api/messages/:id/cancel",
      auth: "operator",
      body: NO_BODY,
      handle: async ({ params, identity }) =>
        json(await cancelMessage(deps, params["id"] ?? "", identity?.principal ?? OPERATOR)),
    },
    {
      method: "PATCH",
      path: "/api/messages/:id",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ params, identity, json: body }) {
        const { text } = await Body.parse(body);
        const asked = { id: params["id"] ?? "", text, maxChars: limits().maxMessageChars };
        return json(await editMessage(deps, asked, identity?.principal ?? OPERATOR));
      },
    },
  ];
}
