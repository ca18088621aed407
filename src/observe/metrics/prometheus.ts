/** Writes the counts for Prometheus. Loaded at the first GET /metrics, so that a gateway nobody scrapes does not carry the library. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MetricsGauges } from "../../contracts/metrics.ts";
import type { Counts } from "./counts.ts";
import { BUCKETS_MS, type Series } from "./series.ts";

type Labels = Readonly<Record<string, string>>;
type Values = readonly (readonly [Labels, number])[];

const PREFIX = "pi_gateway_";

export function createPrometheus(
  counts: Counts,
  gauges: () => MetricsGauges,
): () => Promise<{ readonly contentType: string; readonly text: string }> {
  const registry = new Registry(); // not the global one: two gateways in one process have nothing to do with each other
  addCounters(registry, counts);
  addGauges(registry, gauges);
  addHistograms(registry, counts);
  return async () => ({ contentType: registry.contentType, text: await registry.metrics() });
}

function addCounters(registry: Registry, counts: Counts): void {
  const { turns, delegations, jobs, messages, agents, usage, tools, models } = counts;
  const counter = (name: string, help: string, labelNames: readonly string[], values: () => Values): void => {
    const made = new Counter({
      name: `${PREFIX}${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        made.reset();
        for (const [labels, value] of values()) made.inc(labels, value);
      },
    });
  };
  counter("turns_total", "Turns that ended, by outcome.", ["outcome"], () =>
    Object.entries(turns).map(([outcome, value]) => [{ outcome }, value]),
  );
  counter("delegations_total", "Tasks that agents gave to other agents, by outcome.", ["outcome"], () =>
    Object.entries(delegations).map(([outcome, value]) => [{ outcome }, value]),
  );
  counter("job_runs_total", "Slots of jobs, by what became of them.", ["status"], () =>
    Object.entries(jobs).map(([status, value]) => [{ status }, value]),
  );
  counter("messages_total", "Messages received from people and reply parts sent.", ["direction"], () =>
    Object.entries(messages).map(([direction, value]) => [{ direction }, value]),
  );
  counter("agents_spawned_total", "Agent processes started.", [], () => [[{}, agents.spawned]]);
  counter("agents_exited_total", "Agent processes that ended, by whether they were asked to.", ["expected"], () => [
    [{ expected: "true" }, agents.exited - agents.died],
    [{ expected: "false" }, agents.died],
  ]);
  counter("agents_prepared_total", "Processes prepared for a message that may come.", [], () => [
    [{}, agents.prepared],
  ]);
  counter("agents_prepared_used_total", "Those of them that a message met within a minute.", [], () => [
    [{}, agents.preparedUsed],
  ]);
  counter("tokens_total", "Tokens the models counted.", ["kind"], () => [
    [{ kind: "input" }, usage.inputTokens],
    [{ kind: "output" }, usage.outputTokens],
  ]);
  counter("cost_usd_total", "Cost of ended turns in US dollars.", [], () => [[{}, usage.costUsd]]);
  counter("model_calls_total", "Model calls that ended, by provider and outcome.", ["provider", "outcome"], () =>
    [...models].flatMap(([provider, { outcomes }]) =>
      Object.entries(outcomes).map(([outcome, value]) => [{ provider, outcome }, value] as const),
    ),
  );
  counter("tool_calls_total", "Tool calls that ended, by tool and status.", ["tool", "status"], () =>
    [...tools].flatMap(([tool, { success, error, blocked }]) => [
      [{ tool, status: "success" }, success] as const,
      [{ tool, status: "error" }, error] as const,
      [{ tool, status: "blocked" }, blocked] as const,
    ]),
  );
}

function addGauges(registry: Registry, gauges: () => MetricsGauges): void {
  const gauge = (name: string, help: string, labelNames: readonly string[], values: () => Values): void => {
    const made = new Gauge({
      name: `${PREFIX}${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        for (const [labels, value] of values()) made.set(labels, value);
      },
    });
  };
  gauge("agents", "Agent processes, by what they are doing.", ["state"], () => {
    const { starting, idle, busy } = gauges().pool;
    return [
      [{ state: "starting" }, starting],
      [{ state: "idle" }, idle],
      [{ state: "busy" }, busy],
    ];
  });
  gauge("agents_max", "How many agent processes there may be.", [], () => [[{}, gauges().pool.max]]);
  gauge("lease_waiting", "Turns that wait for an agent process.", [], () => [[{}, gauges().pool.waiting]]);
  gauge("queue_waiting", "Accepted messages whose turn has not begun.", [], () => [[{}, gauges().queue.waiting]]);
  gauge("turns_running", "Turns in progress.", [], () => [[{}, gauges().queue.running]]);
  gauge("outbox_pending", "Reply parts that wait for their channel.", [], () => [[{}, gauges().outbox.pending]]);
  gauge("sockets", "Open WebSockets.", [], () => [[{}, gauges().sockets]]);
  gauge("requests", "HTTP requests in progress.", [], () => [[{}, gauges().requests]]);
  gauge("memory_rss_bytes", "Memory of the gateway itself, without its agents.", [], () => [[{}, gauges().rssBytes]]);
  gauge("node_info", "Which gateway this is, and its version; always 1.", ["node", "name", "version"], () => {
    const { id, name, version } = gauges().node;
    return [[{ node: id, name, version }, 1]];
  });
  gauge("uptime_seconds", "Time since the start.", [], () => [[{}, gauges().uptimeMs / 1_000]]);
}

function addHistograms(registry: Registry, { latency, tools, models }: Counts): void {
  const histogram = (name: string, help: string, label: string, all: () => Iterable<readonly [string, Series]>) => {
    const fullName = `${PREFIX}${name}`;
    const made = new Histogram({ name: fullName, help, labelNames: [label], registers: [registry] });
    // The counting began before the library was there, so what it holds is put in place of its own when it is written.
    const getForPromString = async () => ({
      name: fullName,
      help,
      type: "histogram",
      values: [...all()].flatMap(([value, series]) => samples(fullName, { [label]: value }, series)),
    });
    Object.assign(made, { getForPromString });
  };
  histogram("latency_seconds", "Where the time of turns goes, by stage.", "stage", () =>
    Object.entries(latency).map(([stage, series]) => [stageName(stage), series]),
  );
  histogram("model_first_token_seconds", "How long model calls take to their first word.", "provider", () =>
    [...models].map(([provider, { firstToken }]) => [provider, firstToken]),
  );
  histogram("tool_seconds", "How long tool calls take.", "tool", () =>
    [...tools].map(([tool, { latency: series }]) => [tool, series]),
  );
}

/** `firstToken` in JSON, `first_token` in Prometheus, as each of them writes names. */
function stageName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function samples(name: string, labels: Labels, series: Series) {
  const { count, sumMs, upTo } = series.totals();
  const bucket = (le: string | number, value: number) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le },
    value,
  });
  return [
    ...BUCKETS_MS.map((end, at) => bucket(end / 1_000, upTo[at] ?? 0)),
    bucket("+Inf", count),
    { metricName: `${name}_sum`, labels, value: sumMs / 1_000 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
