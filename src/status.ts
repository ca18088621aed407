/** The status that GET /api/status, the console and `pi-gw status` show: facts, and plain sentences about what needs the owner's attention. */
import { DEMO_MODEL } from "./agents/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { Budget } from "./contracts/budget.ts";
import type { McpServerStatus } from "./contracts/mcp.ts";
import type { Outbox } from "./contracts/delivery.ts";
import type { PluginHost } from "./contracts/plugin.ts";
import type { MetricsGauges } from "./contracts/metrics.ts";
import type { Queue } from "./contracts/queue.ts";
import type { BackupReport, ConfigStatus, GatewayStatus } from "./contracts/wire.ts";
import type { HttpServer } from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";
import type { SecretMask } from "./kit/secret.ts";

export interface StatusDeps {
  readonly clock: Clock;
  readonly pool: AgentPool;
  readonly queue: Queue;
  readonly outbox: Outbox;
  readonly channels: { health(): GatewayStatus["channels"] };
  readonly budget: Pick<Budget, "limits" | "notices">;
  /** Parts whose sentences come first: the database, and errors that nobody caught. */
  readonly urgent: readonly { notices(): readonly string[] }[];
  readonly reloader: { status(): ConfigStatus; notices(): readonly string[] };
  /** Parts that only have sentences to add: jobs, models. */
  readonly others: readonly { notices(): readonly string[] }[];
  readonly mcpServers: { list(): readonly McpServerStatus[] };
  readonly sandbox: { report(): GatewayStatus["sandbox"] };
  /** Platforms tell in their own words what went wrong, and a bot's address has its token in it. */
  readonly mask: SecretMask;
}

function deliveryNotices({ dead, ambiguous }: ReturnType<Outbox["stats"]>): readonly string[] {
  const notices: string[] = [];
  const replies = (count: number): string => `${count} ${count === 1 ? "reply" : "replies"} of the last day`;
  const them = ambiguous === 1 ? "it" : "them";
  if (dead > 0)
    notices.push(
      `${replies(dead)} could not be delivered. The Inbox of the web console and pi-gw outbox say why, and send ${dead === 1 ? "it" : "them"} again.`,
    );
  if (ambiguous > 0)
    notices.push(
      `${replies(ambiguous)} may have arrived twice, or not at all. The Inbox of the web console and pi-gw outbox --state ambiguous list ${them}.`,
    );
  return notices;
}

/** Where agents do without pi tools because there is no wall, people wonder where the tools are. */
function sandboxNotices({ setting, tier, because, advice }: GatewayStatus["sandbox"]): readonly string[] {
  if (setting === "off" || tier !== "none") return [];
  const effect = setting === "required" ? "Agents do not start." : "Agents run without pi tools (shell and files).";
  return [[because, effect, ...(advice === null ? [] : [advice])].join(" ")];
}

export interface Status {
  read(): GatewayStatus;
  /** Plugins come after the commands that show the status, so they are added when they are there. */
  registerPlugins(plugins: Pick<PluginHost, "list" | "notices">): void;
}

export function createStatus(
  deps: StatusDeps,
  about: {
    readonly version: string;
    readonly console: { readonly build: string };
    readonly node: GatewayStatus["node"];
    backup(): BackupReport;
  },
): Status {
  const startedAt = deps.clock.elapsed();
  let plugins: Pick<PluginHost, "list" | "notices"> = { list: () => [], notices: () => [] };
  const read = (): GatewayStatus => {
    const { model, trouble, ...pool } = deps.pool.stats();
    const config = deps.reloader.status();
    const outbox = deps.outbox.stats();
    const sandbox = deps.sandbox.report();
    return {
      version: about.version,
      build: about.console.build,
      backup: about.backup(),
      node: about.node,
      uptimeMs: Math.round(deps.clock.elapsed() - startedAt),
      model: { name: model, demo: model === DEMO_MODEL },
      channels: deps.channels.health().map(({ id, ok, detail }) => ({ id, ok, detail: deps.mask.text(detail) })),
      pool,
      agentTrouble: trouble === null ? null : deps.mask.text(trouble),
      sandbox,
      config: { ...config, problems: config.problems.map(deps.mask.text) },
      queue: deps.queue.stats(),
      outbox,
      plugins: pluginCounts(plugins),
      mcp: deps.mcpServers.list().map(mcpLine),
      budgets: deps.budget.limits(),
      notices: [
        ...deps.urgent.flatMap((one) => one.notices()),
        ...(trouble ? [trouble] : []),
        ...sandboxNotices(sandbox),
        ...deliveryNotices(outbox),
        ...deps.budget.notices(),
        ...plugins.notices(),
        ...deps.reloader.notices(),
        ...deps.others.flatMap((one) => one.notices()),
      ].map(deps.mask.text),
    };
  };
  return {
    read,
    registerPlugins(given) {
      plugins = given;
    },
  };
}

function pluginCounts(plugins: Pick<PluginHost, "list">): GatewayStatus["plugins"] {
  const states = plugins.list().map(({ state }) => state);
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  return { running: count("running"), failed: count("failed") };
}

function mcpLine({ name, state, tools, trouble }: McpServerStatus): GatewayStatus["mcp"][number] {
  return { name, state, tools: tools.filter(({ review }) => review !== "left_out").length, trouble };
}

/** Gauges that the metrics read at the moment of a request. */
export function gaugesOf(status: GatewayStatus, http: Pick<HttpServer, "stats">): MetricsGauges {
  const { uptimeMs, queue, outbox } = status;
  const { maxBecause: _words, ...pool } = status.pool;
  const { sockets, requests } = http.stats();
  const node = { id: status.node.id, name: status.node.name, version: status.version };
  return { uptimeMs, pool, queue, outbox, node, sockets, requests, rssBytes: process.memoryUsage.rss() };
}
