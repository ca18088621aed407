/** The numbers behind GET /api/metrics and GET /metrics. Counts from the moment it is made; asks for the rest when somebody looks. */
import type { Events } from "../../contracts/events.ts";
import type { Metrics, MetricsGauges, Quantiles } from "../../contracts/metrics.ts";
import type { Clock } from "../../kit/clock.ts";
import { lazy } from "../../kit/deferred.ts";
import { startCounts } from "./counts.ts";
import type { Series } from "./series.ts";

interface MetricsDeps {
  readonly clock: Clock;
  readonly events: Events;
}

export interface LiveMetrics extends Metrics {
  /** Given by the part that knows them, before anybody looks. */
  registerGauges(read: () => MetricsGauges): void;
}

export function createMetrics(deps: MetricsDeps): LiveMetrics {
  let read: (() => MetricsGauges) | null = null;
  const gauges = (): MetricsGauges => {
    if (!read) throw new Error("somebody looks at the metrics before their gauges are registered");
    return read();
  };
  const counts = startCounts(deps);
  const writer = lazy(async () => {
    const { createPrometheus } = await import("./prometheus.ts");
    return createPrometheus(counts, gauges);
  });

  return {
    registerGauges(given) {
      read = given;
    },
    snapshot() {
      const { uptimeMs, pool, queue, outbox, sockets, requests, rssBytes } = gauges();
      const at = deps.clock.elapsed();
      const quantiles = (series: Series): Quantiles => series.quantiles(at);
      const { queued, lease, firstToken, turn, delivery, answer, delegation } = counts.latency;
      return {
        uptimeMs,
        rssBytes,
        connections: { sockets, requests },
        pool: { ...pool, ...counts.agents },
        queue,
        outbox,
        turns: { ...counts.turns },
        delegations: { ...counts.delegations },
        jobs: { ...counts.jobs },
        messages: { ...counts.messages },
        usage: { ...counts.usage },
        latency: {
          queued: quantiles(queued),
          lease: quantiles(lease),
          firstToken: quantiles(firstToken),
          turn: quantiles(turn),
          delivery: quantiles(delivery),
          answer: quantiles(answer),
          delegation: quantiles(delegation),
        },
        models: [...counts.models].map(([provider, { outcomes, firstToken: wait }]) => ({
          provider,
          ...outcomes,
          firstToken: quantiles(wait),
        })),
        tools: [...counts.tools].map(([tool, { success, error, blocked, latency }]) => ({
          tool,
          success,
          error,
          blocked,
          latency: quantiles(latency),
        })),
      };
    },
    async prometheus() {
      const write = await writer();
      return write();
    },
  };
}
