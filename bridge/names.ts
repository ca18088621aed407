/** Tools and parameters that a model calls by another name than theirs: in another spelling, or as it knows them from elsewhere. Renamed before pi looks for them. */
import type { ToolCall } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { isPiTool } from "./pi-tools.ts";
import { renamedParameters } from "./parameters.ts";
import type { BridgeState } from "./state.ts";

/** pi tools, as some models were taught to call them. */
const LEARNT_NAMES: Readonly<Record<string, string>> = {
  Bash: "bash",
  Read: "read",
  Write: "write",
  Edit: "edit",
  Grep: "grep",
  Glob: "find",
  LS: "ls",
  MultiEdit: "edit",
};

export function respellCalls(pi: ExtensionAPI, state: BridgeState): void {
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "toolCall")) return undefined;
    const active = new Set(pi.getActiveTools());
    const content = message.content.map((block) =>
      block.type === "toolCall" ? withParameters(pi, withName(state, active, block)) : block,
    );
    const isSame = content.every((block, at) => block === message.content[at]);
    return isSame ? undefined : { message: { ...message, content } };
  });
}

function withName(state: BridgeState, active: ReadonlySet<string>, call: ToolCall): ToolCall {
  if (active.has(call.name)) return call;
  const name = meant(state, call.name);
  return name === undefined || !active.has(name) ? call : { ...call, name };
}

/** The gateway's tools get theirs from the gateway, which keeps what was written. */
function withParameters(pi: ExtensionAPI, call: ToolCall): ToolCall {
  if (!isPiTool(call.name)) return call;
  const schema = pi.getAllTools().find(({ name }) => name === call.name)?.parameters;
  const args = renamedParameters(call.name, call.arguments, schema) as ToolCall["arguments"];
  return JSON.stringify(args) === JSON.stringify(call.arguments) ? call : { ...call, arguments: args };
}

function meant({ specs }: BridgeState, name: string): string | undefined {
  const learnt = Object.hasOwn(LEARNT_NAMES, name) ? LEARNT_NAMES[name] : undefined;
  return learnt ?? specs.find(({ otherNames }) => otherNames?.includes(name))?.name;
}
