/** Where a message would go, as the running gateway decides it now: with who got access by a code and which roles were given. Sends nothing. */
import { Type } from "typebox";
import type { Principal } from "../../contracts/ids.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { OPERATOR_POST, type Route, SMALL_JSON, jsonOf } from "../route.ts";
import { READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const MAX_ID_CHARS = 512;

export function explainRouteRoutes({ people }: Pick<HttpDeps, "people">): readonly Route[] {
  const id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
  const Asked = bodyOf<"POST /api/route">()(
    checkedObject({
      channel: id,
      account: id,
      chat: id,
      thread: Type.Optional(id),
      peer: id,
      scope: Type.Union([Type.Literal("dm"), Type.Literal("group")]),
      mentioned: Type.Boolean(),
    }),
  );
  return [
    {
      ...OPERATOR_POST,
      path: "/api/route",
      scope: READ,
      body: SMALL_JSON,
      async handle({ json: body }) {
        const { channel, account, chat, thread, peer, scope, mentioned } = await Asked.parse(body);
        const address = { channel, account, chat, ...(thread === undefined ? {} : { thread }) };
        const sender = { principal: peer as Principal, name: "" };
        const { verdict, considered } = people.explainRoute({ address, scope, sender, mentioned });
        return jsonOf<"POST /api/route">({ verdict, considered });
      },
    },
  ];
}
