/**
 * Texts of which pi keeps another one than the model of the running turn reads. pi remembers, and writes into the session file, what a
 * message is at its end; so the kept text takes its place there, and every request of the same turn gets the real one back. After the turn,
 * or once pi has summarised the conversation, nothing of the real text is left.
 */
import type { ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { isEnvelope } from "./errors.ts";
import type { BridgeState } from "./state.ts";

/** `text`: as the gateway said it; anything but a text means that the real result is kept. */
export function keepInstead(state: BridgeState, callId: string, text: unknown): void {
  if (typeof text === "string") state.kept.set(callId, text);
  else state.kept.delete(callId);
}

export function keepOtherTexts(pi: ExtensionAPI, state: BridgeState): void {
  const results = new Map<string, ToolResultMessage["content"]>(); // the real ones of the running turn

  pi.on("message_end", ({ message }) => {
    if (message.role !== "toolResult") return undefined;
    const text = state.kept.get(message.toolCallId);
    if (text === undefined) return undefined;
    state.kept.delete(message.toolCallId);
    results.set(message.toolCallId, message.content);
    return { message: keptMessage(message, text) };
  });
  pi.on("context", ({ messages }) => {
    if (results.size === 0 && state.realTexts.length === 0) return undefined;
    return {
      messages: messages.map((message): (typeof messages)[number] => {
        if (message.role === "user") return realPrompt(state, message);
        if (message.role !== "toolResult") return message;
        return { ...message, content: results.get(message.toolCallId) ?? message.content };
      }),
    };
  });
  pi.on("agent_settled", () => {
    results.clear();
    state.kept.clear();
    state.realTexts = [];
  });
  pi.on("session_compact", () => {
    results.clear();
    state.realTexts = [];
  });
}

/** Without details: they may repeat the text that was replaced. */
function keptMessage({ details: _details, ...message }: ToolResultMessage, text: string): ToolResultMessage {
  const isWhole = !message.isError || isEnvelope(text);
  const said = isWhole ? text : JSON.stringify({ status: "error", tool: message.toolName, error: text });
  const images = message.content.filter(({ type }) => type === "image");
  return { ...message, content: [{ type: "text", text: said }, ...images] };
}

function realPrompt({ realTexts }: BridgeState, message: UserMessage): UserMessage {
  const real = (text: string): string => realTexts.reduce((said, one) => said.replace(one.kept, () => one.real), text);
  const { content } = message;
  if (typeof content === "string") return { ...message, content: real(content) };
  return {
    ...message,
    content: content.map((block) => (block.type === "text" ? { ...block, text: real(block.text) } : block)),
  };
}
