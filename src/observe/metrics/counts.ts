/** What is counted while the gateway works, from its events alone. Labels are few and known: no session, no person, a limited number of tools. */
import type { TurnOutcome } from "../../contracts/chat.ts";
import type { DelegationOutcome, Events } from "../../contracts/events.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { LatencyName, RunEndStatus } from "../../contracts/metrics.ts";
import type { ModelCall } from "../../contracts/model-door.ts";
import type { Span } from "../../contracts/queue.ts";
import type { Clock } from "../../kit/clock.ts";
import { createSeries, type Series } from "./series.ts";

/** A model can invent names; past this many they are counted together as `other`. */
export const MAX_TOOLS = 40;
const OTHER_TOOL = "other";
const MAX_TOOL_CHARS = 64;
/** Turns between their end and their delivery. */
const MAX_UNDELIVERED = 1_000;

export interface Counts {
  readonly turns: Record<TurnOutcome, number>;
  readonly delegations: Record<DelegationOutcome, number>;
  readonly jobs: Record<RunEndStatus, number>;
  readonly messages: Record<"received" | "sent", number>;
  readonly agents: Record<"spawned" | "exited" | "died" | "prepared" | "preparedUsed", number>;
  readonly usage: { inputTokens: number; outputTokens: number; costUsd: number };
  readonly latency: Readonly<Record<LatencyName, Series>>;
  readonly tools: ReadonlyMap<string, ToolCounts>;
  /** By provider: as many as are configured. */
  readonly models: ReadonlyMap<string, ModelCounts>;
}

interface ModelCounts {
  readonly outcomes: Record<ModelCall["outcome"], number>;
  readonly firstToken: Series;
}

interface ToolCounts {
  success: number;
  error: number;
  blocked: number;
  readonly latency: Series;
}

export function startCounts({ clock, events }: { readonly clock: Clock; readonly events: Events }): Counts {
  const tools = new Map<string, ToolCounts>();
  const models = new Map<string, ModelCounts>();
  const counts: Counts = {
    turns: { done: 0, failed: 0, aborted: 0 },
    delegations: { done: 0, failed: 0, refused: 0 },
    jobs: { ran: 0, failed: 0, skipped: 0, missed: 0 },
    messages: { received: 0, sent: 0 },
    agents: { spawned: 0, exited: 0, died: 0, prepared: 0, preparedUsed: 0 },
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    latency: {
      queued: createSeries(),
      lease: createSeries(),
      firstToken: createSeries(),
      turn: createSeries(),
      delivery: createSeries(),
      answer: createSeries(),
      delegation: createSeries(),
    },
    tools,
    models,
  };
  countModelCalls(events, clock, models);
  countTurns(events, clock, counts);
  countMessages(events, clock, counts);
  events.on("agent.spawned", () => counts.agents.spawned++);
  events.on("agent.prepared", ({ used }) => counts.agents[used ? "preparedUsed" : "prepared"]++);
  events.on("agent.exited", ({ expected }) => {
    counts.agents.exited++;
    if (!expected) counts.agents.died++;
  });
  events.on("tool_execution_end", ({ tool, status, ms }) => {
    const counted = toolCounts(tools, tool);
    counted[status === "success" || status === "blocked" ? status : "error"]++;
    if (status === "success" || ms > 0) counted.latency.add(ms, clock.elapsed()); // a call that never ran took no time
  });
  events.on("delegation.ended", ({ outcome, ms }) => {
    counts.delegations[outcome]++;
    if (outcome !== "refused") counts.latency.delegation.add(ms, clock.elapsed());
  });
  events.on("cron.run", ({ run: { status } }) => {
    if (status !== "running" && status !== "waiting") counts.jobs[status]++;
  });
  return counts;
}

function countModelCalls(events: Events, clock: Clock, models: Map<string, ModelCounts>): void {
  events.on("model.call", ({ provider, outcome, firstTokenMs }) => {
    const outcomes = { answered: 0, failed: 0, refused: 0, stopped: 0 };
    const counted = models.get(provider) ?? { outcomes, firstToken: createSeries() };
    models.set(provider, counted);
    counted.outcomes[outcome]++;
    if (firstTokenMs !== null) counted.firstToken.add(firstTokenMs, clock.elapsed());
  });
}

function countTurns(events: Events, clock: Clock, { turns, usage, latency }: Counts): void {
  events.on("turn.measured", ({ attempt, spans }) => {
    const at = clock.elapsed();
    const measure = (name: string, series: Series): void => {
      const span = spans.find((one) => one.name === name);
      if (span) series.add(span.ms, at);
    };
    // A later attempt waited for the ones before it, which says nothing about the queue.
    if (attempt === 1) measure("queued", latency.queued);
    measure("lease", latency.lease);
    measure("first_token", latency.firstToken);
  });
  events.on("turn.ended", ({ outcome, ms, usage: used }) => {
    turns[outcome]++;
    latency.turn.add(ms, clock.elapsed());
    usage.inputTokens += used.inputTokens;
    usage.outputTokens += used.outputTokens;
    usage.costUsd += used.costUsd;
  });
}

/** The first part of a reply that is shown is the moment the person has waited for. */
function countMessages(events: Events, clock: Clock, { messages, latency }: Counts): void {
  const undelivered = new Map<TurnId, { readonly acceptedAt: number; readonly saidAt: number }>();
  events.on("turn.measured", ({ turnId, spans, sinceAcceptedMs }) => {
    const acceptedAt = clock.elapsed() - sinceAcceptedMs;
    undelivered.set(turnId, { acceptedAt, saidAt: acceptedAt + lengthOf(spans) });
    const oldest = undelivered.size > MAX_UNDELIVERED ? undelivered.keys().next().value : undefined;
    if (oldest !== undefined) undelivered.delete(oldest);
  });
  events.on("message", ({ item }) => {
    if (item.role === "user") messages.received++;
    if (item.role !== "assistant") return;
    messages.sent++;
    const ended = item.turnId === null ? undefined : undelivered.get(item.turnId);
    if (!ended || item.turnId === null) return;
    undelivered.delete(item.turnId);
    const at = clock.elapsed();
    latency.delivery.add(at - ended.saidAt, at);
    latency.answer.add(at - ended.acceptedAt, at);
  });
}

function lengthOf(spans: readonly Span[]): number {
  return Math.max(0, ...spans.map(({ startMs, ms }) => startMs + ms));
}

function toolCounts(tools: Map<string, ToolCounts>, tool: string): ToolCounts {
  const asked = tool.slice(0, MAX_TOOL_CHARS);
  const name = tools.has(asked) || tools.size < MAX_TOOLS ? asked : OTHER_TOOL;
  const known = tools.get(name) ?? { success: 0, error: 0, blocked: 0, latency: createSeries() };
  tools.set(name, known);
  return known;
}
