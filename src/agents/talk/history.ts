/** A conversation that a program brings along, as the entries of a pi session file, each the child of the one before it. */
import type { HistoryMessage } from "../../contracts/client-request.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Fields } from "./protocol.ts";

const ID_DIGITS = 8;
/** pi asks for one in every answer. Nothing is sent to it: the next request names its own. */
const API = "openai-completions";
const NOTHING_USED = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** The lines of the file, after its header; empty when nothing was said before. `model`: `provider/model`. */
export function historyEntries(
  { clock }: { readonly clock: Clock },
  history: readonly HistoryMessage[],
  model: string,
): string {
  const at = clock.now();
  const timestamp = new Date(at).toISOString();
  const idOf = (index: number): string => index.toString(16).padStart(ID_DIGITS, "0");
  return history
    .map((said, index) => {
      const message: Fields = { ...messageOf(said, model), timestamp: at };
      const parentId = index === 0 ? null : idOf(index - 1);
      return `${JSON.stringify({ type: "message", id: idOf(index), parentId, timestamp, message })}\n`;
    })
    .join("");
}

function messageOf(said: HistoryMessage, model: string): Fields {
  if (said.role === "user") {
    const images = said.images.map(({ mimeType, base64 }) => ({ type: "image", data: base64, mimeType }));
    return { role: "user", content: [{ type: "text", text: said.text }, ...images] };
  }
  if (said.role === "tool") {
    const content = [{ type: "text", text: said.text }];
    return { role: "toolResult", toolCallId: said.callId, toolName: said.tool, content, isError: false };
  }
  const slash = model.indexOf("/");
  const text = said.text === "" ? [] : [{ type: "text", text: said.text }];
  const calls = said.calls.map(({ callId, tool, input }) => ({
    type: "toolCall",
    id: callId,
    name: tool,
    arguments: input,
  }));
  return {
    role: "assistant",
    content: [...text, ...calls],
    api: API,
    provider: model.slice(0, slash),
    model: model.slice(slash + 1),
    usage: NOTHING_USED,
    stopReason: calls.length > 0 ? "toolUse" : "stop",
  };
}
