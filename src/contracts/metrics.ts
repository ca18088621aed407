/** How the gateway is doing, in numbers. Nothing in here names a person, a conversation or what was said. */
import type { RunStatus } from "./automation/job.ts";
import type { Usage } from "./chat.ts";
import type { DelegationOutcome } from "./events.ts";
import type { ModelCall } from "./model-door.ts";
import type { GatewayStatus } from "./wire.ts";

export interface Metrics {
  snapshot(): MetricsSnapshot;
  /** The same facts in Prometheus' text format. The first call loads the library that writes it. */
  prometheus(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** What is asked for at the moment of looking; everything else is counted as it happens. */
/** Numbers only. */
type PoolNumbers = Omit<GatewayStatus["pool"], "maxBecause">;

export interface MetricsGauges extends Pick<GatewayStatus, "uptimeMs" | "queue" | "outbox"> {
  readonly pool: PoolNumbers;
  /** The gateway that writes this, as the others on its database know it. */
  readonly node: GatewayStatus["node"] & Pick<GatewayStatus, "version">;
  readonly sockets: number;
  readonly requests: number;
  readonly rssBytes: number;
}

/** Counts are since the start of this process; quantiles are of the last hour. */
export interface MetricsSnapshot extends Pick<MetricsGauges, "uptimeMs" | "queue" | "outbox"> {
  readonly rssBytes: number;
  readonly connections: { readonly sockets: number; readonly requests: number };
  readonly pool: PoolNumbers & {
    readonly spawned: number;
    readonly exited: number;
    /** Of those that exited: nobody had asked them to. */
    readonly died: number;
    /** Processes started, or sessions opened, for a message that may come. */
    readonly prepared: number;
    /** Those of them that a message met within a minute. */
    readonly preparedUsed: number;
  };
  readonly turns: { readonly done: number; readonly failed: number; readonly aborted: number };
  /** Tasks that agents gave to other agents. */
  readonly delegations: Readonly<Record<DelegationOutcome, number>>;
  /** Slots of jobs by what became of them; one that failed and is tried again counts each time. */
  readonly jobs: Readonly<Record<RunEndStatus, number>>;
  readonly messages: { readonly received: number; readonly sent: number };
  readonly usage: Usage;
  readonly latency: Readonly<Record<LatencyName, Quantiles>>;
  /** Model calls by provider, and how long each took to its first word. */
  readonly models: readonly ModelMetrics[];
  readonly tools: readonly {
    readonly tool: string;
    readonly success: number;
    readonly error: number;
    readonly blocked: number;
    readonly latency: Quantiles;
  }[];
}

interface ModelMetrics extends Readonly<Record<ModelCall["outcome"], number>> {
  readonly provider: string;
  readonly firstToken: Quantiles;
}

export type RunEndStatus = Exclude<RunStatus, "running" | "waiting">;

/**
 * `queued`: accepted until begun. `lease`: until an agent process is there. `firstToken`: until the model says something. `turn`: begun until
 * ended. `delivery`: said until stored and shown. `answer`: accepted until shown, the time a person waits. `delegation`: one agent asked another
 * until it had its answer, or knew that there is none.
 */
export type LatencyName = "queued" | "lease" | "firstToken" | "turn" | "delivery" | "answer" | "delegation";

export interface Quantiles {
  readonly count: number;
  /** Milliseconds; null without a sample. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}
