/** What a process knows about the session it has open, for tools that tell people about it. Asks pi; remembers nothing. */
import type { AgentSessionStats } from "../../contracts/agent.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentProcess } from "../process/process.ts";
import { type Fields, count, isFields, modelName, text } from "./protocol.ts";

export async function sessionStats(process: AgentProcess, signal: AbortSignal): Promise<AgentSessionStats> {
  const [state, stats] = await Promise.all([
    ask(process, "get_state", signal),
    ask(process, "get_session_stats", signal),
  ]);
  const tokens = isFields(stats.tokens) ? stats.tokens : {};
  const context = isFields(stats.contextUsage) ? stats.contextUsage : {};
  return {
    model: modelName(state.model) ?? "none",
    thinking: text(state.thinkingLevel) || "off",
    messages: count(stats.userMessages) + count(stats.assistantMessages),
    toolCalls: count(stats.toolCalls),
    inputTokens: count(tokens.input) + count(tokens.cacheRead) + count(tokens.cacheWrite),
    outputTokens: count(tokens.output),
    costUsd: count(stats.cost),
    contextPercent: typeof context.percent === "number" ? context.percent : null,
    contextWindow: typeof context.contextWindow === "number" ? context.contextWindow : null,
  };
}

async function ask(process: AgentProcess, type: string, signal: AbortSignal): Promise<Fields> {
  const answer = await process.request({ type }, signal);
  if (!answer.ok) throw new GatewayError("agent_unavailable", `pi did not answer ${type}: ${answer.error}`);
  return answer.data;
}
