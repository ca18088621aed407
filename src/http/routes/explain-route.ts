/** Where a message would go, as the running gateway decides it now: with who got access by a code and which roles were given. Sends nothing. */
import { Type } from "typebox";
import type { Principal } from "../../contracts/ids.ts";
import { checked } from "../checked.ts";
import { json, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_ID_CHARS = 512;

export function explainRouteRoutes({ explainRoute }: Pick<HttpDeps, "explainRoute">): readonly Route[] {
  const id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
  const Asked = checked(
    Type.Object(
      {
        channel: id,
        account: id,
        chat: id,
        thread: Type.Optional(id),
        peer: id,
        scope: Type.Union([Type.Literal("dm"), Type.Literal("group")]),
        mentioned: Type.Boolean(),
      },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "POST",
      path: "/api/route",
      auth: "operator",
      body: SMALL_JSON,
      async handle({ json: body }) {
        const { channel, account, chat, thread, peer, scope, mentioned } = await Asked.parse(body);
        const address = { channel, account, chat, ...(thread === undefined ? {} : { thread }) };
        const sender = { principal: peer as Principal, name: "" };
        const { verdict, considered } = explainRoute({ address, scope, sender, mentioned });
        return json({ verdict, considered });
      },
    },
  ];
}
