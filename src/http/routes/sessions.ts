/** Sessions for scripts and the command line: list, read, stop, start afresh. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { keyToChange, keyToRead, resetSession } from "../chat/session-actions.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import { type Call, identityOf, OPERATOR_GET, OPERATOR_POST, param, type Route, jsonOf } from "../route.ts";
import { CHAT, CHAT_OR_READ, maySee, READ_SESSIONS, reachOf } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const YES_NO = Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")]));

export function sessionRoutes(deps: Pick<HttpDeps, "clock" | "events" | "store" | "messages">): readonly Route[] {
  const Query = checkedObject({
    ...PAGE_FIELDS,
    search: Type.Optional(Type.String({ maxLength: 200 })),
    channel: Type.Optional(Type.String({ maxLength: 64 })),
    agent: Type.Optional(Type.String({ maxLength: 64 })),
    person: Type.Optional(Type.String({ maxLength: 200 })),
    pinned: YES_NO,
    archived: YES_NO,
  });
  const listQuery = async ({ query }: Call) => {
    const asked = await Query.parse(queryValues(query));
    const { limit: _limit, cursor: _cursor, pinned, archived, ...rest } = asked;
    const filter = {
      ...rest,
      ...(pinned === undefined ? {} : { pinned: pinned === "true" }),
      ...(archived === undefined ? {} : { archived: archived === "true" }),
    };
    return { page: pageOf(asked), filter };
  };
  const existing = async (call: Call, keyOf = keyToRead) => {
    const session = await deps.store.sessions.get(await keyOf(deps, param(call, "key"), identityOf(call)));
    if (session) return session;
    throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
  };
  return [
    {
      ...OPERATOR_GET,
      path: "/api/sessions",
      scope: READ_SESSIONS,
      async handle(call) {
        const asking = identityOf(call);
        const { page, filter } = await listQuery(call);
        const { items, ...rest } = await deps.store.sessions.list({ ...filter, within: reachOf(asking) }, page);
        return jsonOf<"GET /api/sessions">({
          items: items.filter(({ key }) => maySee(asking, key)),
          ...rest,
        });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/sessions/:key",
      scope: CHAT_OR_READ,
      async handle(call) {
        const session = await existing(call);
        const settings = { model: session.model ?? null, thinking: session.thinking ?? null };
        return jsonOf<"GET /api/sessions/:key">({
          session: { ...session, ...settings },
          live: deps.messages.live.snapshot(session.key),
        });
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/sessions/:key/transcript",
      scope: CHAT_OR_READ,
      async handle(call) {
        const { page } = await listQuery(call);
        return jsonOf<"GET /api/sessions/:key/transcript">(
          await deps.store.sessions.transcript((await existing(call)).key, page),
        );
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/sessions/:key/abort",
      scope: CHAT,
      handle: async (call) =>
        jsonOf<"POST /api/sessions/:key/abort">({
          aborted: await deps.messages.live.abort((await existing(call, keyToChange)).key),
        }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/sessions/:key/reset",
      scope: CHAT,
      handle: async (call) =>
        jsonOf<"POST /api/sessions/:key/reset">({
          reset: await resetSession(deps, (await existing(call, keyToChange)).key),
        }),
    },
  ];
}
