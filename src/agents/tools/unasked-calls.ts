/**
 * Calls that pi has begun and not asked the gateway about. pi refuses some by itself (a tool it does not have, a message that was cut off):
 * those leave a row, and the model is told in the gateway's words. Without a bridge nothing is asked, and pi's words stay.
 */
import { envelopeOf } from "../../contracts/tools/envelope.ts";
import { TOOL_SEARCH, type ToolContext, type ToolGate, type ToolOutcome } from "../../contracts/tools/tool.ts";
import { noSuchName } from "../../kit/nearest.ts";
import type { PiToolEnd } from "./pi-tool-calls.ts";

/** As the agent tells of it. */
export interface AgentCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
}

export interface UnaskedCalls {
  began(call: AgentCall): void;
  /** The gateway is asked about it now. */
  take(callId: string): AgentCall | undefined;
  /** What the model reads instead of pi's words; null: those. */
  ended(callId: string, end: PiToolEnd, caller: ToolContext | null): string | null;
  /** The same again, for the bridge. */
  refusalOf(callId: string): string | null;
  clear(): void;
}

interface UnaskedCallsOptions {
  readonly bridge: "live" | "minimal" | "off";
  /** Of the tools that pi has for this caller. */
  names(caller: ToolContext): readonly string[];
}

export function createUnaskedCalls(
  { tools }: { readonly tools: Pick<ToolGate, "recordRejected" | "specs"> },
  { bridge, names }: UnaskedCallsOptions,
): UnaskedCalls {
  const unasked = new Map<string, AgentCall>();
  const refusals = new Map<string, string>();
  const take = (callId: string): AgentCall | undefined => {
    const call = unasked.get(callId);
    unasked.delete(callId);
    return call;
  };
  return {
    began: (call) => void unasked.set(call.callId, call),
    take,
    ended(callId, end, caller) {
      const call = take(callId);
      if (!call || !end.isError) return null;
      const { tool, input: params } = call;
      const what = bridge === "off" ? "The gateway was not asked about this call" : "The agent did not make this call";
      const because = `${what}: ${end.output}`;
      tools.recordRejected({ tool, callId, params, path: "pi", context: caller, reason: "refused_by_agent", because });
      if (bridge === "off" || !caller) return null;
      const isUsable = (name: string): boolean => tools.specs(caller).some((spec) => spec.name === name);
      const text = JSON.stringify(envelopeOf(tool, outcomeOf(call, end.output, names(caller), isUsable)));
      refusals.set(callId, text);
      return text;
    },
    refusalOf: (callId) => refusals.get(callId) ?? null,
    clear() {
      unasked.clear();
      refusals.clear();
    },
  };
}

/** A tool that pi does not have gets the gateway's sentence; whatever else pi says about a call it says in its own words. */
function outcomeOf(
  { tool }: AgentCall,
  said: string,
  names: readonly string[],
  isUsable: (name: string) => boolean,
): Exclude<ToolOutcome, { kind: "ok" }> {
  if (said !== `Tool ${tool} not found`) return { kind: "failed", code: "tool_failed", message: said };
  const searches = names.includes(TOOL_SEARCH);
  if (searches && isUsable(tool)) {
    const message = `${tool} is not switched on in this conversation. Call ${TOOL_SEARCH} with "${tool}", then call it again.`;
    return { kind: "refused", code: "unknown_tool", message };
  }
  const more = searches ? ` ${TOOL_SEARCH} finds more.` : "";
  return { kind: "refused", code: "unknown_tool", message: `${noSuchName("tool", tool, names)}${more}` };
}
