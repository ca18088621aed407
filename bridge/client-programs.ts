/**
 * Programs that bring tools and instructions of their own to a turn. A call of such a tool ends the run; the program runs the tool and asks
 * again, with a prompt that says nothing and stands for "go on".
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { GO_ON } from "../src/kit/marks/go-on.ts";
import type { BridgeState } from "./state.ts";

const SECTION = "client_instructions";

export function serveClientPrograms(pi: ExtensionAPI, state: BridgeState): void {
  pi.on("before_agent_start", ({ systemPromptOptions }) => {
    if (state.instructions !== "") systemPromptOptions.sections[SECTION] = state.instructions;
  });
  pi.on("agent_settled", () => {
    state.instructions = "";
  });
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant") return undefined;
    const ofClient = new Set(state.specs.flatMap(({ name, client }) => (client ? [name] : [])));
    const calls = message.content.filter((block) => block.type === "toolCall");
    const delegated = calls.filter(({ name }) => ofClient.has(name));
    if (delegated.length === 0 || delegated.length === calls.length) return undefined;
    // pi ends a run only when every call of an answer ends it: the others wait until the model asks for them again
    const content = message.content.filter((block) => block.type !== "toolCall" || ofClient.has(block.name));
    return { message: { ...message, content } };
  });
  pi.on("context", ({ messages }) => {
    const kept = messages.filter((message) => message.role !== "user" || !saysGoOn(message.content));
    return kept.length === messages.length ? undefined : { messages: kept };
  });
}

function saysGoOn(content: string | readonly { readonly type: string; readonly text?: string }[]): boolean {
  const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
  return text === GO_ON;
}
