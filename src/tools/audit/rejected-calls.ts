/**
 * Calls that never became calls: unreadable, without a credential, outside of a turn, one too many, or refused by the agent itself. Each leaves a row; of a flood
 * only the first few do, and after a while one more says how many there were.
 */
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";
import { NO_TURN, type ToolContext, type RejectedCall } from "../../contracts/tools/tool.ts";
import { paramsHash } from "../stages/params-hash.ts";
import { REJECTED_CALL_CODE } from "../../contracts/tools/envelope.ts";
import { createRecord, type RecordDeps, type RefusedCode, refusedStatus } from "./record.ts";

export interface RejectedCalls extends AsyncDisposable {
  note(call: RejectedCall): void;
}

/** Enough to read what somebody tried in a turn. */
export const ROWS_PER_WINDOW = 30;
/** Of those that show no credential: anybody who reaches the port can make them. */
const STRANGERS_ROWS_PER_WINDOW = 1;
export const WINDOW_MS = 60_000;
/** Conversations and reasons that are counted apart; whatever comes on top is counted together. */
export const MAX_WINDOWS = 500;
const MAX_NAME_CHARS = 128;
const MAX_BECAUSE_CHARS = 600;
const MS_PER_SECOND = 1_000;

/** A process that works for nobody has no rights at all. */
const NOBODY: ToolContext = {
  sessionKey: "none" as SessionKey,
  turnId: NO_TURN,
  agentId: "none" as AgentId,
  principal: "nobody" as Principal,
  role: "guest",
  origin: { channel: "none", account: "none", chat: "none" },
  stats: () => Promise.reject(new Error("there is no session")),
};

interface Window {
  rows: number;
  /** Not written down one by one. */
  more: number;
  last: RejectedCall;
}

export function createRejectedCalls(deps: RecordDeps): RejectedCalls {
  const windows = new Map<string, Window>();
  const writing = new Set<Promise<void>>();
  const stopping = new AbortController();

  const write = (call: RejectedCall, message: string): void => {
    const request = requestOf(deps, call);
    const { tool, params } = request;
    const record = createRecord(deps, request, paramsHash(tool, params));
    const written = record
      .refused({ tool, params, idempotent: true }, { code: codeOf(call), message, reason: call.reason })
      .catch((error: unknown) => deps.log.error("tool call could not be recorded", { tool, error }))
      .finally(() => writing.delete(written));
    writing.add(written);
  };

  const close = (key: string): void => {
    const { more, last } = windows.get(key) ?? { more: 0, last: null };
    windows.delete(key);
    if (last === null || more === 0) return;
    const times = `${more} more ${more === 1 ? "call was" : "calls were"}`;
    const { tool: _name, callId: _id, params: _asked, ...rest } = last;
    write(rest, `${times} rejected within ${WINDOW_MS / MS_PER_SECOND} s for this reason: ${becauseOf(deps, last)}`);
  };

  const open = (key: string, call: RejectedCall): Window => {
    const made: Window = { rows: 0, more: 0, last: call };
    windows.set(key, made);
    deps.clock.sleep(WINDOW_MS, stopping.signal).then(
      () => close(key),
      () => undefined, // the end of everything closes it
    );
    return made;
  };

  return {
    note(call) {
      if (stopping.signal.aborted) return;
      count(deps, call);
      const own = `${call.context?.sessionKey ?? ""}\n${call.reason}`;
      const key = windows.has(own) || windows.size < MAX_WINDOWS ? own : "";
      const window = windows.get(key) ?? open(key, call);
      window.last = call;
      if (window.rows >= (call.reason === "unauthorized" ? STRANGERS_ROWS_PER_WINDOW : ROWS_PER_WINDOW))
        return void window.more++;
      window.rows++;
      write(call, becauseOf(deps, call));
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the gate closes"));
      for (const key of [...windows.keys()]) close(key);
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}

/** What an agent refused itself is an error in its own words. */
function codeOf({ reason }: RejectedCall): RefusedCode {
  return reason === "refused_by_agent" ? "tool_failed" : REJECTED_CALL_CODE[reason];
}

/** For those who count calls. Who shows no credential is not counted: anybody can call. */
function count(deps: RecordDeps, call: RejectedCall): void {
  if (!call.context) return;
  const { sessionKey, turnId } = call.context;
  const { callId, tool } = requestOf(deps, call);
  deps.events.emit("tool_execution_end", {
    sessionKey,
    turnId,
    callId,
    tool,
    status: refusedStatus(codeOf(call)),
    ms: 0,
    background: false,
    params: {},
    result: null,
    error: becauseOf(deps, call),
  });
}

/** An agent's own words may be long. Scrubbed before it is cut: nothing knows the half of a secret. */
function becauseOf({ scrub }: RecordDeps, { because }: RejectedCall): string {
  return scrub(because).slice(0, MAX_BECAUSE_CHARS).toWellFormed();
}

/** Names are scrubbed before they are cut, too. */
function requestOf({ scrub }: RecordDeps, { tool, callId, params, path, context }: RejectedCall) {
  return {
    tool: scrub(tool ?? "(unreadable)").slice(0, MAX_NAME_CHARS),
    callId: scrub(callId ?? "").slice(0, MAX_NAME_CHARS),
    params: params ?? {},
    path,
    context: context ?? NOBODY,
  };
}
