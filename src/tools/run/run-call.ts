/** A call that passed every stage: its row is on the disk before it begins, and its end is told to hooks, events and record. */
import type { ToolStatus } from "../../contracts/chat.ts";
import type { ToolExecution } from "../../contracts/events.ts";
import { denied, type Parts } from "../parts.ts";
import type { Ended, Shared } from "../stages/once.ts";
import { checksKept, persisted } from "../stages/tool-hooks.ts";
import { watchPermission } from "../stages/rights.ts";
import { type Draft, refuse } from "../stages/stage.ts";
import { execute } from "./execute.ts";
import { type Finished, finishedText } from "./output.ts";
import { executionOf, tellEnded, tellStarted, tellUpdated } from "./tell-execution.ts";

export const MAX_BACKGROUND = 32;

export async function runCall(parts: Parts, draft: Draft, shared: Shared, signal: AbortSignal): Promise<Ended> {
  const { request, record, usable, params, slot } = draft;
  if (!usable) throw new Error("pi runs this tool, not the gateway");
  const { tool } = usable;
  try {
    if (tool.flags.background && parts.background.running >= MAX_BACKGROUND) {
      const message = "Too many tools run in the background. Wait for one of them to end.";
      return await denied(parts, request, draft, refuse("rate_limited", message));
    }
    using rights = watchPermission(parts, draft); // from here on: what is lost while the row is written is lost too
    await record.begins({ tool: tool.name, params, idempotent: tool.flags.idempotent });
    const told = tellStart(parts, draft);
    let yielded = false;
    const execution = {
      callId: request.callId,
      params,
      context: request.context,
      checkOutput: usable.checkOutput,
      checksKept: checksKept(parts),
      onUpdate(partial: Parameters<Shared["progress"]>[0]) {
        const chars = partial.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
        tellUpdated(parts, told, chars);
        shared.progress(partial);
      },
      onYield(text: string) {
        yielded = true;
        parts.background.running++;
        slot?.[Symbol.dispose](); // its conversation goes on without it
        shared.early({ kind: "pending", code: "background", message: text });
      },
    };
    const until = AbortSignal.any([signal, rights.signal]);
    const outcome = await execute(parts, tool, execution, until);
    if (yielded) parts.background.running--;
    return await finish(parts, draft, { outcome, yielded }, signal);
  } finally {
    slot?.[Symbol.dispose]();
  }
}

export function tellStart(parts: Parts, { request, tool, params }: Draft): ToolExecution {
  const told = executionOf(parts, request, tool.name);
  tellStarted(parts, told, params);
  return told;
}

export async function finish(
  parts: Parts,
  draft: Draft,
  { outcome, yielded }: { readonly outcome: Finished; readonly yielded: boolean },
  signal: AbortSignal,
): Promise<Ended & { readonly outcome: Finished }> {
  const { request, tool, record } = draft;
  const kept = await persisted(parts, draft, outcome, signal).catch(() => null);
  const real = kept ? withKept(outcome, kept) : cancelled(tool.name);
  const status: ToolStatus = real.kind === "ok" ? "success" : "error";
  const ms = record.ms();
  const written = record.ended(kept ?? real);
  const { context: caller, callId } = request;
  const { params } = draft;
  parts.hooks.tell("after_tool_call", { callId, tool: tool.name, status, ms, ...said(real), caller, params });
  const end = { status, ms, background: yielded, params, ...said(kept ?? real) };
  tellEnded(parts, executionOf(parts, request, tool.name), end);
  if (yielded) parts.backgroundEnded({ id: record.id, tool: tool.name, caller, outcome: real });
  return { outcome: real, written };
}

function withKept(outcome: Finished, kept: Finished): Finished {
  return kept === outcome ? outcome : { ...outcome, kept: finishedText(kept) };
}

function said(outcome: Finished) {
  return outcome.kind === "ok" ? { result: outcome.result, error: null } : { result: null, error: outcome.message };
}

function cancelled(tool: string): Finished {
  return { kind: "failed", code: "cancelled", message: `${tool} was cancelled.` };
}
