/** Calls of pi tools: each is judged before it runs and written down when it has ended. What has no end when the turn is over gets one. */
import type { ToolAdmission, ToolContext, ToolGate, ToolRefusal } from "../../contracts/tools/tool.ts";
import type { Log } from "../../kit/log.ts";
import { envelopeOf, UNCHECKED_RESULT } from "../../contracts/tools/envelope.ts";
import { isFields } from "../talk/protocol.ts";
import { asksOwner, confine, type Confined, type Room } from "./confine.ts";
import type { LeftRunning } from "./left-running.ts";

export interface PiToolCall {
  readonly tool: string;
  readonly callId: string;
  readonly params: unknown;
  /** As the model wrote it, before pi converted it. */
  readonly asked?: unknown;
}

export interface PiToolEnd {
  readonly isError: boolean;
  readonly output: string;
}

type PiToolVerdict =
  | {
      readonly ok: true;
      readonly params: unknown;
      /** What pi keeps of the result until it is told otherwise; null: the result. */
      readonly kept: string | null;
    }
  | { readonly ok: false; readonly text: string };

export interface PiToolCalls {
  admit(call: PiToolCall, context: ToolContext, signal: AbortSignal): Promise<PiToolVerdict>;
  /** It has said so much by now. The built-in tools tell that themselves. */
  updated(callId: string, chars: number): void;
  /** What is to be kept in the place of the output; null: the output. Never rejects. */
  ended(callId: string, end: PiToolEnd): Promise<string | null>;
  /** What is kept of this call, as far as it is known now; null: its output. */
  keptOf(callId: string): string | null;
  endAll(): void;
}

type Going = Extract<ToolAdmission, { kind: "go" }>;

/** A link was changed while an owner was asked, or a rule was looked up. */
const MOVED = {
  kind: "outside",
  say: "The path leads to another file than the one that was allowed. Nothing was done; call again.",
} as const satisfies Confined;
const CUT_OFF: PiToolEnd = { isError: true, output: "The turn ended before this call did." };

export function createPiToolCalls(
  deps: {
    readonly log: Log;
    readonly tools: Pick<ToolGate, "admit">;
    readonly left: Pick<LeftRunning, "toolBegins">;
  },
  room: Room,
): PiToolCalls {
  const open = new Map<string, Going>();
  const kept = new Map<string, string>();

  /** Never rejects. */
  const close = async (going: Going, tool: string, end: PiToolEnd): Promise<string | null> => {
    try {
      return (await going.ended(end)).kept;
    } catch (error) {
      deps.log.error("end of a tool call could not be recorded", { tool, error });
      return going.checksKept ? UNCHECKED_RESULT : null;
    }
  };

  const judge = async (call: PiToolCall, context: ToolContext, signal: AbortSignal): Promise<PiToolVerdict> => {
    const asks = (now: unknown) => asksOwner(room, call.tool, isFields(now) ? now : {});
    let judged: string | null = null;
    const file = (now: unknown) => (judged = fileOf(confine(room, call.tool, isFields(now) ? now : {})));
    const admission = await deps.tools.admit({ ...call, path: "pi", context, asks, file }, signal);
    if (admission.kind !== "go") return { ok: false, text: JSON.stringify(envelopeOf(call.tool, admission)) };
    // After the gate, because hooks may have changed the path; a refusal still leaves its row.
    const params = isFields(admission.params) ? admission.params : {};
    const confined = confine(room, call.tool, params);
    if (confined.kind !== "inside") return refusedAfterGate(admission, call.tool, confined);
    if (judged !== null && judged !== fileOf(confined)) return refusedAfterGate(admission, call.tool, MOVED);
    if (signal.aborted) {
      await close(admission, call.tool, CUT_OFF);
      return { ok: false, text: failureText(call.tool, "cancelled", "The call was cancelled.") };
    }
    open.set(call.callId, admission);
    deps.left.toolBegins();
    if (admission.checksKept) kept.set(call.callId, UNCHECKED_RESULT);
    return { ok: true, params: confined.params, kept: kept.get(call.callId) ?? null };
  };

  return {
    async admit(call, context, signal) {
      try {
        return await judge(call, context, signal);
      } catch (error) {
        deps.log.error("a tool of pi could not be judged", { tool: call.tool, error });
        const message = "The gateway could not judge this call, so it was not run.";
        return { ok: false, text: failureText(call.tool, "tool_failed", message) };
      }
    },
    updated: (callId, chars) => open.get(callId)?.updated(chars),
    async ended(callId, end) {
      const going = open.get(callId);
      if (!going) return kept.get(callId) ?? null;
      open.delete(callId);
      const text = await close(going, callId, end);
      if (text === null) kept.delete(callId);
      else kept.set(callId, text);
      return text;
    },
    keptOf: (callId) => kept.get(callId) ?? null,
    endAll() {
      for (const [callId, going] of open) void close(going, callId, CUT_OFF);
      open.clear();
      kept.clear();
    },
  };
}

/** Null: it is about no file, or not about one that it may touch. */
function fileOf(confined: Confined): string | null {
  const path = confined.kind === "inside" ? confined.params["path"] : null;
  return typeof path === "string" ? path : null;
}

async function refusedAfterGate(
  admission: Going,
  tool: string,
  { kind, say }: Exclude<Confined, { kind: "inside" }>,
): Promise<PiToolVerdict> {
  const code = kind === "outside" ? "not_allowed" : "invalid_params";
  const because: ToolRefusal = { kind: "refused", code, message: say };
  await admission.refused(because);
  return { ok: false, text: JSON.stringify(envelopeOf(tool, because)) };
}

function failureText(tool: string, code: "tool_failed" | "cancelled", message: string): string {
  return JSON.stringify(envelopeOf(tool, { kind: "failed", code, message }));
}
