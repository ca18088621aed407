/**
 * Errors of tools as the model reads them: whoever made one (the gateway, pi, a tool of pi or of another extension), it is an envelope with
 * a status, the tool and a sentence.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { askGateway } from "./ask.ts";
import { isRecord } from "./orders.ts";
import type { BridgeState } from "./state.ts";

const ERROR_TITLE = "pi-gateway:tool_error";
const STATUSES: readonly unknown[] = ["error", "blocked", "pending"];

export function envelopeErrors(pi: ExtensionAPI, state: BridgeState): void {
  pi.on("message_end", async ({ message }, ctx) => {
    if (message.role !== "toolResult" || !message.isError) return undefined;
    const { toolName: tool, toolCallId: callId, content } = message;
    const error = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    const judged = state.judged.delete(callId);
    if (isEnvelope(error)) return undefined;
    // pi refused it without asking: the gateway may have better words
    const answer = judged ? null : await askGateway(ctx, ERROR_TITLE, { callId }, ctx.signal);
    const text = typeof answer?.text === "string" ? answer.text : JSON.stringify({ status: "error", tool, error });
    const others = content.filter((block) => block.type !== "text");
    return { message: { ...message, content: [{ type: "text" as const, text }, ...others] } };
  });
  pi.on("agent_settled", () => state.judged.clear());
}

export function isEnvelope(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) && STATUSES.includes(parsed.status) && typeof parsed.tool === "string";
  } catch {
    return false; // words that begin with a brace
  }
}
