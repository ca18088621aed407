/** A rule between settings is left out while a key that it reads is wrong by itself: nobody is told a second thing about a value that is none. */
import { expect, test } from "bun:test";
import { checkConfigText } from "./check.ts";

/** Where something is found, in the order of the file. */
function findings(settings: object): readonly string[] {
  const { problems, warnings } = checkConfigText(JSON.stringify(settings), () => undefined);
  return [...problems, ...warnings].map(({ path }) => path);
}

/** The same settings with null, which no setting takes, at this path. */
function broken(settings: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (key === "") return null;
  if (Array.isArray(settings)) return settings.map((entry, at) => (String(at) === key ? broken(entry, rest) : entry));
  const group = typeof settings === "object" && settings !== null ? settings : {};
  return { ...group, [key]: broken(Reflect.get(group, key), rest) };
}

const PROVIDERS = { mine: { baseUrl: "http://host/v1", models: [{ id: "m" }] } };
const BUCKET = { kind: "s3", endpoint: "https://s3.example", bucket: "b", accessKeyId: "id", secretAccessKey: "key" };
const HOURS = { start: "08:00", end: "09:00", timezone: "Nowhere" };

const RULES: readonly (readonly [rule: string, settings: object, reads: readonly string[]])[] = [
  ["credentials", { gateway: { auth: { mode: "password" } } }, ["gateway.auth.token"]],
  [
    "a bind that others reach",
    { gateway: { bind: "lan" } },
    ["gateway.auth.token", "gateway.trustedProxies", "gateway.insecure"],
  ],
  ["a pool", { agent: { pool: { min: 5, max: 1 } } }, ["agent.pool.idleMs"]],
  [
    "models",
    { agent: { model: "mine/none" }, models: { providers: PROVIDERS } },
    ["agent.fallbacks", "agents", "models.keys", "roles.profiles"],
  ],
  ["sources of keys", { models: { keys: { openai: [{}] } } }, ["models.providers"]],
  ["skills", { agent: { skills: ["~/x"], tools: "chat" } }, ["agents"]],
  ["the bridge", { agent: { bridge: "off" } }, ["agents"]],
  ["names of agents", { agents: [{ id: "a" }, { id: "a" }] }, ["agents.0.model"]],
  ["bindings", { bindings: [{ agent: "nobody" }] }, ["agents", "bindings.0.channel"]],
  ["budgets", { budget: { agents: { nobody: {} } } }, ["agents", "budget.principals"]],
  ["delegates", { agent: { delegates: ["nobody"] } }, ["agents", "agent.pool.max"]],
  ["linked people", { session: { identityLinks: { a: ["x:user:1"], b: ["x:user:1"] } } }, ["session.identityLinks.c"]],
  ["a search service", { tools: { webSearch: { provider: "brave" } } }, ["tools.webSearch.cacheMs"]],
  ["secrets of hooks", { hooks: { enabled: true } }, ["hooks.keys", "gateway.auth.token"]],
  [
    "names of hooks",
    { hooks: { mappings: { wake: { message: "x", signed: false } } } },
    ["agents", "cron.jobs", "hooks.token"],
  ],
  ["time zones", { heartbeat: { activeHours: HOURS } }, ["agents", "heartbeat.every"]],
  ["a key of Discord", { channels: { discord: { publicKey: "0".repeat(64) } } }, ["channels.discord.applicationId"]],
  ["MCP servers", { mcp: { servers: { a: {} } } }, ["mcp.servers.b"]],
  ["a database", { store: { url: "mysql://host/x" } }, ["store.secret"]],
  ["files beside a database", { store: { files: BUCKET } }, ["store.url"]],
];

test.each(RULES.flatMap(([rule, settings, reads]) => reads.map((path) => [rule, path, settings] as const)))(
  "the rule about %s says nothing while %s is wrong",
  (_rule, path, settings) => {
    const place = path.replaceAll(/\.(\d+)/g, "[$1]");
    expect(findings(settings)).not.toEqual([]);
    expect(findings(settings)).not.toContain(place);
    expect(findings(broken(settings, path.split(".")) as object)).toEqual([place]);
  },
);
