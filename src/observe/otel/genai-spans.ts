/**
 * Turns, model calls and tool calls as OpenTelemetry spans, by the GenAI semantic conventions. Ids are computed from the id of the turn, so that
 * spans of one turn find each other without anything being kept. No text, no arguments, no names of people or chats. Pure.
 */
import { createHash } from "node:crypto";
import type { TurnOutcome, ToolStatus, Usage } from "../../contracts/chat.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import type { ModelCall } from "../../contracts/model-door.ts";
import type { Span } from "../../contracts/queue.ts";

export type AttributeValue = string | number | boolean;

export interface OtelSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** `client`: a call to a provider. */
  readonly kind: "internal" | "client";
  /** Epoch milliseconds, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly isError: boolean;
}

/** Names of providers where the conventions have another word. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  "amazon-bedrock": "aws.bedrock",
  "azure-openai-responses": "azure.ai.openai",
  mistral: "mistral_ai",
  xai: "x_ai",
};
/** Stretches of a turn that are neither a model call nor a tool call; those have spans of their own. */
const STAGES: ReadonlySet<string> = new Set(["queued", "lease", "first_token", "generate"]);
const APPROVAL = "approval:";
const MAX_NAME_CHARS = 64;

interface EndedTurn {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly outcome: TurnOutcome;
  readonly usage: Usage;
  /** `provider/model`; empty: none was asked. */
  readonly model: string;
  readonly startMs: number;
  readonly endMs: number;
}

export function turnSpan({ turnId, sessionKey, outcome, usage, model, startMs, endMs }: EndedTurn): OtelSpan {
  const { agent, channel } = placeOf(sessionKey);
  return {
    ...idsOf(turnId),
    name: `invoke_agent ${agent}`,
    kind: "internal",
    startMs,
    endMs,
    attributes: present([
      ["gen_ai.operation.name", "invoke_agent"],
      ["gen_ai.agent.name", agent],
      ["gen_ai.conversation.id", conversationId(sessionKey)],
      ["pi_gateway.channel", channel],
      ["pi_gateway.turn.id", turnId],
      ["pi_gateway.outcome", outcome],
      ...modelAttributes(model),
      ...usageAttributes(usage),
      ["error.type", outcome === "failed" ? outcome : null],
    ]),
    isError: outcome === "failed",
  };
}

/** `endMs`: when it ended, by the clock on the wall. */
export function modelSpan(call: ModelCall, endMs: number): OtelSpan {
  const { turnId, sessionKey, model, ms, startedAt, outcome, status, firstTokenMs, retries, usage } = call;
  const { name: asked } = splitModel(model);
  const isError = outcome === "failed" || outcome === "refused";
  return {
    ...childIds(turnId, `model ${startedAt}`),
    name: `chat ${asked}`,
    kind: "client",
    startMs: endMs - ms,
    endMs,
    attributes: present([
      ["gen_ai.operation.name", "chat"],
      ["gen_ai.conversation.id", conversationId(sessionKey)],
      ["pi_gateway.outcome", outcome],
      ["pi_gateway.retries", retries],
      ...modelAttributes(model),
      ...usageAttributes(usage),
      ["http.response.status_code", status],
      ["pi_gateway.first_token_ms", firstTokenMs],
      ["error.type", isError ? String(status ?? outcome) : null],
    ]),
    isError,
  };
}

interface EndedCall {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly callId: string;
  readonly tool: string;
  readonly status: ToolStatus;
  readonly ms: number;
}

export function toolSpan({ turnId, sessionKey, callId, tool, status, ms }: EndedCall, endMs: number): OtelSpan {
  const name = shortName(tool);
  const isError = status !== "success";
  return {
    ...childIds(turnId, `tool ${callId}`),
    name: `execute_tool ${name}`,
    kind: "internal",
    startMs: endMs - ms,
    endMs,
    attributes: present([
      ["gen_ai.operation.name", "execute_tool"],
      ["gen_ai.tool.name", name],
      ["gen_ai.tool.call.id", callId],
      ["gen_ai.tool.type", "function"],
      ["gen_ai.conversation.id", conversationId(sessionKey)],
      ["error.type", isError ? status : null],
    ]),
    isError,
  };
}

/** Where the rest of the time went: waiting, an agent process, the first word, an owner's approval. */
export function stageSpans(turnId: TurnId, spans: readonly Span[], acceptedMs: number): readonly OtelSpan[] {
  return spans.flatMap(({ name, startMs, ms }, at) => {
    const isApproval = name.startsWith(APPROVAL);
    if (!STAGES.has(name) && !isApproval) return [];
    const stage = isApproval ? `approval ${shortName(name.slice(APPROVAL.length))}` : name;
    const beganMs = acceptedMs + startMs;
    return [
      {
        ...childIds(turnId, `stage ${at}`),
        name: stage,
        kind: "internal" as const,
        startMs: beganMs,
        endMs: beganMs + ms,
        attributes: {},
        isError: false,
      },
    ];
  });
}

/** Null: it is not known, and left out. */
type Attribute = readonly [name: string, value: AttributeValue | null];

function present(attributes: readonly Attribute[]): Readonly<Record<string, AttributeValue>> {
  return Object.fromEntries(attributes.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])));
}

function usageAttributes({ inputTokens, cachedTokens, outputTokens, costUsd }: Usage): readonly Attribute[] {
  return [
    ["gen_ai.usage.input_tokens", inputTokens],
    ["gen_ai.usage.cache_read.input_tokens", cachedTokens ?? null],
    ["gen_ai.usage.output_tokens", outputTokens],
    ["pi_gateway.cost_usd", costUsd],
  ];
}

function modelAttributes(model: string): readonly Attribute[] {
  if (model === "") return [];
  const { provider, name } = splitModel(model);
  return [
    ["gen_ai.provider.name", PROVIDERS[provider] ?? provider],
    ["gen_ai.request.model", name],
  ];
}

function splitModel(model: string): { readonly provider: string; readonly name: string } {
  const at = model.indexOf("/");
  return { provider: shortName(model.slice(0, Math.max(0, at))), name: shortName(model.slice(at + 1)) };
}

/** `agent:default:telegram:dm:123`: who answers, and where. The rest may name a person. */
function placeOf(sessionKey: SessionKey): { readonly agent: string; readonly channel: string } {
  const [, agent = "default", channel = ""] = sessionKey.split(":");
  return { agent, channel };
}

/** The same for all turns of a session; the key itself would tell whose it is. */
function conversationId(sessionKey: SessionKey): string {
  return hexOf(`session ${sessionKey}`, 16);
}

function idsOf(turnId: TurnId): Pick<OtelSpan, "traceId" | "spanId" | "parentSpanId"> {
  return { traceId: hexOf(turnId, 16), spanId: hexOf(`turn ${turnId}`, 8), parentSpanId: null };
}

function childIds(turnId: TurnId, what: string): Pick<OtelSpan, "traceId" | "spanId" | "parentSpanId"> {
  const { traceId, spanId } = idsOf(turnId);
  return { traceId, spanId: hexOf(`${turnId} ${what}`, 8), parentSpanId: spanId };
}

function hexOf(text: string, bytes: number): string {
  return createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, bytes * 2);
}

/** A model can invent names of any length. */
function shortName(name: string): string {
  return name.slice(0, MAX_NAME_CHARS);
}
