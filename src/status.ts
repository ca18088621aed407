/** What GET /api/status, the page and `pi-gw status` show: facts, and plain sentences about what needs the owner's attention. */
import { DEMO_MODEL } from "./agents/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { Channel } from "./contracts/channel.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { MetricsGauges } from "./contracts/metrics.ts";
import type { Queue } from "./contracts/queue.ts";
import type { GatewayStatus } from "./contracts/wire.ts";
import type { HttpServer } from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";

export interface StatusDeps {
  readonly clock: Clock;
  readonly pool: AgentPool;
  readonly queue: Queue;
  readonly outbox: Outbox;
  readonly channels: ReadonlyMap<string, Channel>;
  configNotices(): readonly string[];
}

export function createStatus(
  deps: StatusDeps,
  about: { readonly version: string; readonly page: { readonly build: string } },
): () => GatewayStatus {
  const startedAt = deps.clock.elapsed();
  return () => {
    const { model, trouble, ...pool } = deps.pool.stats();
    return {
      version: about.version,
      build: about.page.build,
      uptimeMs: Math.round(deps.clock.elapsed() - startedAt),
      model: { name: model, demo: model === DEMO_MODEL },
      channels: [...deps.channels.values()].map((channel) => ({ id: channel.id, ...channel.health() })),
      pool,
      queue: deps.queue.stats(),
      outbox: deps.outbox.stats(),
      notices: trouble ? [trouble, ...deps.configNotices()] : deps.configNotices(),
    };
  };
}

/** What the metrics ask for when somebody looks. */
export function gaugesOf(status: GatewayStatus, http: Pick<HttpServer, "stats">): MetricsGauges {
  return { ...status, ...http.stats(), rssBytes: process.memoryUsage.rss() };
}
