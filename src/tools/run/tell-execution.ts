/** Tells events and plugin hooks that a call starts, makes progress or has ended, with copies of its values that hold no secrets. */
import type { Events, GatewayEvents, ToolExecution } from "../../contracts/events.ts";
import type { Hooks } from "../../contracts/plugin-hooks.ts";
import type { ToolRequest } from "../../contracts/tools/tool.ts";
import { maskTexts, type SecretMask } from "../../kit/secret.ts";
import { maskResult } from "./mask-outcome.ts";

interface TellDeps {
  readonly events: Events;
  readonly hooks: Pick<Hooks, "tell">;
  readonly mask: SecretMask;
}

type ExecutionEnd = Omit<GatewayEvents["tool_execution_end"], keyof ToolExecution>;

/** A model can name calls, and tools that do not exist, as it likes: names are masked too. */
export function executionOf({ mask }: TellDeps, request: ToolRequest, tool: string): ToolExecution {
  const { sessionKey, turnId } = request.context;
  return { sessionKey, turnId, callId: mask.text(request.callId), tool: mask.text(tool) };
}

export function tellStarted({ events, hooks, mask }: TellDeps, of: ToolExecution, params: unknown): void {
  const started = { ...of, params: maskTexts(params, mask) };
  events.emit("tool_execution_start", started);
  hooks.tell("tool_execution_start", started);
}

export function tellUpdated({ events, hooks }: TellDeps, of: ToolExecution, chars: number): void {
  const updated = { ...of, chars };
  events.emit("tool_execution_update", updated);
  hooks.tell("tool_execution_update", updated);
}

export function tellEnded({ events, hooks, mask }: TellDeps, of: ToolExecution, end: ExecutionEnd): void {
  const ended = {
    ...of,
    status: end.status,
    ms: end.ms,
    background: end.background,
    params: maskTexts(end.params, mask),
    result: end.result && maskResult(end.result, mask),
    error: end.error === null ? null : mask.text(end.error),
  };
  events.emit("tool_execution_end", ended);
  hooks.tell("tool_execution_end", ended);
}
