/** What `doctor` looks at from inside of the gateway: each thing is fine, or there is a sentence about it. Pure. */
import type { PluginStatus } from "./contracts/plugin.ts";
import type { AuditVerification } from "./contracts/store/tool-calls.ts";
import type { HealthCheck } from "./contracts/system-api.ts";
import type { ListedTool } from "./contracts/tools/tool.ts";
import type { GatewayStatus } from "./contracts/wire.ts";

export interface HealthFacts {
  readonly status: GatewayStatus;
  readonly plugins: readonly PluginStatus[];
  readonly tools: readonly ListedTool[];
  /** On the disk of the state directory; null: not known. */
  readonly freeBytes: number | null;
  /** Permission bits of the state directory; null: not known. */
  readonly homeMode: number | null;
  /** The database takes writes. */
  readonly writable: boolean;
  readonly verification: AuditVerification | null;
  readonly now: number;
}

const MB = 1024 * 1024;
const LITTLE_SPACE_BYTES = 500 * MB;
const NO_SPACE_BYTES = 50 * MB;
const OTHERS_MODE_BITS = 0o077;
/** A backup that is older than this many times its interval is late. */
const LATE_BACKUP = 2;
const HOUR_MS = 3_600_000;

export function healthChecks(facts: HealthFacts): readonly HealthCheck[] {
  const { status } = facts;
  return [
    configuration(status),
    agents(status),
    sandbox(status),
    model(status),
    ...status.channels.map(channel),
    ...status.mcp.map(mcpServer),
    ...plugins(facts.plugins),
    ...tools(facts.tools),
    database(facts),
    auditLog(facts.verification),
    space(facts.freeBytes),
    stateDirectory(facts.homeMode),
    backup(status, facts.now),
    deliveries(status),
  ];
}

const ok = (check: string, say: string): HealthCheck => ({ check, state: "ok", say });
const note = (check: string, say: string): HealthCheck => ({ check, state: "note", say });
const broken = (check: string, say: string): HealthCheck => ({ check, state: "broken", say });

function configuration({ config: { file, applied, problems } }: GatewayStatus): HealthCheck {
  if (applied)
    return ok("Configuration", file === null ? "There is no file; the defaults are in force." : `${file} is in force.`);
  return broken("Configuration", [`${file ?? "The file"} is not in force.`, ...problems].join(" "));
}

function agents({ agentTrouble, pool }: GatewayStatus): HealthCheck {
  if (agentTrouble !== null) return broken("Agents", agentTrouble);
  return ok("Agents", `Processes start: ${pool.busy} busy, ${pool.idle} idle, at most ${pool.max}.`);
}

function sandbox({ sandbox: { setting, tier, because, advice } }: GatewayStatus): HealthCheck {
  const name = "Sandbox";
  if (setting === "off")
    return note(name, 'agent.sandbox is "off": a shell of an agent can do whatever your user can.');
  const say = [because, advice ?? ""].filter((text) => text !== "").join(" ");
  if (tier === "none") return setting === "required" ? broken(name, say) : note(name, say);
  return tier === "full" ? ok(name, say) : note(name, say);
}

function model({ model: { name, demo } }: GatewayStatus): HealthCheck {
  if (demo)
    return note("Model", "The demo model answers. A provider's key, such as ANTHROPIC_API_KEY, brings a real one.");
  return ok("Model", name === null ? "It is known when the first agent has started." : `${name} answers.`);
}

function channel({ id, ok: well, detail }: GatewayStatus["channels"][number]): HealthCheck {
  return well
    ? ok("Channel", `${id}: ${detail || "connected"}`)
    : broken("Channel", `${id}: ${detail || "not connected"}`);
}

function mcpServer({ name, state, tools: count, trouble }: GatewayStatus["mcp"][number]): HealthCheck {
  return trouble === null
    ? ok("MCP server", `${name}: ${state}, ${count} tools`)
    : broken("MCP server", `${name}: ${trouble}`);
}

function plugins(all: readonly PluginStatus[]): readonly HealthCheck[] {
  return all
    .filter(({ state, trouble }) => state === "failed" || trouble !== null)
    .map(({ id, state, trouble }) =>
      (state === "failed" ? broken : note)("Plugin", `${id}: ${trouble ?? "does not run"}`),
    );
}

function tools(all: readonly ListedTool[]): readonly HealthCheck[] {
  const aside = all.filter(({ status }) => status === "quarantined");
  return [
    ok("Tools", `${all.length} are registered.`),
    ...aside.map(({ name, plugin, reason }) =>
      note("Tools", `${name} of ${plugin} is set aside: ${reason ?? "not known why"}`),
    ),
  ];
}

function database({ writable }: HealthFacts): HealthCheck {
  return writable
    ? ok("Database", "It takes writes.")
    : broken("Database", "It takes no writes. Make room on the disk, then look at the log.");
}

function auditLog(found: AuditVerification | null): HealthCheck {
  if (found === null)
    return note("Audit log", "It was not verified since the gateway started. Activity has a button for it.");
  if (found.kind === "intact") return ok("Audit log", "It was verified and is intact.");
  return (found.kind === "tampered" ? broken : note)("Audit log", found.findings[0] ?? "It could not be verified.");
}

function space(freeBytes: number | null): HealthCheck {
  if (freeBytes === null) return note("Disk", "How much room is left is not known.");
  const say = `${Math.round(freeBytes / MB).toLocaleString("en-US")} MB are free.`;
  if (freeBytes < NO_SPACE_BYTES) return broken("Disk", `${say} The gateway needs room for messages.`);
  return freeBytes < LITTLE_SPACE_BYTES ? note("Disk", `${say} That is little.`) : ok("Disk", say);
}

function stateDirectory(mode: number | null): HealthCheck {
  const name = "State directory";
  if (mode === null) return note(name, "Its permissions are not known.");
  if ((mode & OTHERS_MODE_BITS) === 0) return ok(name, "Only its owner can open it.");
  return broken(name, "Other users of this machine can open it. Run: chmod 700 on the state directory.");
}

function backup({ backup: { everyMs, newestAt, failure } }: GatewayStatus, now: number): HealthCheck {
  if (failure !== null) return broken("Backup", `The last one failed: ${failure}`);
  if (everyMs === null) return note("Backup", "None is made by the clock (backup.every).");
  if (newestAt === null) return note("Backup", "None was made yet.");
  const hours = Math.round((now - newestAt) / HOUR_MS);
  const say = `The newest is ${hours === 0 ? "less than an hour" : `${hours} h`} old.`;
  return now - newestAt > everyMs * LATE_BACKUP ? broken("Backup", `${say} It is late.`) : ok("Backup", say);
}

function deliveries({ outbox: { dead, ambiguous, pending } }: GatewayStatus): HealthCheck {
  if (dead + ambiguous === 0)
    return ok("Replies", pending === 0 ? "All were delivered." : `${pending} are on their way.`);
  return note(
    "Replies",
    `Of the last day ${dead} did not arrive, and ${ambiguous} perhaps twice. The Inbox lists them.`,
  );
}
