/** POST /api/messages/:id/cancel withdraws a message that still waits; PATCH /api/messages/:id changes its text. */
import { Type } from "typebox";
import { cancelMessage, editMessage } from "../chat/cancel-message.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { OPERATOR_POST, param, principalOf, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { CHAT } from "../access/key-reach.ts";
import type { HttpDeps, HttpOptions } from "../types.ts";

export function messageRoutes(deps: Pick<HttpDeps, "messages">, limits: HttpOptions["limits"]): readonly Route[] {
  const Body = bodyOf<"PATCH /api/messages/:id">()(checkedObject({ text: Type.String() }));
  return [
    {
      ...OPERATOR_POST,
      path: "/api/messages/:id/cancel",
      scope: CHAT,
      handle: async (call) =>
        jsonOf<"POST /api/messages/:id/cancel">(await cancelMessage(deps, param(call, "id"), principalOf(call))),
    },
    {
      method: "PATCH",
      path: "/api/messages/:id",
      scope: CHAT,
      auth: "operator",
      body: SMALL_JSON,
      async handle(call) {
        const { text } = await Body.parse(call.json);
        const asked = { id: param(call, "id"), text, maxChars: limits().maxMessageChars };
        return jsonOf<"PATCH /api/messages/:id">(await editMessage(deps, asked, principalOf(call)));
      },
    },
  ];
}
