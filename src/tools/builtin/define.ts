/** From one TypeBox schema to a tool: the same definition is the type inside, the check at the gate and the words for the model. */
import type { Static, TSchema } from "typebox";
import type { Tool, ToolContext, ToolLimit, ToolResult } from "../../contracts/tools/tool.ts";

export interface ToolCall {
  readonly callId: string;
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

type ToolDefinition<S extends TSchema> = Omit<Tool, "parameters" | "execute" | "limit"> & {
  readonly parameters: S;
  /** Every tool that ships has one. */
  readonly limit: ToolLimit;
  /** What it rejects with is told to the model: a sentence it can act on. */
  run(params: Static<S>, call: ToolCall): Promise<ToolResult>;
};

export function defineTool<S extends TSchema>({ run, parameters, ...tool }: ToolDefinition<S>): Tool {
  return {
    ...tool,
    parameters: parameters as TSchema & Readonly<Record<string, unknown>>,
    // the gate has checked the parameters against this very schema
    execute: (callId, params, signal, _onUpdate, context) => run(params as Static<S>, { callId, context, signal }),
  };
}

/** The answer as JSON for the model, and as it is for the web console and the audit log. */
export function answer(value: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], details: value };
}

export const MINUTE_MS = 60_000;
export const closed = { additionalProperties: false } as const;
