/** Serves the tool calls of one process. Who calls is decided by the lease that is open on this pipe; outside a lease every call is refused. */
import type { ToolContext, ToolGate, ToolOutcome, ToolResult } from "../../contracts/tools/tool.ts";
import { envelopeOf } from "../../contracts/tools/envelope.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import type { AgentProcess } from "../process/process.ts";
import { isFields, text } from "./protocol.ts";
import type { Dialog } from "../process/wire.ts";

const CALL_TITLE = "pi-gateway:tool_call";
const CALL_LIMITS = { maxChars: 4 * 1024 * 1024, maxDepth: 64 };
const MAX_RUNNING_CALLS = 64;
const MAX_PROGRESS_CHARS = 4_096;
const PUSH_MS = 10_000;

export interface ToolPipe {
  /** Makes the tools of the process equal to the gate's, if they have changed. */
  push(signal: AbortSignal): Promise<void>;
  /** From now on calls act for this caller; null: for nobody. Running calls of the one before are cancelled. */
  serve(context: ToolContext | null): void;
  /** pi no longer waits for this call. */
  ended(callId: string): void;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: ToolGate;
}

interface Call {
  readonly tool: string;
  readonly callId: string;
  readonly params: unknown;
}

export function createToolPipe(deps: Deps, process: AgentProcess, suffix: string): ToolPipe {
  const running = new Map<string, AbortController>();
  let caller: ToolContext | null = null;
  let pushed = "";
  let bridgeError: string | null = null;

  process.onExtensionError((error) => {
    bridgeError = error;
  });
  process.onDialog((dialog) => {
    void answer(dialog).then((value) => process.send({ type: "extension_ui_response", id: dialog.id, ...value }));
  });

  const order = (body: unknown): Record<string, unknown> => ({
    type: "prompt",
    message: `/gw-${suffix} ${JSON.stringify(body)}`,
  });

  const progress = (callId: string, signal: AbortSignal) =>
    reporter(async (said) => {
      if (!signal.aborted) await process.request(order({ kind: "progress", callId, text: said }), signal);
    });

  const answer = async (dialog: Dialog): Promise<Record<string, unknown>> => {
    if (dialog.title !== CALL_TITLE) return { cancelled: true }; // there is nobody to ask
    const call = parseCall(dialog.body);
    if (!call) return refuse("The call could not be read.");
    if (!caller) return refuse("This call came outside of a conversation turn and was refused.");
    if (running.has(call.callId)) return refuse("A call with this id is running already.");
    if (running.size >= MAX_RUNNING_CALLS) return refuse("Too many tools are running at once. Call fewer at a time.");
    const stop = new AbortController();
    running.set(call.callId, stop);
    const outcome = await run(
      deps,
      { ...call, path: "pipe", context: caller, onUpdate: progress(call.callId, stop.signal) },
      stop.signal,
    );
    running.delete(call.callId);
    return reply(call.tool, outcome);
  };

  return {
    async push(signal) {
      const body = JSON.stringify(deps.tools.specs(caller));
      if (body === pushed) return;
      using limit = deps.clock.deadline(
        PUSH_MS,
        () => new GatewayError("agent_unavailable", "the bridge did not take the tools"),
      );
      bridgeError = null;
      const done = await process.request(
        order({ kind: "tools", specs: deps.tools.specs(caller) }),
        AbortSignal.any([signal, limit.signal]),
      );
      // A failing handler answers success as well; its error arrives as a record of its own.
      const error = done.ok ? bridgeError : done.error;
      if (error !== null) throw new GatewayError("agent_unavailable", `the bridge refused the tools: ${error}`);
      pushed = body;
    },
    serve(context) {
      for (const stop of running.values()) stop.abort(new Error("the turn is over"));
      running.clear();
      caller = context;
    },
    ended(callId) {
      running.get(callId)?.abort(new Error("the agent no longer waits for this call"));
      running.delete(callId);
    },
  };
}

/** One report at a time; of those that come meanwhile only the newest is told. */
function reporter(tell: (text: string) => Promise<void>): (partial: ToolResult) => void {
  let newest: string | null = null;
  let telling = false;
  const tellAll = async (): Promise<void> => {
    for (let said = newest; said !== null; said = newest) {
      newest = null;
      await tell(said);
    }
  };
  return (partial) => {
    newest = plainText(partial).slice(0, MAX_PROGRESS_CHARS);
    if (telling) return;
    telling = true;
    void tellAll()
      .catch(() => undefined) // progress is a courtesy: the call may be over by now
      .finally(() => {
        telling = false;
      });
  };
}

/** The gate promises never to reject; a broken promise must not leave the agent waiting. */
async function run(deps: Deps, request: Parameters<ToolGate["call"]>[0], signal: AbortSignal): Promise<ToolOutcome> {
  try {
    return await deps.tools.call(request, signal);
  } catch (error) {
    deps.log.error("the tool gate rejected", { tool: request.tool, error });
    return { kind: "failed", code: "tool_failed", message: "The tool failed inside the gateway." };
  }
}

function reply(tool: string, outcome: ToolOutcome): Record<string, unknown> {
  if (outcome.kind !== "ok") return refuse(JSON.stringify(envelopeOf(tool, outcome)));
  return { value: JSON.stringify({ ok: true, content: outcome.result.content }) };
}

function refuse(message: string): Record<string, unknown> {
  return { value: JSON.stringify({ ok: false, text: message }) };
}

function parseCall(body: string): Call | null {
  const parsed = parseJson(body, CALL_LIMITS);
  if (!parsed.ok || !isFields(parsed.value)) return null;
  const { tool, callId, params } = parsed.value;
  if (text(tool) === "" || text(callId) === "") return null;
  return { tool: text(tool), callId: text(callId), params };
}

function plainText(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}
