/** Notes where the time of one attempt goes: two readings of the clock per stretch. Keeps no text and no arguments. */
import type { ModelCall } from "../contracts/model-door.ts";
import type { Span } from "../contracts/queue.ts";
import type { DelegatedSpan } from "../contracts/tools/delegation.ts";
import type { Clock } from "../kit/clock.ts";

export interface SpanRecorder {
  /** Begins the next stage; the one before ends here. */
  enter(stage: "lease" | "first_token"): void;
  /** What came of the stage, in a few constant words. */
  note(text: string): void;
  /** The model said something: a word, or a tool call. The first time ends the wait for it. */
  spoke(): void;
  toolStarted(callId: string, tool: string): void;
  toolEnded(callId: string): void;
  /** The call waits for an owner: that time is not the tool's. */
  approvalAsked(callId: string): void;
  /** `runs`: it was allowed, and the tool begins now. */
  approvalEnded(callId: string, runs: boolean): void;
  /** A call of a model has ended. */
  modelCalled(call: ModelCall): void;
  /** Takes over the spans of other agents that worked for this attempt. */
  adopt(delegated: readonly DelegatedSpan[]): void;
  /** Closes what is open and tells all, in the order in which it began. */
  close(): readonly Span[];
  sinceAcceptedMs(): number;
}

/** A turn may call tools for hours; its waterfall stays something one can look at. */
export const MAX_TOOL_SPANS = 100;
const MAX_NAME_CHARS = 64;
const TOOL = "tool:";
const APPROVAL = "approval:";

interface Open {
  name: string;
  readonly startMs: number;
  endMs: number | null;
  note?: string;
}

export function createSpanRecorder(clock: Clock, acceptedAt: number): SpanRecorder {
  const waitedMs = Math.max(0, clock.now() - acceptedAt); // a clock set back must not make a wait negative
  const startedAt = clock.elapsed();
  const now = (): number => waitedMs + (clock.elapsed() - startedAt);
  const all: Open[] = [{ name: "queued", startMs: 0, endMs: waitedMs }];
  const adopted: Span[] = [];
  const tools = new Map<string, Open>();
  const waiting = new Set<string>();
  let toolsSeen = 0;
  let callsSeen = 0;
  let stage: Open | null = null;

  const begin = (name: string): Open => {
    const span = { name, startMs: now(), endMs: null };
    all.push(span);
    return span;
  };
  const enter = (name: string): void => {
    if (stage) stage.endMs = now();
    stage = begin(name);
  };

  return {
    enter,
    note(text) {
      if (stage) stage.note = text;
    },
    spoke() {
      if (stage?.name === "first_token") enter("generate");
    },
    toolStarted(callId, tool) {
      const kind = waiting.has(callId) ? APPROVAL : TOOL;
      if (++toolsSeen <= MAX_TOOL_SPANS) tools.set(callId, begin(`${kind}${tool.slice(0, MAX_NAME_CHARS)}`));
    },
    approvalAsked(callId) {
      waiting.add(callId);
      const tool = tools.get(callId);
      if (tool) tool.name = tool.name.replace(TOOL, APPROVAL);
    },
    approvalEnded(callId, runs) {
      const wait = waiting.delete(callId) ? tools.get(callId) : undefined;
      if (!wait) return;
      wait.endMs ??= now();
      if (runs) tools.set(callId, begin(wait.name.replace(APPROVAL, TOOL)));
    },
    toolEnded(callId) {
      const tool = tools.get(callId);
      if (tool) tool.endMs ??= now();
    },
    modelCalled(call) {
      if (++callsSeen <= MAX_TOOL_SPANS) adopted.push(modelSpan(call, waitedMs + (call.startedAt - startedAt)));
    },
    adopt(delegated) {
      for (const { name, startedAt: began, ms, children } of delegated) {
        const startMs = waitedMs + (began - startedAt);
        const shifted = children.map((child) => later(child, startMs));
        adopted.push({ name, startMs: tenths(startMs), ms: tenths(ms), children: shifted });
      }
    },
    sinceAcceptedMs: now,
    close() {
      const end = now();
      const own = all.map((one) => spanOf(one, end));
      return adopted.length === 0 ? own : [...own, ...adopted].sort((a, b) => a.startMs - b.startMs);
    },
  };
}

function spanOf({ name, startMs, endMs, note }: Open, end: number): Span {
  const span = { name, startMs: tenths(startMs), ms: tenths((endMs ?? end) - startMs) };
  return note === undefined ? span : { ...span, note };
}

function modelSpan({ model, ms, firstTokenMs, outcome, status, retries, usage }: ModelCall, began: number): Span {
  const startMs = tenths(began);
  const { inputTokens, cachedTokens = 0, outputTokens } = usage;
  const cached = cachedTokens > 0 ? ` (${cachedTokens} cached)` : "";
  const again = retries > 0 ? `, sent again ${retries} times` : "";
  const result = `${outcome}${status === null ? "" : ` ${status}`}${again}`;
  const note = `${result}, ${inputTokens} tokens in${cached}, ${outputTokens} out`;
  const first = firstTokenMs === null ? [] : [{ name: "first_token", startMs, ms: tenths(firstTokenMs) }];
  const span = { name: `model:${model.slice(0, MAX_NAME_CHARS)}`, startMs, ms: tenths(ms), note };
  return first.length === 0 ? span : { ...span, children: first };
}

/** Times of a delegated turn count from its own beginning; here they count from the acceptance of the message. */
function later({ children, ...span }: Span, byMs: number): Span {
  const startMs = tenths(span.startMs + byMs);
  return { ...span, startMs, ...(children ? { children: children.map((child) => later(child, byMs)) } : {}) };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
