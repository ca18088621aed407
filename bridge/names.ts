/** Tools that a model calls by another name than theirs: in another spelling, or as it knows them from elsewhere. Renamed before pi looks for them. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { BridgeState } from "./state.ts";

/** pi's own tools, as some models were taught to call them. */
const LEARNT_NAMES: Readonly<Record<string, string>> = {
  Bash: "bash",
  Read: "read",
  Write: "write",
  Edit: "edit",
  Grep: "grep",
  Glob: "find",
  LS: "ls",
};

export function respellCalls(pi: ExtensionAPI, state: BridgeState): void {
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "toolCall")) return undefined;
    const active = new Set(pi.getActiveTools());
    let renamed = false;
    const content = message.content.map((block) => {
      if (block.type !== "toolCall" || active.has(block.name)) return block;
      const name = meant(state, block.name);
      if (name === undefined || !active.has(name)) return block;
      renamed = true;
      return { ...block, name };
    });
    return renamed ? { message: { ...message, content } } : undefined;
  });
}

function meant({ specs }: BridgeState, name: string): string | undefined {
  const learnt = Object.hasOwn(LEARNT_NAMES, name) ? LEARNT_NAMES[name] : undefined;
  return learnt ?? specs.find(({ otherNames }) => otherNames?.includes(name))?.name;
}
