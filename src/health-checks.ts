/** What `doctor` looks at from inside of the gateway: each thing is fine, or there is a sentence about it. Pure. */
import type { PluginStatus } from "./contracts/plugin.ts";
import type { AuditVerification } from "./contracts/store/tool-calls.ts";
import type { HealthCheck, HealthFix } from "./contracts/system-api.ts";
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
  /** There are last good settings to go back to. */
  readonly canRevert: boolean;
  readonly access: AccessFacts;
  readonly now: number;
  /** How far the clock on the wall was moved since the start, against the one that only goes on. */
  readonly clockShiftMs: number;
}

/** Who could get in. */
interface AccessFacts {
  readonly reach: "loopback" | "one" | "all";
  readonly bind: string;
  /** Some proxy is trusted, which brings encryption. */
  readonly hasProxy: boolean;
  /** What is wrong with the token in force, to stand after "The token"; null: nothing. */
  readonly weakToken: string | null;
  /** The configuration file, when it holds secrets as they are and other users can read it; null otherwise. */
  readonly publicFile: string | null;
}

const MB = 1024 * 1024;
const LITTLE_SPACE_BYTES = 500 * MB;
const NO_SPACE_BYTES = 50 * MB;
const OTHERS_MODE_BITS = 0o077;
/** A backup that is older than this many times its interval is late. */
const LATE_BACKUP = 2;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Summer time does not move it: this is the time since 1970. A small step is how clocks are kept right. */
const CLOCK_SHIFT_MS = 2 * MINUTE_MS;
/** This version did not exist before. */
const FIRST_MOMENT = Date.UTC(2026, 0, 1);

export function healthChecks(facts: HealthFacts): readonly HealthCheck[] {
  const checks = checksOf(facts);
  return [...checks, ...otherNotices(facts).map((say) => note("Notice", say))];
}

/** What the gateway says of itself that no check is about. */
function otherNotices({ status, plugins: all }: HealthFacts): readonly string[] {
  const told = [
    status.agentTrouble,
    status.sandbox.because,
    ...status.config.problems,
    ...all.map(({ trouble }) => trouble),
    ...status.mcp.map(({ trouble }) => trouble),
  ].filter((text): text is string => text !== null && text !== "");
  return status.notices.filter((notice) => !told.some((text) => notice.includes(text)));
}

function checksOf(facts: HealthFacts): readonly HealthCheck[] {
  const { status } = facts;
  return [
    configuration(facts),
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
    token(facts.access),
    network(facts.access),
    wallClock(facts),
    backup(status, facts.now),
    deliveries(status),
  ];
}

const ok = (check: string, say: string): HealthCheck => ({ check, state: "ok", say });
const note = (check: string, say: string): HealthCheck => ({ check, state: "note", say });
const broken = (check: string, say: string): HealthCheck => ({ check, state: "broken", say });
const fixedBy = (fix: HealthFix | "token", check: HealthCheck): HealthCheck => ({ ...check, fix });

function configuration({ status: { config }, canRevert }: HealthFacts): HealthCheck {
  const { file, applied, problems } = config;
  if (applied)
    return ok("Configuration", file === null ? "There is no file; the defaults are in force." : `${file} is in force.`);
  const check = broken("Configuration", [`${file ?? "The file"} is not in force.`, ...problems].join(" "));
  return canRevert ? fixedBy("settings", check) : check;
}

function agents({ agentTrouble, pool }: GatewayStatus): HealthCheck {
  if (agentTrouble !== null) return broken("Agents", agentTrouble);
  return ok("Agents", `Processes start: ${pool.busy} busy, ${pool.idle} idle, at most ${pool.max}.`);
}

