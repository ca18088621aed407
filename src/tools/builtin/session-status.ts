/** `session_status`: what the agent may know about the conversation it is in. Its own session only: there is no parameter to name another. */
import type { AgentSessionStats } from "../../contracts/agent.ts";
import type { Tool } from "../../contracts/tools/tool.ts";

export function sessionStatus(): Tool {
  return {
    name: "session_status",
    label: "Session status",
    description: "Reports this conversation's model, context use, tokens, cost and number of messages.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    flags: { idempotent: true },
    timeoutMs: 10_000,
    async execute(_callId, _params, signal, _onUpdate, context) {
      const stats = await context.stats(signal);
      return {
        content: [{ type: "text", text: describe(stats) }],
        details: { ...stats, sessionKey: context.sessionKey },
      };
    },
  };
}

export function describe(stats: AgentSessionStats): string {
  const window = stats.contextWindow === null ? "" : ` of ${thousands(stats.contextWindow)}`;
  const context = stats.contextPercent === null ? "not known yet" : `${stats.contextPercent.toFixed(1)}%${window}`;
  return [
    `Model: ${stats.model}`,
    `Thinking: ${stats.thinking}`,
    `Context: ${context}`,
    `Tokens: ${thousands(stats.inputTokens)} in / ${thousands(stats.outputTokens)} out`,
    `Cost: $${stats.costUsd.toFixed(4)}`,
    `Messages: ${stats.messages}`,
    "Streaming: true",
  ].join("\n");
}

function thousands(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`;
}
