/** The one form in which a call that did not end well is told to a model, on every path: the status by code, and the sentence. */
import type { ToolEnvelope, ToolErrorCode, ToolOutcome, ToolRefusalCode, RejectedCall } from "./tool.ts";

/** `blocked`: the gateway, a plugin or a person does not want it. `error`: the call was wrong, or went wrong. `pending`: it is not done yet. */
export const ENVELOPE_STATUS = {
  unknown_tool: "error",
  invalid_params: "error",
  call_conflict: "error",
  outcome_unknown: "error",
  tool_failed: "error",
  tool_timeout: "error",
  cancelled: "error",
  not_allowed: "blocked",
  approval_denied: "blocked",
  rate_limited: "blocked",
  approval_pending: "pending",
  background: "pending",
} as const satisfies Record<ToolErrorCode, ToolEnvelope["status"]>;

/** Kept in the place of a result that a plugin should have checked, and has not. */
export const UNCHECKED_RESULT = "[withheld: the gateway could not check what to keep of this result]";

/** What never became a call, by the same codes. */
export const REJECTED_CALL_CODE = {
  unreadable: "invalid_params",
  outside_turn: "not_allowed",
  id_taken: "call_conflict",
  too_many: "rate_limited",
  unauthorized: "not_allowed",
} as const satisfies Record<Exclude<RejectedCall["reason"], "refused_by_agent">, ToolRefusalCode>;

/** What a model is to do next, where the sentence itself does not say it. */
const ADVICE: Partial<Record<ToolErrorCode, string>> = {
  not_allowed: "Do not call it again; go on without it.",
  tool_timeout: "It may have taken effect: check before you call it again.",
  cancelled: "Do not call it again unless you are asked to.",
  approval_pending: "Do not repeat the call.",
  background: "Do not repeat the call; its end is told to you later.",
};

export function envelopeOf(tool: string, outcome: Exclude<ToolOutcome, { kind: "ok" }>): ToolEnvelope {
  const advice = ADVICE[outcome.code];
  const sentence = advice === undefined ? outcome.message : `${ended(outcome.message)} ${advice}`;
  switch (ENVELOPE_STATUS[outcome.code]) {
    case "blocked":
      return { status: "blocked", tool, reason: sentence };
    case "pending":
      return { status: "pending", tool, message: sentence };
    case "error":
      return { status: "error", tool, error: sentence };
  }
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
