/** Serves the tool calls of one process. Who calls is decided by the lease that is open on this pipe; outside a lease every call is refused. */
import type { ToolsFilter } from "../../config/index.ts";
import type { Caller, RealText } from "../../contracts/agent.ts";
import type { ToolContext, ToolGate, ToolOutcome, ToolResult } from "../../contracts/tools/tool.ts";
import { envelopeOf, REJECTED_CALL_CODE } from "../../contracts/tools/envelope.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import type { AgentProcess } from "../process/process.ts";
import type { AgentToken } from "../tools/agent-tokens.ts";
import type { Room } from "../tools/confine.ts";
import { createLeftRunning } from "../tools/left-running.ts";
import { createOffering } from "../tools/offering.ts";
import { createPiToolCalls, type PiToolCall, type PiToolCalls, type PiToolEnd } from "../tools/pi-tool-calls.ts";
import { profileTools } from "../tools/pi-tools.ts";
import { type AgentCall, createUnaskedCalls, type UnaskedCalls } from "../tools/unasked-calls.ts";
import { type Asking, type AskingDeps, createAsking } from "./asking.ts";
import { type Fields, isFields, text } from "./protocol.ts";
import type { PushedTools } from "./session.ts";
import type { Dialog } from "../process/wire.ts";

const CALL_TITLE = "pi-gateway:tool_call";
const ADMIT_TITLE = "pi-gateway:tool_admit";
const RESULT_TITLE = "pi-gateway:tool_result";
const ERROR_TITLE = "pi-gateway:tool_error";
const CALL_LIMITS = { maxChars: 4 * 1024 * 1024, maxDepth: 64 };
const MAX_RUNNING_CALLS = 64;
const MAX_PROGRESS_CHARS = 4_096;
const MAX_REASON_CHARS = 500;

const NO_TOOLS: PushedTools = { sent: Promise.resolve(), taken: Promise.resolve() };

export interface ToolPipe {
  /** Gives the process the tools of this caller (null: of nobody yet), as far as it does not have them. */
  push(caller: Caller | null, signal: AbortSignal): PushedTools;
  /** From now on calls act for this caller, and changed tools reach the process at once; null: for nobody. Running calls of the one before are cancelled. */
  serve(context: ToolContext | null): void;
  /** Resolves when no change of tools is on its way to the process. */
  settled(): Promise<void>;
  /** The model of the turn that begins next reads these pieces of its prompt otherwise than pi keeps them. */
  showReal(texts: readonly RealText[], signal: AbortSignal): Promise<void>;
  /** The model of the turn that begins next is told this besides its agent's instructions. */
  instruct(instructions: string, signal: AbortSignal): Promise<void>;
  /** pi has a call to make. It may refuse it itself, and then nothing of it comes over the pipe. */
  began(call: AgentCall): void;
  /** A running call has said so much. */
  updated(callId: string, chars: number): void;
  /** pi no longer waits for this call. What is shown and kept about it instead of pi's own words; null: those. */
  ended(callId: string, end: PiToolEnd): string | null;
  /** The turn is being stopped: its calls hear of it now and not when pi gets around to it, and none begins any more. `over`: the turn is. */
  stopCalls(over: AbortSignal): void;
  /** The turn is over: what pi tools started in it and did not end is ended. */
  endLeftRunning(): Promise<void>;
  /** Questions of other extensions, which are for people. */
  readonly asking: Pick<Asking, "listen" | "hush" | "lastAsked">;
}

interface ToolPipeOptions {
  /** Of the bridge's command in this process. */
  readonly suffix: string;
  /** `minimal`: the tools of a turn stay as they were at its beginning. `off`: there is no bridge, and so there are no tools. */
  readonly bridge: "live" | "minimal" | "off";
  readonly profile: ToolsFilter;
  /** Where pi's file tools may look and change something. */
  readonly room: Room;
  /** By which scripts of the agent call the gateway; null: they cannot. */
  readonly token: AgentToken | null;
}

interface Deps extends AskingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: ToolGate;
}

/** The calls of one process that are running now, and for whom. */
interface Serving {
  readonly running: Map<string, AbortController>;
  readonly unasked: UnaskedCalls;
  /** Texts that are kept in the place of real results, by call. */
  readonly kept: Map<string, string>;
  caller: ToolContext | null;
  stopping: boolean;
}

/** Runs, or judges, one call; returns how its dialog is answered. */
type Work = (call: PiToolCall, context: ToolContext, signal: AbortSignal) => Promise<Fields>;

