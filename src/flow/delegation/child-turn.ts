/** The turn of an agent that another agent asked: leased from the same pool, in a session that ends with it, heard by nobody but who asked. */
import type { AgentLease, AgentPool, LeaseRequest, PromptInput } from "../../contracts/agent.ts";
import type { Usage } from "../../contracts/chat.ts";
import { ERRORS, type ErrorCode, isGatewayError } from "../../contracts/errors.ts";
import { type Clock, hostZone } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { block, oneLine, withoutMarks } from "../../kit/marks/markers.ts";
import { noteTool } from "../converse.ts";
import { createCalendar } from "../prompt/turn-context.ts";
import type { SpanRecorder } from "../spans.ts";
import { addUsage, type AgentEnding, NOTHING_USED, streamCutOff } from "../ending/turn-ending.ts";

export interface ChildDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pool: AgentPool;
}

interface ChildTurn {
  readonly request: LeaseRequest;
  readonly from: string;
  readonly task: string;
  readonly timeoutMs: number;
  readonly spans: SpanRecorder;
  readonly onText?: ((text: string) => void) | undefined;
}

/** `model`: empty when none was asked. */
export type ChildEnd = { readonly usage: Usage; readonly model: string } & (
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly say: string }
);

class ChildDeadline extends Error {}

/** Never rejects. */
export async function runChildTurn(deps: ChildDeps, child: ChildTurn, signal: AbortSignal): Promise<ChildEnd> {
  const { spans, timeoutMs } = child;
  using deadline = deps.clock.deadline(timeoutMs, () => new ChildDeadline("the other agent took too long"));
  const until = AbortSignal.any([signal, deadline.signal]);
  let usage = NOTHING_USED;
  let model = "";
  try {
    spans.enter("lease");
    await using lease = await deps.pool.lease(child.request, until);
    spans.enter("first_token");
    const ending = await hear(lease, promptOf(deps, child), child, until);
    usage = addUsage(ending.usage, lease.lost);
    model = ending.model;
    return { ...endOf(ending, child, until), usage, model };
  } catch (error) {
    if (until.aborted) return { ...stopped(child, until), usage, model };
    if (isGatewayError(error)) return { kind: "failed", code: error.code, say: error.say, usage, model };
    return { kind: "failed", code: "internal", say: ERRORS.internal.say, usage, model };
  }
}

async function hear(
  lease: AgentLease,
  input: PromptInput,
  { spans, onText }: ChildTurn,
  signal: AbortSignal,
): Promise<AgentEnding> {
  let said = "";
  for await (const event of lease.prompt(input, signal)) {
    if (event.type === "text") {
      spans.spoke();
      said += event.delta;
      onText?.(said);
    } else if (event.type === "retrying") said = "";
    else if (event.type === "tool_start" || event.type === "tool_end") noteTool(spans, event);
    else if (event.type !== "tool_update" && event.type !== "waiting" && event.type !== "thought") return event;
  }
  return streamCutOff(false);
}

function endOf(ending: AgentEnding, child: ChildTurn, until: AbortSignal) {
  if (ending.type === "done" && ending.text.trim() !== "") return { kind: "answered", text: ending.text } as const;
  if (ending.type === "aborted") return stopped(child, until);
  const code: ErrorCode = ending.type === "failed" ? ending.code : "agent_empty";
  return { kind: "failed", code, say: SAID_TO_AGENTS[code] ?? ERRORS[code].say } as const;
}

/** The catalogue speaks to people about tries that are not made here: what the other agent did must not happen twice. */
const SAID_TO_AGENTS: Partial<Record<ErrorCode, string>> = {
  agent_exited: "The other agent stopped unexpectedly. What it had begun may be half done; it was not tried again.",
};

function stopped({ request, timeoutMs }: ChildTurn, { reason }: AbortSignal) {
  if (!(reason instanceof ChildDeadline))
    return { kind: "failed", code: "cancelled", say: "It was cancelled." } as const;
  const say = `Agent ${request.caller.agentId} did not answer within ${timeoutMs} ms and was stopped.`;
  return { kind: "failed", code: "agent_timeout", say } as const;
}

/** The words are those of another agent that works for the same person, so they are what is to be done; marks in them are not. */
function promptOf({ clock, ids }: ChildDeps, { from, task }: ChildTurn): PromptInput {
  const zone = hostZone();
  const body = [
    `time: ${createCalendar(zone).time(clock.now())} (${zone})`,
    `asked by: agent ${oneLine(from)}`,
    "Nobody else reads along. Your last message is the answer it gets.",
  ].join("\n");
  return { text: withoutMarks(task), preface: block(ids, "gateway-facts", { body }), images: [] };
}
