/** Gateway tools as pi tools: the call travels over the pipe, the gateway decides and runs it. Nothing is executed in this process. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ContentBlock, ToolSpec } from "../src/contracts/tools/tool.ts";
import { askGateway } from "./ask.ts";
import { keepInstead } from "./kept-results.ts";
import { knowSchema } from "./lighter-pi/tool-schemas.ts";
import { isRecord } from "./orders.ts";
import { isPiTool } from "./pi-tools.ts";
import type { BridgeState } from "./state.ts";

const CALL_TITLE = "pi-gateway:tool_call";
const MAX_SNIPPET_CHARS = 200;

type PiTool = Parameters<ExtensionAPI["registerTool"]>[0];
type PiResult = Awaited<ReturnType<PiTool["execute"]>>;
type PiUpdate = Parameters<PiTool["execute"]>[3];

interface ToolApplier {
  /** For the time while pi loads the extension: registering is cheap then, and afterwards costs time that grows with the number of tools. */
  load(): void;
  /** Makes pi's tools equal to the current list, if they are not. Throws at the end when pi did not take one; the others are there. */
  apply(): void;
}

/** Tools that are no longer in the list are switched off: pi cannot forget a tool. */
export function toolApplier(pi: ExtensionAPI, state: BridgeState): ToolApplier {
  const registered = new Map<string, ToolSpec>(); // by this instance
  const refused = new Map<string, ToolSpec>();
  let applied: { readonly specs: readonly ToolSpec[]; readonly own: readonly string[] } | null = null;

  const register = (spec: ToolSpec): void => {
    if (registered.get(spec.name) === spec || refused.get(spec.name) === spec) return;
    try {
      pi.registerTool(remoteTool(state, spec));
      registered.set(spec.name, spec);
    } catch {
      refused.set(spec.name, spec); // reported below; one bad tool must not take the others along
    }
  };

  return {
    load() {
      for (const spec of state.specs) register(spec);
    },
    apply() {
      const before = pi.getActiveTools();
      if (applied?.specs === state.specs && applied.own === state.own && sameNames(before, wanted(state, before)))
        return;
      for (const spec of state.specs) register(spec);
      for (const { name, parameters } of pi.getAllTools()) if (isPiTool(name)) knowSchema(parameters);
      const active = pi.getActiveTools();
      const names = wanted(state, active).filter((name) => !refused.has(name));
      if (!sameNames(active, names)) pi.setActiveTools(names);
      applied = { specs: state.specs, own: state.own };
      const missing = state.specs.filter((spec) => refused.get(spec.name) === spec).map(({ name }) => name);
      if (missing.length > 0) throw new Error(`tools not taken: ${missing.join(", ")}`);
    },
  };
}

/** Tools of other extensions stay as they are; pi's own and the gateway's are as the gateway says. */
function wanted(state: BridgeState, active: readonly string[]): readonly string[] {
  const others = active.filter((name) => !isPiTool(name) && !state.known.has(name));
  return [...others, ...state.own, ...state.specs.map(({ name }) => name)];
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, at) => name === b[at]);
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
    parameters: uncheckedParameters(spec.parameters),
    async execute(callId, params, signal, onUpdate, ctx) {
      state.judged.add(callId);
      state.running.set(callId, (text) => update(onUpdate, text));
      try {
        const result = await callGateway(state, ctx, { tool: spec.name, callId, params }, signal);
        return spec.client ? { ...result, terminate: true } : result; // its result comes with another request
      } finally {
        state.running.delete(callId);
      }
    },
  };
}

/** The same for every session. */
const unchecked = new WeakMap<ToolSpec["parameters"], PiTool["parameters"]>();

/**
 * pi converts and refuses parameters by its own rules before the gateway sees them, so it is given nothing to check. The model gets the real
 * schema: pi tells it about tools in JSON.
 */
function uncheckedParameters(schema: ToolSpec["parameters"]): PiTool["parameters"] {
  const made = unchecked.get(schema);
  if (made) return made;
  const parameters = Object.defineProperty({}, "toJSON", { value: () => schema });
  knowSchema(parameters);
  unchecked.set(schema, parameters);
  return parameters;
}

async function callGateway(
  state: BridgeState,
  ctx: ExtensionContext,
  call: { readonly tool: string; readonly callId: string; readonly params: unknown },
  signal: AbortSignal | undefined,
): Promise<PiResult> {
  const outcome = await askGateway(ctx, CALL_TITLE, call, signal);
  if (outcome === null) throw new Error("The call was cancelled.");
  keepInstead(state, call.callId, outcome.kept);
  if (outcome.ok !== true || !Array.isArray(outcome.content)) {
    throw new Error(typeof outcome.text === "string" ? outcome.text : "The tool failed."); // only a throw is an error for the model
  }
  return { content: outcome.content.filter(isBlock), details: outcome.details };
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
