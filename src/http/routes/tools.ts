/** Tools for programs: which there are, calling one, and the record of all calls. */
import { Type } from "typebox";
import { AUDIT_KINDS } from "../../contracts/store/tool-calls.ts";
import type { ToolContext, ToolListing } from "../../contracts/tools/tool.ts";
import { createProviderSchemas, SCHEMA_FAMILIES, type SchemaFamily } from "../../tools/index.ts";
import { seenSession } from "../chat/session-actions.ts";
import { checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import {
  type Call,
  identityOf,
  json,
  NO_BODY,
  OPERATOR_GET,
  type Reply,
  type Route,
  SMALL_JSON,
  jsonOf,
} from "../route.ts";
import { maySee, READ, READ_SESSIONS, reachOf, TOOLS } from "../access/key-reach.ts";
import {
  type AskedCall,
  callTool,
  createCallReader,
  noteRefused,
  readOrReject,
  replyOf,
  statusOf,
  withAgentsOf,
} from "../tools/tool-call.ts";
import { callerOf } from "../tools/tool-caller.ts";
import type { HttpDeps } from "../types.ts";

type CallDeps = Pick<HttpDeps, "ids" | "tools">;

const NDJSON = "application/x-ndjson";
const MS_PER_SECOND = 1_000;

export function toolRoutes(deps: Pick<HttpDeps, "ids" | "store" | "messages" | "tools">): readonly Route[] {
  const readCall = createCallReader();
  const providerSchema = createProviderSchemas();
  const families = SCHEMA_FAMILIES.map((family) => Type.Literal(family));
  const ListQuery = checkedObject({
    profile: Type.Optional(Type.Union(families)),
    callable: Type.Optional(Type.Literal("true")),
  });
  return [
    {
      method: "GET",
      path: "/api/tools",
      scope: TOOLS,
      auth: "agent",
      body: NO_BODY,
      async handle({ agent, identity, query }) {
        const { profile, callable } = await ListQuery.parse(Object.fromEntries(query));
        // a key sees what it may call; the operator sees everything
        const caller = agent ?? (callable || identity?.key ? callerOf(identity) : null);
        const offered = caller && new Set(deps.tools.gate.specs(caller).map(({ name }) => name));
        const { tools: all, piTools } = deps.tools.list();
        const shown = all.filter(({ name }) => offered?.has(name) ?? true);
        const tools = withAgentsOf(identity?.key ?? null, shown);
        if (profile !== undefined) return json(await forFamily(providerSchema, tools, profile));
        return jsonOf<"GET /api/tools">(agent || identity?.key ? { tools } : { tools, piTools });
      },
    },
    {
      method: "POST",
      path: "/api/tools/call",
      scope: TOOLS,
      auth: "agent",
      body: SMALL_JSON,
      async handle(call) {
        const body = withKey(call);
        const context = contextOf(call);
        const asked = await readOrReject(() => readCall(body), deps, { body, path: "http", context });
        return call.request.headers.get("accept")?.includes(NDJSON)
          ? streamed(deps, asked, call)
          : answered(deps, asked, call);
      },
      refused: (error, asking) => noteRefused(deps, { error, context: asking && contextOf(asking), path: "http" }),
    },
    toolCallsRoute(deps),
    auditRoute(deps),
  ];
}

/** For a program that shows tools to a model itself. What its family cannot be told is left out, by name; what is told less exactly is named too. */
async function forFamily(
  providerSchema: ReturnType<typeof createProviderSchemas>,
  tools: readonly ToolListing[],
  family: SchemaFamily,
) {
  const told: ToolListing[] = [];
  const leftOut: { readonly name: string; readonly because: string }[] = [];
  const simplified: { readonly name: string; readonly because: string }[] = [];
  for (const tool of tools.filter(({ status }) => status === "ok")) {
    const { name } = tool;
    const made = await providerSchema(tool, family);
    if (made.kind === "unsupported") leftOut.push({ name, because: made.because });
    else told.push({ ...tool, parameters: made.schema });
    if (made.kind === "ok" && made.because !== undefined) simplified.push({ name, because: made.because });
  }
  return { tools: told, leftOut, simplified };
}

/** An `Idempotency-Key` is a callId under the name that programs know from elsewhere. */
function withKey({ json: body, request }: Call): unknown {
  const key = request.headers.get("idempotency-key");
  if (key === null || typeof body !== "object" || body === null || Object.hasOwn(body, "callId")) return body;
  return { ...body, callId: key };
}

async function answered(deps: CallDeps, asked: AskedCall, call: Call): Promise<Reply> {
  const { requestId, signal } = call;
  const made = await callTool(deps, { asked, path: "http", context: contextOf(call) }, signal);
  const reply = replyOf(asked.tool, made, requestId);
  const response = jsonOf<"POST /api/tools/call">(reply, statusOf(made.outcome));
  const retryAfterMs = reply.ok ? undefined : reply.error.retryAfterMs;
  if (retryAfterMs !== undefined) response.headers.set("retry-after", String(Math.ceil(retryAfterMs / MS_PER_SECOND)));
  return response;
}

/** One line per report and a last one with the outcome. The status is 200 by then, whatever the outcome is. */
function streamed(deps: CallDeps, asked: AskedCall, call: Call): Reply {
  const { requestId, signal } = call;
  const context = contextOf(call);
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const line = (value: unknown): void => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      };
      const onUpdate = (partial: unknown): void => line({ progress: partial });
      const made = await callTool(
        deps,
        { asked, path: "http", context, onUpdate },
        AbortSignal.any([signal, gone.signal]),
      );
      line({ final: replyOf(asked.tool, made, requestId) });
      if (!gone.signal.aborted) controller.close();
    },
    cancel: () => gone.abort(new Error("the client has gone")),
  });
  return new Response(body, { headers: { "content-type": NDJSON } });
}

