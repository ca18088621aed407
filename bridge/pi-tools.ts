/** pi tools (and those of other extensions): the gateway is asked before each of their calls and told how it ended. No answer means no. */
import { type ToolCall, validateToolArguments } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { askGateway } from "./ask.ts";
import { keepInstead } from "./kept-results.ts";
import { isRecord } from "./orders.ts";
import type { BridgeState } from "./state.ts";

const ADMIT_TITLE = "pi-gateway:tool_admit";
const RESULT_TITLE = "pi-gateway:tool_result";
/** More is neither judged nor written down; pi cuts the output of its tools long before. */
const MAX_OUTPUT_CHARS = 256 * 1024;
const PI_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "grep", "find", "ls", "bash", "powershell"]);
const REFUSED = "The gateway did not allow this call.";

interface PiToolCall {
  readonly tool: string;
  readonly callId: string;
}

export function isPiTool(name: string): boolean {
  return PI_TOOLS.has(name);
}

export function guardPiTools(pi: ExtensionAPI, state: BridgeState): void {
  const ours = (name: string): boolean => !isPiTool(name) && state.known.has(name);

  pi.on("tool_call", async (event, ctx) => {
    if (ours(event.toolName)) return undefined; // judged by the gateway when it is executed
    const call = { tool: event.toolName, callId: event.toolCallId, params: event.input };
    state.judged.add(call.callId);
    const answer = await askGateway(ctx, ADMIT_TITLE, call, ctx.signal);
    if (answer?.ok !== true || !isRecord(answer.params)) {
      return { block: true, reason: typeof answer?.text === "string" ? answer.text : REFUSED };
    }
    keepInstead(state, call.callId, answer.kept); // unless the result is checked later
    const input = event.input as Record<string, unknown>;
    if (JSON.stringify(input) === JSON.stringify(answer.params)) return undefined;
    const wrong = misfit(pi, call, answer.params);
    if (wrong !== null) return { block: true, reason: wrong };
    replaceIn(input, answer.params);
    return undefined;
  });

  pi.on("tool_result", async (event, ctx) => {
    if (ours(event.toolName)) return undefined;
    const output = event.content
      .map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`))
      .join("\n")
      .slice(0, MAX_OUTPUT_CHARS);
    const end = { tool: event.toolName, callId: event.toolCallId, isError: event.isError, output };
    const answer = await askGateway(ctx, RESULT_TITLE, end, ctx.signal);
    if (answer) keepInstead(state, end.callId, answer.kept);
    return undefined;
  });
}

/** pi has checked what the model asked for, and not what the gateway made of it. */
function misfit(pi: ExtensionAPI, call: PiToolCall, params: Record<string, unknown>): string | null {
  const tool = pi.getAllTools().find(({ name }) => name === call.tool);
  if (!tool) return REFUSED;
  try {
    const asked = params as ToolCall["arguments"]; // it came as JSON
    validateToolArguments(tool, { type: "toolCall", id: call.callId, name: call.tool, arguments: asked });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : REFUSED;
  }
}

/** pi takes changed arguments only in place. */
function replaceIn(target: Record<string, unknown>, next: Record<string, unknown>): void {
  for (const key of Object.keys(target)) if (!Object.hasOwn(next, key)) delete target[key];
  Object.assign(target, next);
}
