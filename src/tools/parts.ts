/** What the files of the gate share: its dependencies, and the ways in which a call ends before anything runs. */
import type { Caller } from "../contracts/agent.ts";
import type { SharedCount } from "../kit/shared-count.ts";
import type { ToolOutcome, ToolRefusal, ToolRequest } from "../contracts/tools/tool.ts";
import { type CallRecord, createRecord, type RecordDeps, refusedStatus, scopeOf } from "./audit/record.ts";
import type { RejectedCalls } from "./audit/rejected-calls.ts";
import type { LiveToolRegistry } from "./registry.ts";
import type { RunLimits } from "./run/execute.ts";
import type { ImageCheck } from "./run/images.ts";
import type { Finished } from "./run/output.ts";
import { executionOf, tellEnded } from "./run/tell-execution.ts";
import type { Ended, Once } from "./stages/once.ts";
import type { SessionTools } from "./search/session-tools.ts";
import { contextNow } from "./stages/rights.ts";
import { type Draft, isRefusal, refuse, type StageDeps } from "./stages/stage.ts";
import { STAGES } from "./stages/stages.ts";

export interface ToolGateDeps extends RecordDeps, Omit<StageDeps, "rate" | "slots"> {
  readonly registry: LiveToolRegistry;
  readonly sessionTools: SessionTools;
  /** Of tool calls, for rate limits; absent: there are no other gateways. */
  readonly countedCalls?: SharedCount;
  /** As the settings are now. */
  runLimits(): RunLimits;
  /** A call whose caller was answered before it ended has ended now. */
  backgroundEnded(end: BackgroundEnd): void;
}

export interface BackgroundEnd {
  /** Of its row. */
  readonly id: string;
  readonly tool: string;
  readonly caller: Caller;
  readonly outcome: Finished;
}

export interface Parts extends ToolGateDeps, StageDeps {
  readonly once: Once;
  readonly images: ImageCheck;
  readonly rejectedCalls: RejectedCalls;
  readonly background: { running: number };
}

/** Why nothing ran. */
export type Denial = ToolRefusal | Extract<ToolOutcome, { kind: "failed" }>;
type Passed = { readonly draft: Draft; readonly denial: Denial | null };
/** A call that did not run, after its row was written. */
type DeniedCall = Ended & { readonly outcome: Denial };

export const NOT_RECORDED: Extract<ToolOutcome, { kind: "failed" }> = {
  kind: "failed",
  code: "tool_failed",
  message: "The gateway could not record this call, so the tool was not run.",
};

export function keyOf({ context, callId }: ToolRequest): string {
  return `${scopeOf(context)}\n${callId}`;
}

export function conflict(): ToolRefusal {
  return refuse("call_conflict", "This call id was used before for a different call. Use another one.");
}

export function cancelledBefore({ tool }: Pick<Draft, "tool">): Denial {
  return { kind: "failed", code: "cancelled", message: `${tool.name} was cancelled before it ran.` };
}

async function passStages(parts: Parts, first: Draft, signal: AbortSignal): Promise<Passed> {
  let draft = first;
  for (const stage of STAGES) {
    try {
      signal.throwIfAborted(); // most stages wait for somebody who knows nothing of the signal
      const judged = await stage.judge(parts, draft, signal);
      if (isRefusal(judged)) return { draft, denial: judged };
      draft = judged;
    } catch (error) {
      if (!signal.aborted) throw error;
      return { draft, denial: cancelledBefore(draft) };
    }
  }
  return { draft, denial: null };
}

/** The caller as of now, then every stage. `draftOf` finds the tool that is meant. */
export async function judgeCall(
  parts: Parts,
  { request, hash }: { readonly request: ToolRequest; readonly hash: string },
  draftOf: (request: ToolRequest, record: CallRecord) => Draft | ToolRefusal,
  signal: AbortSignal,
): Promise<Draft | DeniedCall> {
  const record = createRecord(parts, request, hash);
  const context = await contextNow(parts, request.context);
  const draft = "kind" in context ? context : draftOf({ ...request, context }, record);
  if (isRefusal(draft)) return denied(parts, request, { record }, draft);
  const passed = await passStages(parts, draft, signal);
  return passed.denial ? denied(parts, request, passed.draft, passed.denial) : passed.draft;
}

export async function denied(
  parts: Pick<Parts, "hooks" | "events" | "mask">,
  request: ToolRequest,
  { record, tool, params = request.params }: Pick<Draft, "record"> & Partial<Draft>,
  denial: Denial,
): Promise<DeniedCall> {
  const idempotent = tool?.flags.idempotent ?? true;
  const name = tool?.name ?? request.tool;
  await record.refused({ tool: name, params, idempotent }, denial);
  const { callId, context: caller } = request;
  const said = { status: refusedStatus(denial.code), ms: record.ms(), result: null, error: denial.message };
  parts.hooks.tell("after_tool_call", { tool: name, callId, caller, params, ...said });
  tellEnded(parts, executionOf(parts, request, name), { ...said, background: false, params });
  return { outcome: denial, written: Promise.resolve() };
}

export function recordRejected(parts: Parts, request: ToolRequest, hash: string, denial: Denial): Promise<DeniedCall> {
  return denied(parts, request, { record: createRecord(parts, request, hash) }, denial);
}
