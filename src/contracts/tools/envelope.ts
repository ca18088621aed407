/** The one form in which a call that did not end well is told to a model, on every path. */
import type { ToolEnvelope, ToolOutcome } from "./tool.ts";

export function envelopeOf(tool: string, outcome: Exclude<ToolOutcome, { kind: "ok" }>): ToolEnvelope {
  switch (outcome.kind) {
    case "refused":
      return { status: "blocked", tool, reason: outcome.message };
    case "pending":
      return { status: "pending", tool, message: outcome.message };
    case "failed":
      return { status: "error", tool, error: outcome.message };
  }
}
