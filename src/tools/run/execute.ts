/** Runs one tool: with a signal, a deadline, time to clean up, progress at a pace, and a check of what it gives back. The only caller of `execute`. */
import type { Config } from "../../config/index.ts";
import { errorText, isGatewayError } from "../../contracts/errors.ts";
import type { Tool, ToolContext, ToolResult } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import type { SecretMask } from "../../kit/secret.ts";
import type { UsableTool } from "../registry.ts";
import type { ImageCheck } from "./images.ts";
import { checkResult, type Finished, textOf } from "./output.ts";
import { createProgress } from "./progress.ts";

export type RunLimits = Config["tools"]["execution"];

interface ExecuteDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly images: ImageCheck;
  readonly mask: SecretMask;
  /** As the settings are now. */
  runLimits(): RunLimits;
}

interface Execution {
  readonly callId: string;
  readonly params: unknown;
  readonly context: ToolContext;
  readonly checkOutput: UsableTool["checkOutput"];
  /** A plugin decides what is kept of errors, and has not seen them yet: the log says only that there was one. */
  readonly checksKept: boolean;
  onUpdate(partial: ToolResult): void;
  /** A background tool has reported progress, or has been silent for long enough: its caller need not wait any longer. */
  onYield(text: string): void;
}

/** What a tool may take at most, whatever it says itself. */
const MAX_TIMEOUT_MS = 120_000;
const MAX_BACKGROUND_MS = 60 * 60_000;
/** For a tool that waits for another agent, whose turn has a limit of its own. */
const MAX_LONG_MS = 60 * 60_000;

class ToolTimeout extends Error {}

export async function execute(deps: ExecuteDeps, tool: Tool, call: Execution, signal: AbortSignal): Promise<Finished> {
  const { background = false } = tool.flags;
  const most = tool.flags.long ? MAX_LONG_MS : MAX_TIMEOUT_MS;
  const ms = Math.min(tool.timeoutMs, background ? MAX_BACKGROUND_MS : most);
  using deadline = deps.clock.deadline(ms, () => new ToolTimeout(`${tool.name} took longer than ${ms} ms`));
  using yielding = background ? yieldAfterWhile(deps, tool, call) : null;
  using progress = createProgress(deps.clock, (partial) => {
    const shown = shownProgress(partial, deps.mask);
    call.onUpdate(shown);
    yielding?.said(shown);
  });
  const limits = AbortSignal.any([signal, deadline.signal]);
  try {
    limits.throwIfAborted(); // cancelled while its row was written: not every tool looks at its signal before it begins
    const value = await withCleanup(deps, started(tool, call, progress.report, limits), limits);
    const failed = saysError(value);
    const checks = { images: deps.images, mask: deps.mask, checkOutput: failed ? null : call.checkOutput };
    const checked = await checkResult(value, checks, deps.runLimits());
    if (checked.ok && !failed) return { kind: "ok", result: checked.result };
    if (checked.ok)
      return { kind: "failed", code: "tool_failed", message: shortError(textOf(checked.result), deps.mask) };
    deps.log.warn("tool gave back something unusable", { tool: tool.name, because: checked.because });
    return { kind: "failed", code: "tool_failed", message: `${tool.name} failed: ${checked.because}.` };
  } catch (error) {
    if (error instanceof ToolTimeout)
      return { kind: "failed", code: "tool_timeout", message: `${tool.name} did not finish within ${seconds(ms)}.` };
    if (signal.aborted) return { kind: "failed", code: "cancelled", message: `${tool.name} was cancelled.` };
    const at = tool.locationOf?.(error) ?? null;
    const why = call.checksKept ? {} : { error };
    deps.log.warn("tool failed", { tool: tool.name, ...(at === null ? {} : { at }), ...why });
    const where = at !== null && call.context.role === "owner" ? ` (${shortLocation(at)})` : "";
    return { kind: "failed", code: "tool_failed", message: `${messageOf(error, deps.mask)}${where}` };
  }
}

/** "hello/index.ts:12:5": enough for whoever wrote it, and nothing about the machine. */
const shortLocation = (at: string): string => at.split("/plugins/").at(-1) ?? at;

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

const MAX_MESSAGE_CHARS = 4_096;
const MAX_PROGRESS_CHARS = 4_096;

/** Words only, and not many: a report is a courtesy, the result is what counts. */
function shownProgress(partial: ToolResult, mask: SecretMask): ToolResult {
  const content: unknown = (partial as Partial<ToolResult> | null)?.content;
  const texts = (Array.isArray(content) ? content : []).flatMap((block: unknown) => {
    const text: unknown = typeof block === "object" && block !== null && "text" in block ? block.text : null;
    return typeof text === "string" ? [text] : [];
  });
  return { content: [{ type: "text", text: mask.cut(texts.join("\n").toWellFormed(), MAX_PROGRESS_CHARS) }] };
}

function messageOf(error: unknown, mask: SecretMask): string {
  return shortError(isGatewayError(error) ? error.say : errorText(error), mask);
}

function shortError(text: string, mask: SecretMask): string {
  return mask.cut(text.toWellFormed(), MAX_MESSAGE_CHARS) || "The tool failed without saying why.";
}

/** As results of MCP tools say it. */
function saysError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "isError" in value && value.isError === true;
}

/** A tool that throws before it gives a promise fails like one that rejects. */
async function started(
  tool: Tool,
  { callId, params, context }: Execution,
  report: (partial: ToolResult) => void,
  signal: AbortSignal,
): Promise<unknown> {
  return tool.execute(callId, params, signal, report, context);
}

/** Ends soon after the signal aborts even when the tool ignores it. What it gives back after that is nobody's any more. */
async function withCleanup(deps: ExecuteDeps, running: Promise<unknown>, limits: AbortSignal): Promise<unknown> {
  try {
    return await orAborted(running, limits);
  } catch (error) {
    if (!limits.aborted) throw error;
    using patience = deps.clock.deadline(deps.runLimits().cleanupMs, () => new Error("no more time"));
    await orAborted(
      running.then(
        () => undefined,
        () => undefined, // how it ended no longer matters, only that it did
      ),
      patience.signal,
    ).catch(() => undefined);
    throw limits.reason;
  }
}

interface Yielding extends Disposable {
  said(partial: ToolResult): void;
}

/** After `backgroundMs` a background tool goes on alone, whether it has said something or not. */
function yieldAfterWhile(deps: ExecuteDeps, tool: Tool, call: Execution): Yielding {
  const over = new AbortController();
  let yielded = false;
  const once = (text: string): void => {
    if (yielded) return;
    yielded = true;
    call.onYield(text);
  };
  void deps.clock.sleep(deps.runLimits().backgroundMs, over.signal).then(
    () => once(`${tool.name} goes on in the background.`),
    () => undefined, // it ended before
  );
  return {
    said: (partial) => once(textOf(partial)),
    [Symbol.dispose]: () => over.abort(new Error("it has ended")),
  };
}