export function createToolPipe(deps: Deps, process: AgentProcess, options: ToolPipeOptions): ToolPipe {
  const { bridge, profile } = options;
  const left = createLeftRunning(deps, process);
  const piCalls = createPiToolCalls({ ...deps, left }, options.room);
  const asking = createAsking(deps);

  const order = (body: unknown): Fields => ({
    type: "prompt",
    message: `/gw-${options.suffix} ${JSON.stringify(body)}`,
  });
  const tellBridge = async (body: unknown, signal: AbortSignal): Promise<void> => {
    if (bridge !== "off") await process.request(order(body), signal);
  };
  const own = (to: Caller | null) => (to ? profileTools(profile) : []); // they touch files: nobody has them while no turn runs
  const has = (tool: string): boolean => typeof profile === "string" || profile.includes(tool);
  const offering = createOffering(deps, process, { order, own, has, live: bridge === "live" });
  const names = (to: Caller) => [...own(to).filter(has), ...offering.names()];
  const unasked = createUnaskedCalls(deps, { bridge, names });
  const serving: Serving = { running: new Map(), unasked, kept: new Map(), caller: null, stopping: false };
  const { running } = serving;
  const progress = (callId: string, signal: AbortSignal) =>
    reporter(async (said) => {
      if (!signal.aborted) await process.request(order({ kind: "progress", callId, text: said }), signal);
    });

  const call = gatewayCall(deps, serving, { settled: offering.settled, progress });
  const admit: Work = async (...asked) => valueOf(await piCalls.admit(...asked));

  const answer = async (dialog: Dialog): Promise<Fields | null> => {
    const { title, body } = dialog;
    if (title === CALL_TITLE) return begin(deps, serving, body, { path: "pipe", work: call });
    if (title === ADMIT_TITLE) return begin(deps, serving, body, { path: "pi", work: admit });
    if (title === ERROR_TITLE) return valueOf({ ok: true, text: unasked.refusalOf(text(fieldsIn(body).callId)) });
    return title === RESULT_TITLE ? piCallEnded(piCalls, body) : asking.ask(dialog);
  };
  answerDialogs(deps, process, answer);
  process.onNote(asking.tell);

  return {
    asking,
    push: (to, signal) => (bridge === "off" ? NO_TOOLS : offering.push(to, signal)),
    serve(context) {
      for (const stop of running.values()) stop.abort(new Error("the turn is over"));
      running.clear();
      unasked.clear();
      serving.kept.clear();
      piCalls.endAll();
      serving.stopping = false;
      serving.caller = context;
      asking.serve(context);
      options.token?.serve(context);
      offering.follow(context);
    },
    settled: offering.settled,
    showReal: (texts, signal) => tellBridge({ kind: "real", texts }, signal),
    instruct: (instructions, signal) => tellBridge({ kind: "instructions", text: instructions }, signal),
    began: unasked.began,
    updated: piCalls.updated,
    ended(callId, end) {
      const refusal = unasked.ended(callId, end, serving.caller);
      const kept = serving.kept.get(callId) ?? piCalls.keptOf(callId);
      running.get(callId)?.abort(new Error("the agent no longer waits for this call"));
      running.delete(callId);
      void piCalls.ended(callId, end); // when pi did not tell it itself
      return refusal ?? kept;
    },
    stopCalls: (over) => stopCalls(serving, over),
    endLeftRunning: left.end,
  };
}

/** Whatever fails here, the agent is answered: it would wait for ever. */
function answerDialogs({ log }: Deps, process: AgentProcess, answer: (dialog: Dialog) => Promise<Fields | null>): void {
  const serve = async (dialog: Dialog): Promise<void> => {
    const value = await answer(dialog).catch((error: unknown) => {
      log.error("a dialog of an agent could not be answered", { error });
      return { cancelled: true };
    });
    if (value) process.send({ type: "extension_ui_response", id: dialog.id, ...value });
  };
  process.onDialog((dialog) => background(log, "an agent was not answered", () => serve(dialog)));
}

interface CallTools {
  /** Resolves when no change of tools is on its way to the process. */
  settled(): Promise<void>;
  progress(callId: string, signal: AbortSignal): (partial: ToolResult) => void;
}

