/** What people do with their conversations besides talking: find what was said, keep one as a file, delete one. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { type Asking, CHAT, CHAT_OR_READ, maySee, reachOf, READ_SESSIONS } from "../access/key-reach.ts";
import { MAX_MESSAGE_ID_CHARS, ownSession } from "../chat/accept-message.ts";
import { EXPORT_FORMATS, exportSession } from "../chat/export-session.ts";
import { resendMessage } from "../chat/resend-message.ts";
import { keyToChange, keyToRead } from "../chat/session-actions.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import {
  identityOf,
  jsonOf,
  NO_BODY,
  OPERATOR_GET,
  OPERATOR_POST,
  param,
  principalOf,
  type Route,
  SMALL_JSON,
} from "../route.ts";
import type { HttpDeps, HttpOptions, SessionTarget } from "../types.ts";

const MAX_WORDS_CHARS = 200;

type CareDeps = Pick<HttpDeps, "clock" | "ids" | "store" | "messages">;

export function sessionCareRoutes(deps: CareDeps, limits: HttpOptions["limits"]): readonly Route[] {
  const Search = checkedObject({
    ...PAGE_FIELDS,
    q: Type.String({ minLength: 1, maxLength: MAX_WORDS_CHARS }),
    session: Type.Optional(Type.String({ maxLength: 512 })),
    channel: Type.Optional(Type.String({ maxLength: 64 })),
  });
  const Format = checkedObject({
    format: Type.Optional(Type.Union(EXPORT_FORMATS.map((format) => Type.Literal(format)))),
  });
  const id = Type.String({ minLength: 1, maxLength: MAX_MESSAGE_ID_CHARS });
  const Branch = bodyOf<"POST /api/sessions/:key/branch">()(
    checkedObject({
      message: Type.Optional(id),
      session: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
  );
  const Resend = bodyOf<"POST /api/sessions/:key/resend">()(
    checkedObject({ message: id, text: Type.Optional(Type.String()) }),
  );
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
      ...OPERATOR_POST,
      path: "/api/sessions/:key/branch",
      scope: CHAT,
      body: SMALL_JSON,
      async handle(call) {
        const asking = identityOf(call);
        const { message, session } = await Branch.parse(call.json);
        const from = ownSession(deps, { session: param(call, "key") }, asking);
        const to = branchTarget(deps, { name: session, agent: from.agentId }, asking);
        const by = principalOf(call);
        return jsonOf<"POST /api/sessions/:key/branch">(
          await deps.messages.care.branch(from.sessionKey, { message, to, by }, call.signal),
        );
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/sessions/:key/resend",
      scope: CHAT,
      body: SMALL_JSON,
      async handle(call) {
        const { message, text } = await Resend.parse(call.json);
        const wanted = { session: param(call, "key"), message, text, by: identityOf(call) };
        const { id: accepted, sessionKey } = await resendMessage(deps, limits(), wanted, call.signal);
        return jsonOf<"POST /api/sessions/:key/resend">({ accepted, sessionKey });
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
        const deleted = await deps.messages.care.remove(key, principalOf(call), call.signal);
        return jsonOf<"DELETE /api/sessions/:key">({ deleted });
      },
    },
  ];
}

/** A session of whoever asks, with the same agent; without a name, one of chance. The web console has its own kind of session. */
function branchTarget(
  deps: CareDeps,
  { name, agent }: { readonly name: string | undefined; readonly agent: string },
  asking: Asking,
): SessionTarget {
  const fresh = deps.ids.next("branch").replaceAll("_", "-").toLowerCase();
  const chosen = name ?? (asking.key === null ? `agent:${agent}:webchat:dm:${fresh}` : fresh);
  return ownSession(deps, { session: chosen, agent }, asking);
}
