/** One tool call of a program: the body checked, the gate asked, and its outcome in the form that scripts rely on. */
import { Type } from "typebox";
import { type ApiKey, keyAllowsAgent } from "../../contracts/api-keys.ts";
import { ERRORS, GatewayError, isGatewayError } from "../../contracts/errors.ts";
import { envelopeOf } from "../../contracts/tools/envelope.ts";
import type {
  ListedTool,
  ToolAccess,
  ToolContext,
  ToolLists,
  ToolOutcome,
  ToolPath,
  ToolResult,
} from "../../contracts/tools/tool.ts";
import type { ToolCallReply } from "../../contracts/wire.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import type { Identity } from "../access/auth.ts";
import { callerOf } from "./tool-caller.ts";
import type { HttpDeps } from "../types.ts";

/** Who calls is known from the credential. A body that names somebody is refused, not ignored: its sender expects something else to happen. */
const NOT_FROM_BODY = ["pid", "sessionKey"] as const;
const CALL_ID = "^[A-Za-z0-9._:-]{1,128}$";

export interface AskedCall {
  readonly tool: string;
  /** Whatever was sent: the gate says what is wrong with it, as about every other call. */
  readonly params?: unknown;
  readonly callId?: string;
}

/** Throws `bad_request` or `invalid_params`. */
export function createCallReader(): (value: unknown) => Promise<AskedCall> {
  const Body = bodyOf<"POST /api/tools/call">()(
    checkedObject({
      tool: Type.String({ minLength: 1, maxLength: 128 }),
      params: Type.Optional(Type.Unknown()),
      callId: Type.Optional(Type.String({ pattern: CALL_ID })),
    }),
  );
  return async (value) => {
    const named = NOT_FROM_BODY.find(
      (name) => typeof value === "object" && value !== null && Object.hasOwn(value, name),
    );
    if (named === undefined) return Body.parse(value);
    throw new GatewayError("bad_request", `${named} in the body`, {
      say: `Leave ${named} out: who calls is known from the token, and cannot be chosen.`,
    });
  };
}

/** Every tool, for the operator; what it may call, for a key. */
export function listedTools({ tools }: Pick<CallDeps, "tools">, identity: Identity): ToolLists {
  const all = tools.list();
  const { key } = identity;
  if (key === null) return all;
  const offered = new Set(tools.gate.specs(callerOf(identity)).map(({ name }) => name));
  const callable = all.tools.filter(({ name }) => offered.has(name));
  return { tools: withAgentsOf(key, callable), piTools: [] };
}

/** A key is told of no agent that it is not for; null: the operator. */
export function withAgentsOf(key: ApiKey | null, tools: readonly ListedTool[]): readonly ListedTool[] {
  if (key === null) return tools;
  const within = (access: readonly ToolAccess[]) => access.filter(({ agent }) => keyAllowsAgent(key, agent));
  return tools.map((tool) => ({
    ...tool,
    usableBy: within(tool.usableBy),
    behindSearch: within(tool.behindSearch),
  }));
}

/** What is refused before it is a call leaves a row like every other refusal. */
export async function readOrReject(
  read: () => Promise<AskedCall>,
  { tools }: Pick<CallDeps, "tools">,
  { body, path, context }: { readonly body: unknown; readonly path: "http" | "socket"; readonly context: ToolContext },
): Promise<AskedCall> {
  try {
    return await read();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const { tool } = typeof body === "object" && body !== null && "tool" in body ? body : { tool: undefined };
    const named = typeof tool === "string" ? { tool } : {};
    tools.gate.recordRejected({ ...named, params: { body }, path, context, reason: "unreadable", because: error.say });
    throw error;
  }
}

/** A request that nobody read as a call: who asked is not known, or its body could not be taken. */
export function noteRefused({ tools }: Pick<CallDeps, "tools">, { error, context, path }: RefusedRequest): void {
  const reason = context ? "unreadable" : "unauthorized";
  tools.gate.recordRejected({ path, context, reason, because: error.say });
}

interface RefusedRequest {
  readonly error: GatewayError;
  readonly context: ToolContext | null;
  readonly path: Extract<ToolPath, "http" | "mcp">;
}

type CallDeps = Pick<HttpDeps, "tools" | "ids">;

interface ToolCallRequest {
  readonly asked: AskedCall;
  readonly path: Extract<ToolPath, "http" | "socket">;
  readonly context: ToolContext;
  readonly onUpdate?: (partial: ToolResult) => void;
}

interface AnsweredCall {
  readonly callId: string;
  readonly outcome: ToolOutcome;
}

export async function callTool(
  { tools, ids }: CallDeps,
  { asked, path, context, onUpdate }: ToolCallRequest,
  signal: AbortSignal,
): Promise<AnsweredCall> {
  const callId = asked.callId ?? ids.next("api");
  const request = { tool: asked.tool, callId, params: asked.params === undefined ? {} : asked.params, path, context };
  const outcome = await tools.gate.call(onUpdate ? { ...request, onUpdate } : request, signal);
  return { callId, outcome };
}

export function replyOf(tool: string, { callId, outcome }: AnsweredCall, requestId: string): ToolCallReply {
  if (outcome.kind === "ok") return { ok: true, result: { details: null, ...outcome.result }, callId };
  const { code, message } = outcome;
  const retry =
    "retryAfterMs" in outcome && outcome.retryAfterMs !== undefined ? { retryAfterMs: outcome.retryAfterMs } : {};
  return { ok: false, error: { code, message, requestId, ...retry }, envelope: envelopeOf(tool, outcome), callId };
}

export function statusOf(outcome: ToolOutcome): number {
  return outcome.kind === "ok" ? 200 : ERRORS[outcome.code].status;
}