function sandbox({ sandbox: { setting, tier, because, leaks, advice } }: GatewayStatus): HealthCheck {
  const name = "Sandbox";
  if (setting === "off")
    return note(name, 'agent.sandbox is "off": a shell of an agent can do whatever your user can.');
  const open = leaks.length === 0 ? "" : `It does not hold: ${leaks.join(" ")}`;
  const say = [because, open, advice ?? ""].filter((text) => text !== "").join(" ");
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

/** Those that ship run as well, and are told of only when something is wrong with them. */
function plugins(all: readonly PluginStatus[]): readonly HealthCheck[] {
  return all
    .filter(
      ({ state, trouble, builtin }) => state === "failed" || trouble !== null || (state === "running" && !builtin),
    )
    .map(({ id, state, trouble, version, digest }) => {
      if (state === "failed") return broken("Plugin", `${id}: ${trouble ?? "does not run"}`);
      const about = `${id} ${version ?? ""}, sha256 ${digest ?? "not known"}`;
      return trouble === null ? ok("Plugin", about) : note("Plugin", `${about}. ${trouble}`);
    });
}

function tools(all: readonly ListedTool[]): readonly HealthCheck[] {
  const aside = all.filter(({ status }) => status === "quarantined");
  return [
    ok("Tools", `${all.length} are registered.`),
    ...aside.map(({ name, plugin, reason }) =>
      note("Tools", `${name} of ${plugin} is set aside: ${reason ?? "not known why"}`),
    ),
    ...all.flatMap(({ name, plugin, notices = [] }) =>
      notices.map((text) => note("Tools", `${name} of ${plugin}: ${text}`)),
    ),
  ];
}

function database({ writable }: HealthFacts): HealthCheck {
  return writable
    ? ok("Database", "It takes writes.")
    : broken("Database", "It takes no writes. Make room on the disk, then look at the log.");
}

function auditLog(found: AuditVerification | null): HealthCheck {
  if (found === null) return fixedBy("audit", note("Audit log", "It was not verified since the gateway started."));
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
  return fixedBy(
    "modes",
    broken(name, "Other users of this machine can open it. Run: chmod 700 on the state directory."),
  );
}

function token({ weakToken, publicFile }: AccessFacts): HealthCheck {
  if (publicFile !== null)
    return fixedBy(
      "modes",
      broken(
        "Token",
        `${publicFile} holds secrets, and other users of this machine can read it. Run: chmod 600 ${publicFile}`,
      ),
    );
  return weakToken === null
    ? ok("Token", "It is strong, and only the owner can read it.")
    : fixedBy("token", broken("Token", `The token ${weakToken}. Make a new one: pi-gw token rotate`));
}

function network({ reach, bind, hasProxy }: AccessFacts): HealthCheck {
  if (reach === "loopback") return ok("Network", "Only this machine can reach the port.");
  const who =
    reach === "all" ? "Every network of this machine reaches the port" : `Whoever reaches ${bind} reaches the port`;
  if (hasProxy) return ok("Network", `${who}; a trusted proxy is set (gateway.trustedProxies).`);
  return note("Network", `${who}, without encryption (gateway.insecure). Put a proxy with TLS before it.`);
}

function wallClock({ now, clockShiftMs }: HealthFacts): HealthCheck {
  const day = new Date(now).toISOString();
  if (now < FIRST_MOMENT)
    return broken("Clock", `It says ${day}, which is in the past. Set the clock of this machine.`);
  if (Math.abs(clockShiftMs) < CLOCK_SHIFT_MS) return ok("Clock", `It says ${day}.`);
  const minutes = Math.round(Math.abs(clockShiftMs) / MINUTE_MS);
  const way = clockShiftMs > 0 ? "forward" : "back";
  return note(
    "Clock",
    `It says ${day}, and was moved ${way} by ${minutes} min since the start: jobs may have been missed.`,
  );
}

function backup({ backup: { everyMs, newestAt, failure } }: GatewayStatus, now: number): HealthCheck {
  if (failure !== null) return fixedBy("backup", broken("Backup", `The last one failed: ${failure}`));
  if (everyMs === null) return fixedBy("backup", note("Backup", "None is made by the clock (backup.every)."));
  if (newestAt === null) return fixedBy("backup", note("Backup", "None was made yet."));
  const hours = Math.round((now - newestAt) / HOUR_MS);
  const say = `The newest is ${hours === 0 ? "less than an hour" : `${hours} h`} old.`;
  if (now - newestAt <= everyMs * LATE_BACKUP) return ok("Backup", say);
  return fixedBy("backup", broken("Backup", `${say} It is late.`));
}

function deliveries({ outbox: { dead, ambiguous, pending } }: GatewayStatus): HealthCheck {
  if (dead + ambiguous === 0)
    return ok("Replies", pending === 0 ? "All were delivered." : `${pending} are on their way.`);
  return note(
    "Replies",
    `Of the last day ${dead} did not arrive, and ${ambiguous} perhaps twice. The Inbox lists them.`,
  );
}
