/** Notes where the time of one attempt goes: two readings of the clock per stretch. Keeps no text and no arguments. */
import type { Span } from "../contracts/queue.ts";
import type { Clock } from "../kit/clock.ts";

export interface SpanRecorder {
  /** One stage follows the other; the one before ends here. */
  enter(stage: "lease" | "first_token"): void;
  /** The model said something: a word, or a tool call. The first time ends the wait for it. */
  spoke(): void;
  toolStarted(callId: string, tool: string): void;
  toolEnded(callId: string): void;
  /** Closes what is open and tells all, in the order in which it began. */
  close(): readonly Span[];
  sinceAcceptedMs(): number;
}

/** A turn may call tools for hours; its waterfall stays something one can look at. */
export const MAX_TOOL_SPANS = 100;
const MAX_NAME_CHARS = 64;

interface Open {
  readonly name: string;
  readonly startMs: number;
  endMs: number | null;
}

export function createSpanRecorder(clock: Clock, acceptedAt: number): SpanRecorder {
  const waitedMs = Math.max(0, clock.now() - acceptedAt); // a clock set back must not make a wait negative
  const startedAt = clock.elapsed();
  const now = (): number => waitedMs + (clock.elapsed() - startedAt);
  const all: Open[] = [{ name: "queued", startMs: 0, endMs: waitedMs }];
  const tools = new Map<string, Open>();
  let toolsSeen = 0;
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
    spoke() {
      if (stage?.name === "first_token") enter("generate");
    },
    toolStarted(callId, tool) {
      if (++toolsSeen <= MAX_TOOL_SPANS) tools.set(callId, begin(`tool:${tool.slice(0, MAX_NAME_CHARS)}`));
    },
    toolEnded(callId) {
      const tool = tools.get(callId);
      if (tool) tool.endMs ??= now();
    },
    sinceAcceptedMs: now,
    close() {
      const end = now();
      return all.map(({ name, startMs, endMs }) => ({
        name,
        startMs: tenths(startMs),
        ms: tenths((endMs ?? end) - startMs),
      }));
    },
  };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
