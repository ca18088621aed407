/** What entries of a session file have cost. For the part of a file that an interrupted attempt left behind: it was paid for all the same. */
import type { Usage } from "../../contracts/chat.ts";
import { parseJson } from "../../kit/json.ts";
import { type Fields, isFields, text, toUsage } from "./protocol.ts";

const LINE_LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const cachedTokens = (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    ...(cachedTokens > 0 ? { cachedTokens } : {}),
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}

/** Half a line, as a crash leaves it, counts for nothing. */
export function usageOfLines(lines: string): Usage & { readonly model?: string } {
  let sum = NO_USAGE;
  let model: string | null = null;
  for (const line of lines.split("\n")) {
    const parsed = line === "" ? null : parseJson(line, LINE_LIMITS);
    if (!parsed?.ok || !isFields(parsed.value)) continue;
    sum = addUsage(sum, usageOfEntry(parsed.value));
    model = modelOfEntry(parsed.value) ?? model;
  }
  return model === null ? sum : { ...sum, model };
}

function modelOfEntry({ type, message }: Fields): string | null {
  if (type !== "message" || !isFields(message) || message.role !== "assistant") return null;
  return text(message.model) === "" ? null : `${text(message.provider)}/${text(message.model)}`;
}

/** Answers, results of tools that asked a model themselves, summaries of what came before, and calls that keep a cache warm. */
function usageOfEntry(entry: Fields): Usage {
  if (entry.type === "message" && isFields(entry.message)) return toUsage(entry.message.usage);
  const silent = entry.type === "compaction" || entry.type === "branch_summary" || entry.type === "usage";
  return silent ? toUsage(entry.usage) : NO_USAGE;
}
