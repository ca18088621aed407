/** Sessions for scripts and the command line: list, read, stop, start afresh. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { Page } from "../../contracts/paging.ts";
import { checked } from "../checked.ts";
import { type Call, json, NO_BODY, type Route } from "../route.ts";
import { keyToRead, MAX_PAGE, pageOf, resetSession } from "../chat/session-actions.ts";
import type { HttpDeps } from "../types.ts";

export function sessionRoutes(deps: HttpDeps): readonly Route[] {
  const Query = checked(
    Type.Object(
      {
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
        cursor: Type.Optional(Type.String({ maxLength: 512 })),
        search: Type.Optional(Type.String({ maxLength: 200 })),
        channel: Type.Optional(Type.String({ maxLength: 64 })),
      },
      { additionalProperties: false },
    ),
  );
  const listQuery = async ({ query }: Call) => {
    const given: Record<string, string | number> = Object.fromEntries(query);
    if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
    const { limit, cursor, ...filter } = await Query.parse(given);
    const page: Page = pageOf({
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { page, filter };
  };
  const existing = async (call: Call) => {
    const session = await deps.store.sessions.get(await keyToRead(deps, call.params["key"] ?? ""));
    if (session) return session;
    throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
  };
  const read = { method: "GET", auth: "operator", body: NO_BODY } as const;
  const act = { method: "POST", auth: "operator", body: NO_BODY } as const;
  return [
    {
      ...read,
      path: "/api/sessions",
      async handle(call) {
        const { page, filter } = await listQuery(call);
        return json(await deps.store.sessions.list(filter, page));
      },
    },
    {
      ...read,
      path: "/api/sessions/:key",
      async handle(call) {
        const session = await existing(call);
        const settings = { model: session.model ?? null, thinking: session.thinking ?? null };
        return json({ session: { ...session, ...settings }, live: deps.live.snapshot(session.key) });
      },
    },
    {
      ...read,
      path: "/api/sessions/:key/transcript",
      async handle(call) {
        const { page } = await listQuery(call);
        return json(await deps.store.sessions.transcript((await existing(call)).key, page));
      },
    },
    {
      ...act,
      path: "/api/sessions/:key/abort",
      handle: async (call) => json({ aborted: deps.live.abort((await existing(call)).key) }),
    },
    {
      ...act,
      path: "/api/sessions/:key/reset",
      handle: async (call) => json({ reset: await resetSession(deps, (await existing(call)).key) }),
    },
  ];
}
