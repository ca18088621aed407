/** Gateway tools as pi tools: the call travels over the pipe, the gateway decides and runs it. Nothing is executed in this process. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ContentBlock, ToolSpec } from "../src/contracts/tools/tool.ts";
import { isRecord } from "./orders.ts";
import type { BridgeState } from "./state.ts";

const CALL_TITLE = "pi-gateway:tool_call";
const MAX_SNIPPET_CHARS = 200;

type PiTool = Parameters<ExtensionAPI["registerTool"]>[0];
type PiResult = Awaited<ReturnType<PiTool["execute"]>>;
type PiUpdate = Parameters<PiTool["execute"]>[3];

/** Makes pi's tools equal to the current list, if they are not. What is no longer in it is switched off: pi cannot forget a tool. */
export function toolApplier(pi: ExtensionAPI, state: BridgeState): () => void {
  let applied: readonly ToolSpec[] | null = null; // by this instance
  return () => {
    const names = state.specs.map((spec) => spec.name);
    const active = pi.getActiveTools();
    if (applied === state.specs && names.every((name) => active.includes(name))) return;
    for (const spec of state.specs) pi.registerTool(remoteTool(state, spec));
    const others = active.filter((name) => !state.active.includes(name) && !names.includes(name));
    pi.setActiveTools([...others, ...names]);
    state.active = names;
    applied = state.specs;
  };
}

export function reportProgress(state: BridgeState, update: { readonly callId: string; readonly text: string }): void {
  state.running.get(update.callId)?.(update.text);
}

function remoteTool(state: BridgeState, spec: ToolSpec): PiTool {
  return {
    name: spec.name,
    label: spec.label,
    description: spec.description,
    promptSnippet: firstSentence(spec.description),
    parameters: spec.parameters as PiTool["parameters"], // plain JSON Schema, which pi takes as it is
    async execute(callId, params, signal, onUpdate, ctx) {
      state.running.set(callId, (text) => update(onUpdate, text));
      try {
        return await callGateway(ctx, { tool: spec.name, callId, params }, signal);
      } finally {
        state.running.delete(callId);
      }
    },
  };
}

async function callGateway(
  ctx: ExtensionContext,
  call: { readonly tool: string; readonly callId: string; readonly params: unknown },
  signal: AbortSignal | undefined,
): Promise<PiResult> {
  const answer = await ctx.ui.input(CALL_TITLE, JSON.stringify(call), signal ? { signal } : {});
  if (answer === undefined) throw new Error("The call was cancelled.");
  const outcome: unknown = JSON.parse(answer);
  if (!isRecord(outcome)) throw new Error("The gateway gave no usable answer.");
  if (outcome.ok !== true || !Array.isArray(outcome.content)) {
    throw new Error(typeof outcome.text === "string" ? outcome.text : "The tool failed."); // only a throw is an error for the model
  }
  return { content: outcome.content.filter(isBlock), details: undefined };
}

function update(onUpdate: PiUpdate, text: string): void {
  onUpdate?.({ content: [{ type: "text", text }], details: undefined });
}

function isBlock(value: unknown): value is ContentBlock {
  if (!isRecord(value)) return false;
  if (value.type === "text") return typeof value.text === "string";
  return value.type === "image" && typeof value.data === "string" && typeof value.mimeType === "string";
}

/** Without a snippet pi leaves a tool out of the list in its instructions. */
function firstSentence(description: string): string {
  const line = description.split("\n", 1)[0] ?? "";
  const end = line.indexOf(". ");
  return (end < 0 ? line : line.slice(0, end + 1)).slice(0, MAX_SNIPPET_CHARS);
}
