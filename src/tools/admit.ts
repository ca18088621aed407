/** The same stages for a tool that pi runs itself: judged and written down before, its end written down after. */
import type { ToolAdmission, ToolRefusal, ToolRequest } from "../contracts/tools/tool.ts";
import { UNCHECKED_RESULT } from "../contracts/tools/envelope.ts";
import { background } from "../kit/background.ts";
import {
  cancelledBefore,
  conflict,
  type Denial,
  denied,
  judgeCall,
  keyOf,
  NOT_RECORDED,
  type Parts,
  recordRejected,
} from "./parts.ts";
import { judgeEarlier } from "./earlier-calls.ts";
import { piTool } from "./pi-tools.ts";
import { PROGRESS_EVERY_MS } from "./run/progress.ts";
import { tellUpdated } from "./run/tell-execution.ts";
import { finish, tellStart } from "./run/run-call.ts";
import { type Finished, finishedText } from "./run/output.ts";
import { checksKept } from "./stages/tool-hooks.ts";
import { knownName } from "./stages/names.ts";
import { paramsHash } from "./stages/params-hash.ts";
import { type Draft, refuse } from "./stages/stage.ts";

/** Of a name that a model made up. */
const MAX_NAME_CHARS = 64;

/** Tools of the gateway are called over the pipe and are not for this way; they are refused here. */
export async function admit(parts: Parts, request: ToolRequest, signal: AbortSignal): Promise<ToolAdmission> {
  const hash = paramsHash(request.tool, request.params);
  const held = parts.once.hold(keyOf(request));
  try {
    const admitted = await judge(parts, { request, hash, isTaken: held === null }, signal);
    if (!("record" in admitted)) {
      held?.[Symbol.dispose]();
      return admitted;
    }
    return going(parts, admitted, () => held?.[Symbol.dispose](), signal);
  } catch (error) {
    held?.[Symbol.dispose]();
    parts.log.error("tool call could not be recorded", { tool: request.tool, error });
    return NOT_RECORDED;
  }
}

interface Asked {
  readonly request: ToolRequest;
  readonly hash: string;
  readonly isTaken: boolean;
}

async function judge(parts: Parts, { request, hash, isTaken }: Asked, signal: AbortSignal): Promise<Draft | Denial> {
  const before = isTaken ? conflict() : await judgeEarlier(parts, { request, hash });
  const denial = before && (before.kind === "refused" ? before : conflict()); // what pi ran before cannot be told again here
  if (denial) {
    await recordRejected(parts, request, hash, denial);
    return denial;
  }
  const find = (now: ToolRequest, record: Draft["record"]) => draftOf(parts, now, record);
  const judged = await judgeCall(parts, { request, hash }, find, signal);
  if ("outcome" in judged) return judged.outcome;
  const { tool, params, record } = judged;
  await record.begins({ tool: tool.name, params, idempotent: tool.flags.idempotent });
  if (!signal.aborted) return judged;
  // its turn ended while the row was written: nobody would tell its end any more, and its id would stay taken
  return (await denied(parts, request, judged, cancelledBefore(judged))).outcome;
}

function draftOf(parts: Parts, request: ToolRequest, record: Draft["record"]): Draft | ToolRefusal {
  const policy = parts.policy();
  const name = knownName(request.tool, (candidate) => piTool(candidate, request.context, policy) !== null);
  const tool = parts.registry.usable(name, request.context) ? null : piTool(name, request.context, policy);
  if (!tool)
    return refuse(
      "not_allowed",
      `${parts.mask.text(request.tool).slice(0, MAX_NAME_CHARS)} is not one of this agent's tools.`,
    );
  const nobodyElse = (): void => undefined; // pi waits for the answer itself
  return {
    request,
    tool,
    record,
    usable: null,
    params: request.params,
    askBecause: null,
    slot: null,
    onWaiting: nobodyElse,
  };
}

function failed({ message }: Pick<Denial, "message">): Finished {
  return { kind: "failed", code: "tool_failed", message };
}

function going(
  parts: Parts,
  draft: Draft,
  release: () => void,
  signal: AbortSignal,
): Extract<ToolAdmission, { kind: "go" }> {
  const told = tellStart(parts, draft);
  const mayRewrite = checksKept(parts);
  let over: ReturnType<typeof finish> | null = null;
  let saidAt = Number.NEGATIVE_INFINITY;
  const end = (outcome: Finished): ReturnType<typeof finish> => {
    const ending = (over ??= finish(parts, draft, { outcome, yielded: false }, signal));
    background(parts.log, "end of a tool call not dealt with", () =>
      ending.then(({ written }) => written).finally(release),
    );
    return ending;
  };
  const message = "The turn ended before the tool said how it went.";
  const left = (): void =>
    background(parts.log, "end of a tool call not dealt with", () =>
      end({ kind: "failed", code: "cancelled", message }),
    );
  signal.addEventListener("abort", left, { once: true });
  return {
    kind: "go",
    params: draft.params,
    checksKept: mayRewrite,
    updated(chars) {
      if (over || parts.clock.elapsed() - saidAt < PROGRESS_EVERY_MS) return;
      saidAt = parts.clock.elapsed();
      tellUpdated(parts, told, chars);
    },
    async refused(because) {
      signal.removeEventListener("abort", left);
      over ??= denied(parts, draft.request, draft, because).then((ended) => ({ ...ended, outcome: failed(because) }));
      await over.finally(release);
    },
    async ended({ isError, output }) {
      signal.removeEventListener("abort", left);
      const { outcome } = await end(
        isError ? failed({ message: output }) : { kind: "ok", result: { content: [{ type: "text", text: output }] } },
      );
      if (finishedText(outcome) === output) return { kept: outcome.kept ?? null };
      return { kept: mayRewrite ? UNCHECKED_RESULT : null }; // the call was cancelled before, and nobody has looked at this output
    },
  };
}
