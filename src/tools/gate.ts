/**
 * The one way to run a tool: known → the stages of stages/stages.ts in order → its row on the disk → run within limits → hooks → the end
 * written down. Every path passes all of it, and whatever becomes of a call leaves a row.
 */
import type { Tool, ToolGate, ToolOutcome, ToolRefusal, ToolRequest, ToolSpec } from "../contracts/tools/tool.ts";
import { noSuchName } from "../kit/nearest.ts";
import { admit } from "./admit.ts";
import { type CallRecord, CallTaken } from "./audit/record.ts";
import { createRejectedCalls } from "./audit/rejected-calls.ts";
import { conflict, judgeCall, keyOf, NOT_RECORDED, type Parts, type ToolGateDeps, recordRejected } from "./parts.ts";
import { mayUse } from "./policy.ts";
import { clientSpecs, clientTool } from "./client-tools.ts";
import { afterEarlier, type FreshCall } from "./earlier-calls.ts";
import type { LiveToolRegistry, UsableTool } from "./registry.ts";
import { createImageCheck } from "./run/images.ts";
import { maskOutcome, maskUpdates } from "./run/mask-outcome.ts";
import { runCall } from "./run/run-call.ts";
import { createSlots } from "./run/slots.ts";
import { BUILT_IN } from "./search/choose.ts";
import { createOfferedTools } from "./search/offered.ts";
import { knownName, otherToolNames } from "./stages/names.ts";
import { createOnce, type Ended, type Shared } from "./stages/once.ts";
import { paramsHash } from "./stages/params-hash.ts";
import { createRateLimits } from "./stages/rate.ts";
import { type Draft, refuse } from "./stages/stage.ts";
import { usableTools } from "./usable.ts";

/** Disposing cancels what runs and waits until its end is written. */
export function createToolGate(deps: ToolGateDeps): ToolGate & AsyncDisposable {
  const parts: Parts = {
    ...deps,
    once: createOnce(),
    images: createImageCheck(deps.runLimits),
    rate: createRateLimits(deps),
    slots: createSlots(deps.clock, deps.policy),
    background: { running: 0 },
    rejectedCalls: createRejectedCalls(deps),
  };
  const specs = createSpecs(deps.registry);
  const offered = createOfferedTools(deps);
  return {
    specs: (caller) => [...usableTools(parts, caller).map(({ tool }) => specs(tool)), ...clientSpecs(caller)],
    offered: async (caller, live) => [
      ...(await offered(usableTools(parts, caller), caller, live)).map(specs),
      ...clientSpecs(caller),
    ],
    onChange(listener) {
      const tools = deps.registry.onChange(() => listener(null));
      const ofSessions = deps.sessionTools.onChange(listener);
      const rules = deps.events.on("status", ({ what }) => void (what === "config" && listener(null)));
      return {
        [Symbol.dispose]() {
          for (const listening of [tools, ofSessions, rules]) listening[Symbol.dispose]();
        },
      };
    },
    async call(request, signal) {
      const { mask } = deps;
      const onUpdate = maskUpdates(request, mask);
      const outcome = await call(parts, onUpdate ? { ...request, onUpdate } : request, signal);
      return maskOutcome(outcome, request.path, mask);
    },
    admit: (request, signal) => admit(parts, request, signal),
    recordRejected: (request) => parts.rejectedCalls.note(request),
    async [Symbol.asyncDispose]() {
      await parts.once[Symbol.asyncDispose]();
      await parts.rejectedCalls[Symbol.asyncDispose]();
    },
  };
}

/**
 * Made once for each tool, however often it is offered: finding out how else it may be spelled takes longer than all the rest. Made anew when
 * tools have changed: another spelling may have become the name of a tool.
 */
function createSpecs(registry: Pick<LiveToolRegistry, "has" | "revision">): (tool: Tool) => ToolSpec {
  let known = new WeakMap<Tool, ToolSpec>();
  let revision = registry.revision;
  return (tool) => {
    if (revision !== registry.revision) known = new WeakMap();
    revision = registry.revision;
    const made = known.get(tool) ?? specOf(tool, registry);
    known.set(tool, made);
    return made;
  };
}

function specOf(tool: Tool, registry: Pick<LiveToolRegistry, "has">): ToolSpec {
  const { name, label, description, parameters, outputSchema } = tool;
  const otherNames = otherToolNames(name).filter((other) => !registry.has(other));
  return {
    name,
    label,
    description,
    parameters,
    ...(outputSchema ? { outputSchema } : {}),
    ...(otherNames.length > 0 ? { otherNames } : {}),
  };
}