function gatewayCall(deps: Deps, { kept: texts }: Serving, { settled, progress }: CallTools): Work {
  return async ({ tool, callId, ...asked }, context, signal) => {
    const request = { ...asked, tool, callId, path: "pipe", context, onUpdate: progress(callId, signal) } as const;
    const outcome = await run(deps, request, signal);
    await settled(); // so that what this call has changed is in the model's next request
    const kept = keptText(tool, outcome);
    if (kept !== null) texts.set(callId, kept);
    return reply(tool, outcome, kept);
  };
}

/** pi is told nothing more about these calls: it would ask the model what to do next, and is about to hear of the stop itself. */
function stopCalls(serving: Serving, over: AbortSignal): void {
  if (over.aborted) return;
  serving.stopping = true;
  over.addEventListener("abort", () => void (serving.stopping = false), { once: true });
  for (const stop of serving.running.values()) stop.abort(new Error("the turn is being stopped"));
}

interface CallHandler {
  readonly path: "pipe" | "pi";
  readonly work: Work;
}

/** A call has to be readable, made during a turn, and not be one too many. Whatever is not leaves a row all the same. */
async function begin(deps: Deps, serving: Serving, body: string, { path, work }: CallHandler): Promise<Fields | null> {
  const { running, caller } = serving;
  const call = parseCall(body);
  const asked = call && serving.unasked.take(call.callId);
  const reject = (reason: keyof typeof REJECTED_CALL_CODE, because: string): Fields => {
    deps.tools.recordRejected({ ...(call ?? { params: beginningOf(body) }), path, context: caller, reason, because });
    const outcome = { kind: "refused", code: REJECTED_CALL_CODE[reason], message: because } as const;
    return refuse(JSON.stringify(envelopeOf(call?.tool ?? "unknown", outcome)));
  };
  if (!call) return reject("unreadable", "The call could not be read. Write it again, with all its parameters.");
  if (!caller) return reject("outside_turn", "This call came outside of a conversation turn and was refused.");
  if (serving.stopping) {
    reject("outside_turn", "This call came while its turn was being stopped.");
    return null;
  }
  if (running.has(call.callId)) return reject("id_taken", "A call with this id is running already. Use another id.");
  if (running.size >= MAX_RUNNING_CALLS)
    return reject("too_many", "Too many tools are running at once. Call fewer at a time.");
  const stop = new AbortController();
  running.set(call.callId, stop);
  try {
    const answer = await work(asked ? { ...call, asked: asked.input } : call, caller, stop.signal);
    return serving.stopping && stop.signal.aborted ? null : answer;
  } finally {
    if (running.get(call.callId) === stop) running.delete(call.callId);
  }
}

async function piCallEnded(piCalls: PiToolCalls, body: string): Promise<Fields> {
  const { callId, isError, output } = fieldsIn(body);
  if (text(callId) === "") return refuse("The result could not be read.");
  const end = { isError: isError === true, output: text(output) };
  return valueOf({ ok: true, kept: await piCalls.ended(text(callId), end) });
}

function beginningOf(body: string) {
  return { chars: body.length, begins: body.slice(0, MAX_REASON_CHARS) };
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

function reply(tool: string, outcome: ToolOutcome, kept: string | null): Fields {
  if (outcome.kind === "ok") return valueOf({ ok: true, ...outcome.result, ...(kept === null ? {} : { kept }) });
  const said = JSON.stringify(envelopeOf(tool, outcome));
  // accepted, and not done yet: that is no error, for the model as for those who count errors
  if (outcome.kind === "pending") return valueOf({ ok: true, content: [{ type: "text", text: said }] });
  return valueOf({ ok: false, text: said, ...(kept === null ? {} : { kept }) });
}

/** Null: the real text is kept. */
function keptText(tool: string, outcome: ToolOutcome): string | null {
  if ((outcome.kind !== "ok" && outcome.kind !== "failed") || outcome.kept === undefined) return null;
  if (outcome.kind === "ok") return outcome.kept;
  return JSON.stringify(envelopeOf(tool, { ...outcome, message: outcome.kept }));
}

function refuse(message: string): Fields {
  return valueOf({ ok: false, text: message });
}

function valueOf(value: unknown): Fields {
  return { value: JSON.stringify(value) };
}

function parseCall(body: string): PiToolCall | null {
  const { tool, callId, params } = fieldsIn(body);
  if (text(tool) === "" || text(callId) === "") return null;
  return { tool: text(tool), callId: text(callId), params };
}

/** None, when the body cannot be read. */
function fieldsIn(body: string): Fields {
  const parsed = parseJson(body, CALL_LIMITS);
  return parsed.ok && isFields(parsed.value) ? parsed.value : {};
}

function plainText(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}
