/** What one key cannot say alone: rules between settings that decide whether a start is safe. Pure; answers with findings. */
import { coversEverything, isAddressOrRange, isBindAddress, reachOf } from "./address.ts";
import { bridgeRules, skillRules } from "./capability-rules.ts";
import { isSmallOrderKey, weakPassword, weakToken } from "./credentials.ts";
import { hookNameRules, hookSecretRules } from "./hook-rules.ts";
import { mcpServerRules } from "./mcp-rules.ts";
import { nearest } from "../../kit/nearest.ts";
import { type RuleProblem, problem, type RuleInput } from "./rule.ts";
import { agentRules, bindingRules, budgetRules, delegateRules, linkRules } from "./routing-rules.ts";
import { zoneRules } from "./zone-rules.ts";

interface Rule {
  /** The keys it looks at. It is left out while one of them has a problem of its own. */
  readonly reads: readonly string[];
  readonly check: (world: RuleInput) => Iterable<RuleProblem>;
}

const RULES: readonly Rule[] = [
  { reads: ["gateway.auth"], check: credentialRules },
  { reads: ["gateway.bind"], check: bindRule },
  { reads: ["gateway.allowedHosts"], check: hostRules },
  { reads: ["gateway.trustedProxies"], check: proxyRules },
  {
    reads: ["gateway.bind", "gateway.auth", "gateway.trustedProxies", "gateway.insecure"],
    check: reachRules,
  },
  { reads: ["agent.pool"], check: poolRule },
  { reads: ["agent.model", "agent.fallbacks", "agents", "models", "roles.profiles"], check: modelRules },
  { reads: ["models"], check: keySourceRule },
  { reads: ["agent.skills", "agent.tools", "agents"], check: skillRules },
  { reads: ["agent.bridge", "agents"], check: bridgeRules },
  { reads: ["agents"], check: agentRules },
  { reads: ["agents", "bindings"], check: bindingRules },
  { reads: ["agents", "budget"], check: budgetRules },
  { reads: ["agents", "agent.delegates", "agent.pool"], check: delegateRules },
  { reads: ["session.identityLinks"], check: linkRules },
  { reads: ["tools.webSearch"], check: searchRule },
  { reads: ["hooks", "gateway.auth"], check: hookSecretRules },
  { reads: ["hooks", "agents", "cron.jobs"], check: hookNameRules },
  { reads: ["heartbeat", "agents"], check: zoneRules },
  { reads: ["channels.discord"], check: discordKeyRule },
  { reads: ["mcp.servers"], check: mcpServerRules },
  { reads: ["store.url", "store.secret"], check: storeRule },
  { reads: ["store"], check: storeFilesRule },
];

/** `brokenPaths`: keys already known to be wrong; whatever stands there is not a value. */
export function brokenRules(world: RuleInput, brokenPaths: readonly string[]): readonly RuleProblem[] {
  const touches = (read: string) => brokenPaths.some((path) => isWithin(path, read) || isWithin(read, path));
  return RULES.filter((rule) => !rule.reads.some(touches)).flatMap((rule) => [...rule.check(world)]);
}

const isWithin = (path: string, group: string): boolean =>
  path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`);

/** The values are not repeated: an address holds a password. */
function* storeRule({ config }: RuleInput): Generator<RuleProblem> {
  const secret = config.store.secret && weakToken(config.store.secret.reveal());
  if (secret) yield problem("store.secret", `store.secret ${secret}. \`openssl rand -base64 32\` makes a good one.`);
  const url = config.store.url?.reveal();
  if (url === undefined) return;
  const isPostgres = /^postgres(?:ql)?:$/.test(URL.parse(url)?.protocol ?? "");
  if (!isPostgres)
    yield problem(
      "store.url",
      "store.url is not the address of a Postgres database. It begins with postgres:// and has no spaces.",
    );
}

function* storeFilesRule({ config }: RuleInput): Generator<RuleProblem> {
  if (config.store.files === undefined || config.store.url !== undefined) return;
  yield problem(
    "store.files",
    "store.files is only for a Postgres database: set store.url as well, or leave store.files out. With SQLite, files are in the state directory.",
  );
}

function* credentialRules({ config }: RuleInput): Generator<RuleProblem> {
  const { auth } = config.gateway;
  const token = auth.token && weakToken(auth.token.reveal());
  if (token) {
    const remedy = "Leave it out and the gateway makes a good one at its first start.";
    yield problem("gateway.auth.token", `gateway.auth.token ${token}. ${remedy}`);
  }
  const password = auth.password && weakPassword(auth.password.reveal());
  if (password) yield problem("gateway.auth.password", `gateway.auth.password ${password}. Choose another one.`);
  if (auth.mode === "password" && !auth.password) {
    const remedy = 'Set gateway.auth.password, or set the mode to "token".';
    yield problem("gateway.auth.mode", `gateway.auth.mode is "password", but there is no password. ${remedy}`);
  }
}

function* bindRule({ config, show }: RuleInput): Generator<RuleProblem> {
  const { bind } = config.gateway;
  if (isBindAddress(bind)) return;
  const shown = show("gateway.bind", bind);
  const message = `gateway.bind is ${shown}; it must be "loopback", "lan" or an IP address.`;
  yield problem("gateway.bind", message, shown);
}

