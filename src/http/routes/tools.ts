/** Tools for scripts: which there are, and calling one. Who calls is what the credential says, never the body. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { ToolContext } from "../../contracts/tools/tool.ts";
import { checked } from "../checked.ts";
import { type Call, json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const NOT_IN_A_BODY = ["pid", "sessionKey"];

export function toolRoutes(deps: Pick<HttpDeps, "tools" | "ids">): readonly Route[] {
  const Body = checked(
    Type.Object(
      {
        tool: Type.String({ minLength: 1, maxLength: 64 }),
        params: Type.Optional(Type.Unknown()),
        callId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      },
      { additionalProperties: false },
    ),
  );
  return [
    {
      method: "GET",
      path: "/api/tools",
      auth: "agent",
      body: NO_BODY,
      handle({ agent }) {
        const offered = agent && new Set(deps.tools.gate.specs(agent).map(({ name }) => name));
        return json({ tools: deps.tools.list().filter(({ name }) => offered?.has(name) ?? true) });
      },
    },
    {
      method: "POST",
      path: "/api/tools/call",
      auth: "agent",
      body: SMALL_JSON,
      async handle(call) {
        refuseNames(call.json);
        const { tool, params = {}, callId = deps.ids.next("http") } = await Body.parse(call.json);
        const request = { tool, params, callId, path: "http" as const, context: contextOf(call) };
        const outcome = await deps.tools.gate.call(request, call.signal);
        if (outcome.kind === "ok") return json({ ok: true, result: outcome.result, callId });
        const code = outcome.kind === "refused" || outcome.kind === "failed" ? outcome.code : outcome.kind;
        return json({ ok: false, error: { code, message: outcome.message, requestId: call.requestId } });
      },
    },
  ];
}

function contextOf({ agent }: Call): ToolContext {
  if (agent) return agent;
  throw new GatewayError("forbidden", "no turn to act for", { say: "Only an agent can call tools here so far." });
}

function refuseNames(body: unknown): void {
  const named = typeof body === "object" && body !== null && NOT_IN_A_BODY.some((name) => name in body);
  if (named)
    throw new GatewayError("bad_request", "the body names a caller", {
      say: "A call cannot say for whom it is: pid and sessionKey do not belong in the body.",
    });
}
