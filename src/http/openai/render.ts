/** Answers as chat completions, whole and in chunks, in the forms that the official SDKs read. Pure. */
import type { ClientCall } from "../../contracts/client-request.ts";
import type { ChatCompletionRequest, Completion } from "../../contracts/openai.ts";
import type { Usage } from "../../contracts/chat.ts";

type FinishReason = "stop" | "tool_calls";

export function completionBody(request: Pick<ChatCompletionRequest, "model">, answer: Completion): object {
  const { text, calls } = answer;
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls.map(toolCall) } : {}),
  };
  return {
    id: idOf(answer),
    object: "chat.completion",
    created: answer.created,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    usage: usageOf(answer.usage),
    pi_gateway: metadataOf(answer),
  };
}

export interface Chunks {
  /** The first one: whose words follow. */
  begin(): object;
  text(delta: string): object;
  /** What is left to say: calls, the end, and what was used if that was asked for. `sent`: text was shown before. */
  end(answer: Completion, sent: boolean): readonly object[];
}

/** `id` and `created` are the same in all chunks of a stream, so they are known before the answer. */
export function completionChunks(
  { model, includeUsage }: Pick<ChatCompletionRequest, "model" | "includeUsage">,
  { id, created }: { readonly id: string; readonly created: number },
): Chunks {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: FinishReason | null = null) => ({
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...usage,
  });
  return {
    begin: () => chunk({ role: "assistant", content: "", refusal: null }),
    text: (delta) => chunk({ content: delta }),
    end(answer, sent) {
      const { text, calls } = answer;
      const spent = { id, object: "chat.completion.chunk", created, model, choices: [], usage: usageOf(answer.usage) };
      return [
        ...(sent || text === "" ? [] : [chunk({ content: text })]),
        ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...toolCall(call) }] })),
        { ...chunk({}, finishOf(answer)), pi_gateway: metadataOf(answer) },
        ...(includeUsage ? [spent] : []),
      ];
    },
  };
}

function idOf({ turnId }: Completion): string {
  return `chatcmpl-${turnId}`;
}

function finishOf({ calls }: Completion): FinishReason {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function toolCall({ callId, tool, input }: ClientCall) {
  return { id: callId, type: "function", function: { name: tool, arguments: JSON.stringify(input ?? {}) } };
}

function usageOf({ inputTokens, cachedTokens = 0, outputTokens }: Usage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

/** Tools of the gateway ran already: a program that saw them as calls would run them again. */
function metadataOf({ turnId, sessionKey, toolCalls, usage }: Completion) {
  return { turn_id: turnId, session_key: sessionKey, tool_calls: toolCalls, cost_usd: usage.costUsd };
}
