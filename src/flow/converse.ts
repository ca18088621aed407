/** One prompt from the question to the agent's last word: shows what it says, measures it, and steers into it what arrives meanwhile. */
import type { AgentEvent, AgentLease } from "../contracts/agent.ts";
import type { ClaimedEvents } from "../contracts/automation/system-event.ts";
import type { Events } from "../contracts/events.ts";
import type { Batch } from "../contracts/queue.ts";
import { createDeltaStream } from "../delivery/index.ts";
import type { Clock } from "../kit/clock.ts";
import { type LiveTurnRecorder, type LiveTurnWriter, MAX_REASONING_CHARS } from "./live-turns.ts";
import { timeText, waitSentence } from "./ending/provider-wait.ts";
import { promptFor } from "./prompt/prompt.ts";
import { clientOf } from "./turn-rights.ts";
import type { SpanRecorder } from "./spans.ts";
import { startSteering, type Steering, type SteeringDeps } from "./steering.ts";
import { type AgentEnding, isPost, streamCutOff } from "./ending/turn-ending.ts";

interface ConverseDeps extends SteeringDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly live: LiveTurnRecorder;
  readonly spans: SpanRecorder;
  /** Counts what tools have sent to the chat, and what the program that asked is to run; keeps what the model thought. */
  readonly said: { posts: number; thoughts: string };
}

interface Conversation {
  readonly lease: AgentLease;
  readonly batch: Batch;
  readonly writer: LiveTurnWriter;
  readonly signal: AbortSignal;
  /** System events that the model is told with this prompt. */
  readonly told: ClaimedEvents;
}

const DELTA_GAP_MS = 30;
/** Few people look at what a model thinks, and none of them needs it letter by letter. */
const THOUGHT_GAP_MS = 250;

export async function converse(
  deps: ConverseDeps,
  { lease, batch, writer, signal, told }: Conversation,
): Promise<AgentEnding> {
  const { spans } = deps;
  spans.enter("first_token");
  using _approvals = followApprovals(deps, batch);
  using _calls = followModelCalls(deps, batch);
  let shown = writer;
  const over = new AbortController();
  const deltas = createDeltaStream(deps, DELTA_GAP_MS, (text) => shown.text(text), over.signal);
  const thoughts = createDeltaStream(deps, THOUGHT_GAP_MS, (text) => shown.thought(text), over.signal);
  let steering: Steering | null = null;
  try {
    const events = lease.prompt(await promptFor(deps.prompt, batch, told, lease.startedOver), signal);
    steering = startSteering(deps, { lease, batch, joined: (ids) => shown.joined(ids) }, signal);
    for await (const event of events) {
      if (event.type === "thought") {
        deps.said.thoughts = (deps.said.thoughts + event.delta).slice(0, MAX_REASONING_CHARS);
        thoughts.push(event.delta);
        continue;
      }
      thoughts.flush();
      if (event.type === "text") {
        spans.spoke();
        deltas.push(event.delta);
        continue;
      }
      deltas.flush();
      noteTool(spans, event);
      if (isPost(event) || isClientCall(event, batch)) deps.said.posts++;
      if (event.type === "tool_start") shown.toolStarted(event);
      else if (event.type === "tool_update") shown.toolUpdated(event);
      else if (event.type === "tool_end") shown.toolEnded(event);
      else if (event.type === "retrying") {
        deps.said.thoughts = "";
        shown = deps.live.open(batch);
      } else if (event.type === "waiting")
        shown.waiting({ until: event.until, text: waitSentence(event, timeText(deps, batch)) });
      else {
        shown.textEnded();
        return event;
      }
    }
    return streamCutOff(true);
  } finally {
    await steering?.over();
    over.abort(new Error("turn over"));
    if (shown !== writer) shown.close();
  }
}

/** What the program that asked is to do next: a turn that ends with it has said something. */
function isClientCall(event: AgentEvent, batch: Batch): boolean {
  if (event.type !== "tool_end" || event.isError) return false;
  return clientOf(batch)?.tools.some(({ name }) => name === event.tool) ?? false;
}

/** The gate asks owners; the agent knows of none of it. */
function followApprovals({ events, spans }: Pick<ConverseDeps, "events" | "spans">, { turnId }: Batch): Disposable {
  return events.on("approval", (news) => {
    if (news.turnId !== turnId) return;
    if (news.decision === null) spans.approvalAsked(news.callId);
    else spans.approvalEnded(news.callId, news.decision !== "deny" && news.decision !== "expired");
  });
}

/** The model door serves them; the agent's events do not tell of each. */
function followModelCalls({ events, spans }: Pick<ConverseDeps, "events" | "spans">, { turnId }: Batch): Disposable {
  return events.on("model.call", (call) => {
    if (call.turnId === turnId) spans.modelCalled(call);
  });
}

export function noteTool(spans: SpanRecorder, event: AgentEvent): void {
  if (event.type === "tool_end") return spans.toolEnded(event.callId);
  if (event.type !== "tool_start") return;
  spans.spoke();
  spans.toolStarted(event.callId, event.tool);
}
