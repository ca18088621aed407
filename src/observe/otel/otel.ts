/** Watches the events of the gateway and exports turns, model calls and tool calls as OpenTelemetry spans. Loaded when an endpoint is set. */
import type { Events } from "../../contracts/events.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import { type ExporterOptions, startExporter } from "./exporter.ts";
import { modelSpan, stageSpans, toolSpan, turnSpan } from "./genai-spans.ts";

/** Between the facts of a turn and its end, which follows at once. */
const MAX_OPEN_TURNS = 1_000;

export interface OtelDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly resolve: Resolver;
}

export type OtelOptions = ExporterOptions;

interface TurnFacts {
  acceptedMs?: number;
  model?: string;
}

export function startOtel(deps: OtelDeps, options: OtelOptions): AsyncDisposable {
  const { clock, events } = deps;
  const exporter = startExporter(deps, options);
  const turns = new Map<TurnId, TurnFacts>();
  const factsOf = (turnId: TurnId): TurnFacts => {
    const facts = turns.get(turnId) ?? {};
    turns.set(turnId, facts);
    const oldest = turns.size > MAX_OPEN_TURNS ? turns.keys().next().value : undefined;
    if (oldest !== undefined) turns.delete(oldest);
    return facts;
  };
  const listening = [
    events.on("model.call", (call) => exporter.add(modelSpan(call, clock.now()))),
    events.on("tool_execution_end", (call) => exporter.add(toolSpan(call, clock.now()))),
    events.on("turn.measured", ({ turnId, spans, sinceAcceptedMs }) => {
      const acceptedMs = clock.now() - sinceAcceptedMs;
      factsOf(turnId).acceptedMs = acceptedMs;
      for (const span of stageSpans(turnId, spans, acceptedMs)) exporter.add(span);
    }),
    events.on("turn.recorded", ({ turnId, model }) => {
      factsOf(turnId).model = model;
    }),
    events.on("turn.ended", ({ turnId, sessionKey, outcome, usage, ms }) => {
      const { acceptedMs, model = "" } = turns.get(turnId) ?? {};
      turns.delete(turnId);
      const endMs = clock.now();
      exporter.add(turnSpan({ turnId, sessionKey, outcome, usage, model, startMs: acceptedMs ?? endMs - ms, endMs }));
    }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const one of listening) one[Symbol.dispose]();
      await exporter[Symbol.asyncDispose]();
    },
  };
}