function* hostRules({ config, show }: RuleInput): Generator<RuleProblem> {
  for (const [index, host] of config.gateway.allowedHosts.entries()) {
    if (/^[A-Za-z0-9._-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$/.test(host)) continue;
    const path = `gateway.allowedHosts[${index}]`;
    const shown = show(path, host);
    const message = `${path} is ${shown}; it must be a host name, with a port if it is not the usual one, such as "chat.example.org" or "box.local:8443".`;
    yield problem(path, message, shown);
  }
}

function* proxyRules({ config, show }: RuleInput): Generator<RuleProblem> {
  for (const [index, proxy] of config.gateway.trustedProxies.entries()) {
    const path = `gateway.trustedProxies[${index}]`;
    const shown = show(path, proxy);
    if (!isAddressOrRange(proxy)) {
      const message = `${path} is ${shown}; it must be an IP address or a range such as "10.0.0.0/8".`;
      yield problem(path, message, shown);
    } else if (coversEverything(proxy)) {
      const message = `${path} is ${shown}, so every sender is believed about who it is. List only your own proxies.`;
      yield { severity: "warning", path, message, value: shown };
    }
  }
}

function* reachRules({ config, show }: RuleInput): Generator<RuleProblem> {
  const { bind, auth, trustedProxies, insecure } = config.gateway;
  if (!isBindAddress(bind) || reachOf(bind) === "loopback") return;
  const reachable = `gateway.bind is ${show("gateway.bind", bind)}, which other machines can reach`;
  if (!auth.token && !auth.password) {
    const remedy = 'Set one of them, or set gateway.bind to "loopback".';
    yield problem(
      "gateway.bind",
      `${reachable}, but neither gateway.auth.token nor gateway.auth.password is set. ${remedy}`,
    );
  }
  if (trustedProxies.length === 0 && !insecure) {
    const remedy =
      'List your TLS proxy in gateway.trustedProxies, set gateway.insecure to true if this network is all yours, or set gateway.bind to "loopback".';
    yield problem("gateway.bind", `${reachable}, but messages would travel unencrypted. ${remedy}`);
  }
}

function* poolRule({ config }: RuleInput): Generator<RuleProblem> {
  const { min, max } = config.agent.pool;
  if (max === undefined || min <= max) return;
  const remedy = "Lower min or raise max.";
  yield problem("agent.pool.min", `agent.pool.min is ${min}, which is more than agent.pool.max (${max}). ${remedy}`);
}

function* searchRule({ config }: RuleInput): Generator<RuleProblem> {
  const { provider, apiKey, baseUrl } = config.tools.webSearch;
  const missing = provider === undefined ? null : provider === "searxng" ? !baseUrl && "baseUrl" : !apiKey && "apiKey";
  if (!missing) return;
  const path = `tools.webSearch.${missing}`;
  yield problem(path, `${path} is missing; ${provider} needs it. Set it, or leave provider out.`);
}

/** A model of a provider that is described here must be described too; a provider that only pi knows is pi's business. */
function* modelRules({ config, show }: RuleInput): Generator<RuleProblem> {
  yield* modelRule({ config, show }, "agent.model", config.agent.model ?? "");
  for (const [at, name] of config.agent.fallbacks.entries())
    yield* modelRule({ config, show }, `agent.fallbacks[${at}]`, name);
  for (const [index, { model = "", fallbacks = [] }] of config.agents.entries()) {
    yield* modelRule({ config, show }, `agents[${index}].model`, model);
    for (const [at, name] of fallbacks.entries())
      yield* modelRule({ config, show }, `agents[${index}].fallbacks[${at}]`, name);
  }
  for (const [role, profile] of Object.entries(config.roles.profiles))
    yield* modelRule({ config, show }, `roles.profiles.${role}.model`, profile?.model ?? "");
}

function* keySourceRule({ config }: RuleInput): Generator<RuleProblem> {
  for (const [provider, sources] of Object.entries(config.models.keys))
    for (const [at, { value, file, command }] of sources.entries()) {
      if ([value, file, command].filter((one) => one !== undefined).length === 1) continue;
      const path = `models.keys.${provider}[${at}]`;
      yield problem(path, `${path} must have exactly one of value, file and command.`);
    }
}

function* modelRule({ config, show }: RuleInput, path: string, wanted: string): Generator<RuleProblem> {
  const { providers } = config.models;
  const slash = wanted.indexOf("/");
  const provider = wanted.slice(0, Math.max(0, slash));
  if (!Object.hasOwn(providers, provider)) return;
  const ids = providers[provider]?.models.map((model) => model.id) ?? [];
  const id = wanted.slice(slash + 1);
  if (ids.includes(id)) return;
  const close = nearest(id, ids);
  const hint =
    close === null ? "Add the model there, or choose one that is listed." : `Did you mean "${provider}/${close}"?`;
  const value = show(path, wanted);
  const message = `${path} is ${value}, but models.providers.${provider} does not list that model. ${hint}`;
  const found = problem(path, message, value);
  yield close === null ? found : { ...found, suggestion: `${provider}/${close}` };
}

function* discordKeyRule({ config }: RuleInput): Generator<RuleProblem> {
  const { publicKey } = config.channels.discord;
  if (publicKey === undefined || !isSmallOrderKey(publicKey)) return;
  const remedy = "Copy the public key from the application's page at Discord.";
  yield problem(
    "channels.discord.publicKey",
    `channels.discord.publicKey is a key that anybody can sign for (a point of small order). ${remedy}`,
  );
}
