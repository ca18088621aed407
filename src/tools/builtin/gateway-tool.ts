/** `gateway`: look at a few settings, read the file again, restart. For owners, and only where the configuration offers it. */
import { Type } from "typebox";
import type { Tool } from "../../contracts/tools/tool.ts";
import { answer, closed, defineTool, MINUTE_MS } from "./define.ts";

export interface GatewayToolDeps {
  /** The configuration without its secrets. */
  publicConfig(): unknown;
  reloadConfig(): Promise<Readonly<Record<"changed" | "needsRestart" | "problems", readonly string[]>>>;
  /** False: gateway.commands.restart is off. */
  restart(): boolean;
}

/**
 * Settings that a model may see, of every section; `*` is any name. A setting that is not here is not shown, so a new one is hidden until
 * somebody decides otherwise. Never here: secrets, ids of people and chats, addresses, paths, prompts.
 */
const SHOWN: readonly string[] = [
  "gateway.port",
  "gateway.bind",
  "gateway.stopGraceMs",
  "gateway.commands.restart",
  "agent.model",
  "agent.thinking",
  "agent.timeoutMs",
  "agent.pool",
  "agents.id",
  "agents.model",
  "agents.thinking",
  "agents.timeoutMs",
  "bindings.agent",
  "bindings.channel",
  "bindings.role",
  "roles.profiles.*.model",
  "roles.profiles.*.tools",
  "session.dmScope",
  "channels.*.enabled",
  "channels.*.mode",
  "channels.*.streamMode",
  "channels.*.requireMention",
  "channels.*.groupContext",
  "channels.*.wakeOnReaction",
  "channels.*.mediaMaxMb",
  "models.providers.*.models.id",
  "queue",
  "cron.enabled",
  "cron.maxRunsAtOnce",
  "cron.limits",
  "heartbeat.enabled",
  "heartbeat.every",
  "heartbeat.activeHours",
  "budget.dailyUsd",
  "budget.monthlyUsd",
  "budget.dailyTokens",
  "budget.monthlyTokens",
  "budget.unattendedShare",
  "hooks.enabled",
  "hooks.perMinute",
  "tools.allow",
  "tools.deny",
  "tools.webSearch.provider",
  "mcp.servers.*.enabled",
  "mcp.servers.*.allow",
  "mcp.servers.*.deny",
  "media.maxMb",
  "media.dailyMb",
  "retention",
  "plugins.enabled",
  "plugins.disabled",
  "logging.level",
  "logging.retentionDays",
  "observe.otel.endpoint",
  "observe.otel.serviceName",
  "backup.every",
  "backup.keep",
  "notifications.enabled",
];

const ACTIONS = ["config.get", "reload", "restart"] as const;

export function gatewayTool(deps: GatewayToolDeps): Tool {
  return defineTool({
    name: "gateway",
    label: "Gateway",
    description: "Shows the gateway's main settings, reloads its configuration file, or restarts it.",
    parameters: Type.Object(
      {
        action: Type.Union(
          ACTIONS.map((action) => Type.Literal(action)),
          { description: "What to do" },
        ),
      },
      closed,
    ),
    flags: { idempotent: false, ownerOnly: true, optional: true, sequential: true },
    origins: ["chat", "api"],
    limit: { calls: 10, perMs: MINUTE_MS },
    timeoutMs: 30_000,
    async run({ action }, { context }) {
      // a second wall behind the gate: this is the one tool that changes the gateway itself
      if (context.role !== "owner") throw new Error("Only an owner may do this.");
      if (action === "config.get") return answer({ config: shownConfig(deps.publicConfig()) });
      if (action === "reload") return answer({ reloaded: true, ...(await deps.reloadConfig()) });
      if (!deps.restart())
        throw new Error(
          "Restarting is off. An operator can allow it with gateway.commands.restart in the configuration.",
        );
      return answer({
        restarting: true,
        note: "It begins when this answer has been given. Messages sent meanwhile wait.",
      });
    },
  });
}

/** Exported for its test. */
export function shownConfig(config: unknown): Record<string, unknown> {
  return keep(config, SHOWN);
}

function keep(value: unknown, paths: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  return Object.fromEntries(
    entries.flatMap(([key, below]) => {
      if (paths.includes(key)) return [[key, below]];
      const inner = paths.flatMap((path) => {
        const [first = "", ...rest] = path.split(".");
        return (first === key || first === "*") && rest.length > 0 ? [rest.join(".")] : [];
      });
      if (inner.length === 0) return [];
      return [[key, Array.isArray(below) ? below.map((item) => keep(item, inner)) : keep(below, inner)]];
    }),
  );
}
