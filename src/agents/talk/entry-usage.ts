/** What entries of a session file have cost. For the part of a file that an interrupted attempt left behind: it was paid for all the same. */
import type { Usage } from "../../contracts/chat.ts";
import { parseJson } from "../../kit/json.ts";
import { type Fields, isFields, toUsage } from "./protocol.ts";

const LINE_LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}

/** Half a line, as a crash leaves it, counts for nothing. */
export function usageOfLines(text: string): Usage {
  let sum = NO_USAGE;
  for (const line of text.split("\n")) {
    const parsed = line === "" ? null : parseJson(line, LINE_LIMITS);
    if (parsed?.ok && isFields(parsed.value)) sum = addUsage(sum, usageOfEntry(parsed.value));
  }
  return sum;
}

/** Answers, results of tools that asked a model themselves, summaries of what came before, and calls that keep a cache warm. */
function usageOfEntry(entry: Fields): Usage {
  if (entry.type === "message" && isFields(entry.message)) return toUsage(entry.message.usage);
  const silent = entry.type === "compaction" || entry.type === "branch_summary" || entry.type === "usage";
  return silent ? toUsage(entry.usage) : NO_USAGE;
}