/** A script inside an agent acts for the conversation that agent is in; everybody else who gets here is the operator or a program with a key. */
function contextOf({ agent, identity }: Pick<Call, "agent" | "identity">): ToolContext {
  return agent ?? callerOf(identity);
}

/** The audit log without tool calls, which have a list of their own. */
function auditRoute({ store }: Pick<HttpDeps, "store">): Route {
  const Query = checkedObject({
    ...PAGE_FIELDS,
    kind: Type.Optional(Type.Union(AUDIT_KINDS.map((kind) => Type.Literal(kind)))),
  });
  return {
    ...OPERATOR_GET,
    path: "/api/audit",
    scope: READ,
    async handle({ query }) {
      const { kind, ...page } = await Query.parse(queryValues(query));
      return jsonOf<"GET /api/audit">(await store.audit.list(pageOf(page), kind));
    },
  };
}

function toolCallsRoute(deps: Pick<HttpDeps, "store" | "messages">): Route {
  const time = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
  const statuses = (["success", "error", "blocked", "pending", "unknown"] as const).map((status) =>
    Type.Literal(status),
  );
  const Query = checkedObject({
    ...PAGE_FIELDS,
    session: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    tool: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    status: Type.Optional(Type.Union(statuses)),
    since: time,
    until: time,
  });
  return {
    ...OPERATOR_GET,
    path: "/api/tool-calls",
    scope: READ_SESSIONS,
    async handle(call) {
      const asking = identityOf(call);
      const { session, tool, status, since, until, ...page } = await Query.parse(withTimes(call.query));
      const filter = {
        within: reachOf(asking),
        ...(session === undefined ? {} : { sessionKey: seenSession(deps, session, asking) }),
        ...(tool === undefined ? {} : { tool }),
        ...(status === undefined ? {} : { status }),
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
      };
      const { items, ...rest } = await deps.store.toolCalls.list(filter, pageOf(page));
      return jsonOf<"GET /api/tool-calls">({
        items: items.filter(({ sessionKey }) => maySee(asking, sessionKey)),
        ...rest,
      });
    },
  };
}

/** Times as milliseconds, or as dates such as 2026-01-31T12:00:00Z. */
function withTimes(query: URLSearchParams): Record<string, string | number> {
  const values = queryValues(query);
  for (const name of ["since", "until"]) {
    const text = query.get(name) ?? "";
    const at = /^\d{1,16}$/.test(text) ? Number(text) : Date.parse(text);
    if (Number.isSafeInteger(at)) values[name] = at;
  }
  return values;
}
