/** The one way to run a tool. Every call leaves a row, whatever becomes of it; the row is durable before the tool starts. */
import type { ToolStatus } from "../contracts/chat.ts";
import type { ToolCallStore } from "../contracts/store.ts";
import type { Tool, ToolGate, ToolOutcome, ToolRequest, ToolResult } from "../contracts/tools/tool.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { ToolRegistry } from "./registry.ts";

export interface ToolGateDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: ToolCallStore;
  readonly registry: ToolRegistry;
}

const MAX_PARAMS_CHARS = 256 * 1024;
const MAX_OUTPUT_CHARS = 256 * 1024;

class ToolTimeout extends Error {}

export function createToolGate(deps: ToolGateDeps): ToolGate {
  return {
    specs: () =>
      deps.registry
        .list()
        .map(({ name, label, description, parameters }) => ({ name, label, description, parameters })),
    onChange: () => ({ [Symbol.dispose]: () => undefined }), // the set is fixed so far
    admit: async ({ tool }) => ({ kind: "refused", code: "not_allowed", message: `${tool} is not offered here.` }),
    async call(request, signal) {
      try {
        return await admit(deps, request, signal);
      } catch (error) {
        deps.log.error("tool call could not be recorded", {
          tool: request.tool,
          turnId: request.context.turnId,
          error,
        });
        return {
          kind: "failed",
          code: "tool_failed",
          message: "The gateway could not record this call, so the tool was not run.",
        };
      }
    },
  };
}

async function admit(deps: ToolGateDeps, request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome> {
  const registered = deps.registry.get(request.tool);
  const refusal = registered ? invalid(registered.problems, request) : unknown(deps, request.tool);
  const audit = await openAudit(deps, request, registered?.tool.flags.idempotent ?? true);
  if (refusal || !registered) {
    const outcome = refusal ?? unknown(deps, request.tool);
    audit.close("blocked", outcome.kind === "ok" ? "" : outcome.message);
    return outcome;
  }
  const outcome = await run(deps, registered.tool, request, signal);
  const status: ToolStatus = outcome.kind === "ok" ? "success" : "error";
  audit.close(status, outcome.kind === "ok" ? textOf(outcome.result) : outcome.message);
  return outcome;
}

function unknown(deps: ToolGateDeps, tool: string): ToolOutcome {
  const names = deps.registry.list().map(({ name }) => name);
  return {
    kind: "refused",
    code: "unknown_tool",
    message: `There is no tool called ${tool}. The tools are: ${names.join(", ")}.`,
  };
}

function invalid(problems: (params: unknown) => readonly string[], request: ToolRequest): ToolOutcome | null {
  if ((JSON.stringify(request.params) ?? "").length > MAX_PARAMS_CHARS) {
    return {
      kind: "refused",
      code: "invalid_params",
      message: `The parameters are larger than ${MAX_PARAMS_CHARS} characters. Send less.`,
    };
  }
  const found = problems(request.params);
  if (found.length === 0) return null;
  return {
    kind: "refused",
    code: "invalid_params",
    message: `The parameters of ${request.tool} are not valid:\n- ${found.join("\n- ")}`,
  };
}

interface Audit {
  /** Returns at once, so that the model does not wait for the disk. Writes keep their order: the turn's own end is stored after this. */
  close(status: ToolStatus, output: string): void;
}

async function openAudit(deps: ToolGateDeps, request: ToolRequest, idempotent: boolean): Promise<Audit> {
  const { turnId, sessionKey, principal } = request.context;
  const id = deps.ids.next("call");
  const startedAt = deps.clock.elapsed();
  await deps.store.intend({
    id,
    callId: request.callId,
    turnId,
    sessionKey,
    principal,
    tool: request.tool,
    origin: request.context.cause ?? "chat",
    input: request.params ?? {},
    idempotent,
    at: deps.clock.now(),
  });
  return {
    close(status, output) {
      const ms = Math.round(deps.clock.elapsed() - startedAt);
      deps.log.info("tool called", { tool: request.tool, status, ms, turnId, sessionKey });
      deps.store.settle(id, { status, output, ms }).catch((error: unknown) => {
        deps.log.error("end of a tool call could not be recorded", { tool: request.tool, turnId, error });
      });
    },
  };
}

/** Ends by the tool's deadline even when the tool ignores its signal. */
async function run(deps: ToolGateDeps, tool: Tool, request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome> {
  using deadline = deps.clock.deadline(
    tool.timeoutMs,
    () => new ToolTimeout(`${tool.name} took longer than ${tool.timeoutMs} ms`),
  );
  const limits = AbortSignal.any([signal, deadline.signal]);
  try {
    const running = tool.execute(
      request.callId,
      request.params,
      limits,
      request.onUpdate ?? ignoreProgress,
      request.context,
    );
    return { kind: "ok", result: capped(await orAborted(running, limits)) };
  } catch (error) {
    if (error instanceof ToolTimeout)
      return { kind: "failed", code: "tool_timeout", message: `${tool.name} did not finish in time.` };
    if (signal.aborted) return { kind: "failed", code: "cancelled", message: `${tool.name} was cancelled.` };
    deps.log.warn("tool failed", { tool: tool.name, error });
    return { kind: "failed", code: "tool_failed", message: error instanceof Error ? error.message : String(error) };
  }
}

/** A caller that cannot show progress. */
function ignoreProgress(): void {}

function capped(result: ToolResult): ToolResult {
  let room = MAX_OUTPUT_CHARS;
  const content = result.content.map((block) => {
    if (block.type !== "text") return block;
    const text =
      block.text.length <= room
        ? block.text
        : `${block.text.slice(0, room)}\n[cut: ${block.text.length - room} more characters]`;
    room = Math.max(0, room - block.text.length);
    return { ...block, text };
  });
  return { ...result, content };
}

function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}
