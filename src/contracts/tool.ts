/** A tool is a record: words for the model, schema for the machine, limits as data, one function. */
import type { AgentSessionStats, Caller } from "./agent.ts";

export interface Tool {
  readonly name: string; // snake_case, unique in the gateway
  readonly label: string;
  readonly description: string; // written for the model
  readonly parameters: Readonly<Record<string, unknown>>; // JSON Schema
  readonly flags: ToolFlags;
  readonly timeoutMs: number;
  execute(
    callId: string,
    params: unknown,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
    context: ToolContext,
  ): Promise<ToolResult>;
}

export interface ToolFlags {
  /** Safe to run again after a crash. A turn that started any other tool is not retried. */
  readonly idempotent: boolean;
}

/** Everything a tool may know about its caller. */
export interface ToolContext extends Caller {
  /** What the calling agent knows about its own session. */
  stats(signal: AbortSignal): Promise<AgentSessionStats>;
}

export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly details?: unknown; // for page and audit, not for the model
}

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

export interface ToolSpec {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The only caller of `execute`: known → valid → audit intent → run with deadline → cap → audit result. */
export interface ToolGate {
  specs(): readonly ToolSpec[];
  /** Never rejects; what went wrong is in the outcome, phrased for a model. */
  call(request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome>;
}

export interface ToolRequest {
  readonly tool: string;
  readonly callId: string;
  readonly params: unknown;
  readonly context: ToolContext;
  /** Where progress goes, when somebody can show it. */
  readonly onUpdate?: (partial: ToolResult) => void;
}

export type ToolOutcome =
  | { readonly kind: "ok"; readonly result: ToolResult }
  | { readonly kind: "refused"; readonly code: "unknown_tool" | "invalid_params"; readonly message: string }
  | { readonly kind: "failed"; readonly code: "tool_failed" | "tool_timeout" | "cancelled"; readonly message: string };
