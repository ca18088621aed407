/** What people do with their conversations besides talking: find what was said, keep one as a file, delete one. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { CHAT, CHAT_OR_READ, maySee, reachOf, READ_SESSIONS } from "../access/key-reach.ts";
import { EXPORT_FORMATS, exportSession } from "../chat/export-session.ts";
import { keyToChange, keyToRead } from "../chat/session-actions.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { identityOf, jsonOf, NO_BODY, OPERATOR_GET, param, principalOf, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_WORDS_CHARS = 200;

export function sessionCareRoutes(deps: Pick<HttpDeps, "store" | "messages">): readonly Route[] {
  const Search = checkedObject({
    ...PAGE_FIELDS,
    q: Type.String({ minLength: 1, maxLength: MAX_WORDS_CHARS }),
    session: Type.Optional(Type.String({ maxLength: 512 })),
    channel: Type.Optional(Type.String({ maxLength: 64 })),
  });
  const Format = checkedObject({
    format: Type.Optional(Type.Union(EXPORT_FORMATS.map((format) => Type.Literal(format)))),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/search",
      scope: READ_SESSIONS,
      async handle(call) {
        const asking = identityOf(call);
        const { q: words, session, channel, ...page } = await Search.parse(queryValues(call.query));
        const query = {
          words,
          within: reachOf(asking),
          ...(session === undefined ? {} : { session: await keyToRead(deps, session, asking) }),
          ...(channel === undefined ? {} : { channel }),
        };
        const { items, ...rest } = await deps.store.sessions.searchMessages(query, pageOf(page));
        return jsonOf<"GET /api/search">({
          items: items.filter(({ sessionKey }) => maySee(asking, sessionKey)),
          ...rest,
        });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/sessions/:key/export",
      scope: CHAT_OR_READ,
      async handle(call) {
        const { format = "markdown" } = await Format.parse(queryValues(call.query));
        const session = await deps.store.sessions.get(await keyToRead(deps, param(call, "key"), identityOf(call)));
        if (!session) throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
        return jsonOf<"GET /api/sessions/:key/export">(await exportSession(deps, session, format));
      },
    },
    {
      method: "DELETE",
      auth: "operator",
      body: NO_BODY,
      path: "/api/sessions/:key",
      scope: CHAT,
      async handle(call) {
        const key = await keyToChange(deps, param(call, "key"), identityOf(call));
        const deleted = await deps.messages.remover.remove(key, principalOf(call), call.signal);
        return jsonOf<"DELETE /api/sessions/:key">({ deleted });
      },
    },
  ];
}
