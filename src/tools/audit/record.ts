/** The row of one call: written down before the tool runs and when it has ended, whatever became of it. Secrets do not reach the disk. */
import type { ToolStatus } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import type { EarlierCall, RefusedStatus, ToolCallStore, ToolEnd } from "../../contracts/store/tool-calls.ts";
import { ENVELOPE_STATUS } from "../../contracts/tools/envelope.ts";
import { NO_TURN, type ToolErrorCode, type ToolOutcome, type ToolRequest } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { originOf } from "../origin.ts";
import { type Finished, textOf } from "../run/output.ts";
import { canonical } from "../stages/params-hash.ts";
import { scrubJson } from "./scrub-json.ts";

export interface RecordDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: ToolCallStore;
  readonly events: Events;
  /** Takes known secrets, and what looks like one, out of a text. */
  scrub(text: string): string;
}

/** Why a call did not run. */
export type RefusedCode = Exclude<ToolErrorCode, "approval_pending" | "background">;

interface Refused {
  readonly code: RefusedCode;
  readonly message: string;
  /** More exact than the code, for the log. */
  readonly reason?: string;
}

/** As the envelope says it. */
export function refusedStatus(code: RefusedCode): RefusedStatus {
  return ENVELOPE_STATUS[code];
}

export interface CallRecord {
  readonly id: string;
  /** The row is there and waits for the owner's word. Throws `CallTaken`. */
  waits(call: Known): Promise<void>;
  /** The row is on the disk; from now on the tool may run. Rejects when it could not be written: then the tool must not. Throws `CallTaken`. */
  begins(call: Known): Promise<void>;
  refused(call: Known, because: Refused): Promise<void>;
  /** Resolves when it is written. Never rejects: the tool has done its work, and whoever waits for it is told. */
  ended(outcome: Finished): Promise<void>;
  /** Since the tool began to run; the wait for an approval does not count. 0: it never ran. */
  ms(): number;
}

/** Another gateway was faster with a call of the same id: that one counts. */
export class CallTaken extends Error {}

/** As it will run, or would have. */
interface Known {
  readonly tool: string;
  readonly params: unknown;
  readonly idempotent: boolean;
}

/** Replies longer than this are told again from the stored text alone. */
const MAX_REPLY_CHARS = 64 * 1024;
const MAX_OUTPUT_CHARS = 256 * 1024;
const MAX_INPUT_CHARS = 256 * 1024;

export function scopeOf({ turnId, principal }: ToolRequest["context"]): string {
  return turnId === NO_TURN ? `principal:${principal}` : `turn:${turnId}`;
}

export function createRecord(deps: RecordDeps, request: ToolRequest, paramsHash: string): CallRecord {
  const { context, callId, path } = request;
  const { turnId, sessionKey, principal } = context;
  const id = deps.ids.next("call");
  let state: "new" | "waiting" | "open" = "new";
  let tool = request.tool;
  let startedAt: number | null = null;
  const ms = (): number => (startedAt === null ? 0 : Math.round(deps.clock.elapsed() - startedAt));

  const askedFor = (call: Known): { readonly asked?: unknown } => {
    const asked = request.asked ?? request.params;
    return canonical(asked) === canonical(call.params) ? {} : { asked: storable(asked, deps.scrub) };
  };
  const intent = (call: Known, waiting: boolean) => ({
    id,
    callId,
    turnId,
    sessionKey,
    principal,
    path,
    paramsHash,
    waiting,
    scope: scopeOf(context),
    tool: deps.scrub(call.tool), // of a tool that does not exist, the name is whatever a model says
    origin: originOf(context),
    input: storable(call.params, deps.scrub),
    ...askedFor(call),
    idempotent: call.idempotent,
    at: deps.clock.now(),
  });
  const intend = async (call: Known, waiting: boolean): Promise<void> => {
    if (!(await deps.store.intend(intent(call, waiting)))) throw new CallTaken("the call id was taken meanwhile");
  };
  const settle = async (end: Omit<ToolEnd, "ms">): Promise<void> => {
    deps.log.info("tool called", { tool, status: end.status, ms: ms(), turnId, sessionKey, path });
    await deps.store.settle(id, { ...end, ms: ms() }).catch((error: unknown) => {
      deps.log.error("end of a tool call could not be recorded", { tool, turnId, error });
    });
  };

  return {
    id,
    ms,
    async waits(call) {
      await intend(call, true);
      [state, tool] = ["waiting", call.tool];
    },
    async begins(call) {
      startedAt = deps.clock.elapsed();
      if (state === "waiting") await deps.store.begin(id);
      else await intend(call, false);
      [state, tool] = ["open", call.tool];
    },
    async refused(call, { code, message, reason = code }) {
      tool = call.tool;
      const status = refusedStatus(code);
      deps.events.emit("tool_refused", { sessionKey, turnId, callId, tool, status });
      if (state !== "new") return settle(deniedEnd(code, deps.scrub(message)));
      deps.log.warn("tool call refused", { tool, code: reason, turnId, sessionKey, principal, path });
      await deps.store.refuse(intent(call, false), { status, output: deps.scrub(message) });
    },
    ended: (outcome) => settle(endOf(outcome, deps.scrub)),
  };
}

/** The owner's answer, or that the call was cancelled before it, is kept as the answer to this call id: a repeat is told it again, and nobody is asked a second time. */
function deniedEnd(code: RefusedCode, message: string): Omit<ToolEnd, "ms"> {
  const end = { status: refusedStatus(code), output: message } as const;
  if (code === "approval_denied") return { ...end, reply: { kind: "refused", code, message } };
  return code === "cancelled" ? { ...end, reply: { kind: "failed", code, message } } : end;
}

function endOf(outcome: Finished, scrub: (text: string) => string): Omit<ToolEnd, "ms"> {
  const status: ToolStatus = outcome.kind === "ok" ? "success" : "error";
  const output = scrub(outcome.kind === "ok" ? textOf(outcome.result) : outcome.message).slice(0, MAX_OUTPUT_CHARS);
  if (isPlain(outcome)) return { status, output };
  const reply = scrubJson(outcome, scrub) as ToolOutcome;
  return JSON.stringify(reply).length <= MAX_REPLY_CHARS ? { status, output, reply } : { status, output };
}

/** Whether status and text say all there is. */
function isPlain(outcome: Finished): boolean {
  if (outcome.kind === "failed") return outcome.code === "tool_failed";
  const { content, ...more } = outcome.result;
  return Object.keys(more).length === 0 && content.length === 1 && content[0]?.type === "text";
}

/** What the caller of an earlier call with the same id was told. */
export function replayOf(earlier: EarlierCall): ToolOutcome {
  if (earlier.reply) return earlier.reply;
  if (earlier.status === "success")
    return { kind: "ok", result: { content: [{ type: "text", text: earlier.output }] } };
  return { kind: "failed", code: "tool_failed", message: earlier.output };
}

/** Parameters that are too large to be accepted are too large to be kept. */
function storable(params: unknown, scrub: (text: string) => string): unknown {
  const chars = (JSON.stringify(params) ?? "").length;
  return chars > MAX_INPUT_CHARS ? { leftOut: `${chars} characters` } : scrubJson(params ?? {}, scrub);
}