async function call(parts: Parts, request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome> {
  const hash = paramsHash(request.tool, request.params);
  const joined = await parts.once.join(
    {
      key: keyOf(request),
      hash,
      path: request.path,
      onUpdate: request.onUpdate,
      run: (shared, until) => orNotRecorded(parts, request, () => fresh(parts, { request, hash, shared }, until)),
    },
    signal,
  );
  if (joined !== "conflict") return joined;
  return (await orNotRecorded(parts, request, () => recordRejected(parts, request, hash, conflict()))).outcome;
}

/** A store that does not take the row is no reason to reject: the caller is told that nothing was run. */
async function orNotRecorded(parts: Parts, request: ToolRequest, run: () => Promise<Ended>): Promise<Ended> {
  try {
    return await run();
  } catch (error) {
    const { turnId } = request.context;
    parts.log.error("tool call could not be recorded", { tool: request.tool, turnId, error });
    return { outcome: NOT_RECORDED, written: Promise.resolve() };
  }
}

/**
 * Nothing with this id runs here: perhaps it has run before, perhaps the previous process ended in the middle of it, perhaps it runs at another
 * gateway. Two gateways may find nothing at the same moment; the one whose row is second waits for the other.
 */
async function fresh(parts: Parts, call: FreshCall, signal: AbortSignal): Promise<Ended> {
  for (;;) {
    const before = await afterEarlier(parts, call, signal);
    if (before?.kind === "refused") return recordRejected(parts, call.request, call.hash, before);
    if (before) return { outcome: before, written: Promise.resolve() };
    try {
      return await judgeAndRun(parts, call, signal);
    } catch (error) {
      if (!(error instanceof CallTaken)) throw error;
    }
  }
}

async function judgeAndRun(parts: Parts, { request, hash, shared }: FreshCall, signal: AbortSignal): Promise<Ended> {
  const find = (now: ToolRequest, record: CallRecord) => draftOf(parts, now, record, shared);
  const judged = await judgeCall(parts, { request, hash }, find, signal);
  if ("outcome" in judged) return judged;
  noteUse(parts, judged);
  return runCall(parts, judged, shared, signal);
}

/** An agent keeps what it has called, also when other tools have to be searched for. */
function noteUse({ sessionTools }: Parts, { request, usable, tool }: Draft): void {
  if (request.path !== "pipe" || !usable || usable.plugin === BUILT_IN || tool.client) return;
  sessionTools.noteUse(request.context.sessionKey, tool.name);
}

function draftOf(parts: Parts, request: ToolRequest, record: CallRecord, shared: Shared): Draft | ToolRefusal {
  const { registry } = parts;
  const ofClient = clientTool(request.context, request.tool);
  if (ofClient) return draftFor(ofClient, request, record, shared);
  // a tool of exactly this name counts even when it cannot be used: a call never runs another one instead
  const isKnown = (name: string): boolean => registry.has(name) || registry.usable(name, request.context) !== null;
  const name = knownName(request.tool, isKnown);
  const usable = registry.usable(name, request.context);
  if (!usable) return quarantinedTool(parts, name, request) ?? unknownTool(parts, request);
  return draftFor(usable, request, record, shared);
}

function draftFor(usable: UsableTool, request: ToolRequest, record: CallRecord, shared: Shared): Draft {
  return {
    request,
    usable,
    record,
    tool: usable.tool,
    params: request.params,
    askBecause: null,
    slot: null,
    onWaiting: (message) => shared.early({ kind: "pending", code: "approval_pending", message }),
  };
}

/** Null: no such tool, or none that this caller might use if it were right. */
function quarantinedTool({ registry, policy }: Parts, name: string, { context }: ToolRequest): ToolRefusal | null {
  const found = registry.quarantined(name);
  if (!found || !mayUse(found.tool, context, policy()).may) return null;
  return refuse("unknown_tool", `${name} is quarantined and cannot be called. ${found.reason}`);
}

function unknownTool(parts: Parts, { tool, context }: ToolRequest): ToolRefusal {
  const names = usableTools(parts, context).map((usable) => usable.tool.name);
  return refuse("unknown_tool", noSuchName("tool", parts.mask.text(tool), names));
}
