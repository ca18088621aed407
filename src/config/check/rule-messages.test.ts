/** Every rule between settings, with all that people are told by it: where, how bad, what and what to do. */
import { expect, test } from "bun:test";
import { checkConfigText } from "./check.ts";

const T = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
const T2 = "Zp3Yd8Gf5Jn2Bq7Mv4Rk9C";
const T3 = "Kd7Wq2Ls9Xv4Bn8Mc1Pz6R";
const providers = { mine: { baseUrl: "http://host/v1", models: [{ id: "large" }] } };
const hooks = (more: object) => ({ hooks: { enabled: true, token: T, secret: T2, ...more } });

const CASES: readonly (readonly [what: string, settings: object, findings: readonly string[]])[] = [
  [
    "a token",
    { gateway: { auth: { token: "short" } } },
    [
      "problem at gateway.auth.token: gateway.auth.token is too short; it must have at least 22 characters. Leave it out and the gateway makes a good one at its first start.",
    ],
  ],
  [
    "a password",
    { gateway: { auth: { password: "short" } } },
    [
      "problem at gateway.auth.password: gateway.auth.password is too short; it must have at least 12 characters. Choose another one.",
    ],
  ],
  [
    "a mode without its password",
    { gateway: { auth: { mode: "password" } } },
    [
      'problem at gateway.auth.mode: gateway.auth.mode is "password", but there is no password. Set gateway.auth.password, or set the mode to "token".',
    ],
  ],
  [
    "a bind that is none",
    { gateway: { bind: "1.2.3" } },
    ['problem at gateway.bind: gateway.bind is "1.2.3"; it must be "loopback", "lan" or an IP address. ["1.2.3"]'],
  ],
  [
    "a host that is none",
    { gateway: { allowedHosts: ["good.example", "http://bad"] } },
    [
      'problem at gateway.allowedHosts[1]: gateway.allowedHosts[1] is "http://bad"; it must be a host name, with a port if it is not the usual one, such as "chat.example.org" or "box.local:8443". ["http://bad"]',
    ],
  ],
  [
    "a proxy that is none",
    { gateway: { trustedProxies: ["10.0.0.1", "proxy"] } },
    [
      'problem at gateway.trustedProxies[1]: gateway.trustedProxies[1] is "proxy"; it must be an IP address or a range such as "10.0.0.0/8". ["proxy"]',
    ],
  ],
  [
    "a proxy that is everybody",
    { gateway: { trustedProxies: ["0.0.0.0/0"] } },
    [
      'warning at gateway.trustedProxies[0]: gateway.trustedProxies[0] is "0.0.0.0/0", so every sender is believed about who it is. List only your own proxies. ["0.0.0.0/0"]',
    ],
  ],
  [
    "a bind without a way to sign in",
    { gateway: { bind: "lan", insecure: true } },
    [
      'problem at gateway.bind: gateway.bind is "lan", which other machines can reach, but neither gateway.auth.token nor gateway.auth.password is set. Set one of them, or set gateway.bind to "loopback".',
    ],
  ],
  [
    "a bind without encryption",
    { gateway: { bind: "192.168.1.5", auth: { token: T } } },
    [
      'problem at gateway.bind: gateway.bind is "192.168.1.5", which other machines can reach, but messages would travel unencrypted. List your TLS proxy in gateway.trustedProxies, set gateway.insecure to true if this network is all yours, or set gateway.bind to "loopback".',
    ],
  ],
  [
    "a pool",
    { agent: { pool: { min: 5, max: 2 } } },
    ["problem at agent.pool.min: agent.pool.min is 5, which is more than agent.pool.max (2). Lower min or raise max."],
  ],
  [
    "a model that is nearly there",
    { agent: { model: "mine/larg" }, models: { providers } },
    [
      'problem at agent.model: agent.model is "mine/larg", but models.providers.mine does not list that model. Did you mean "mine/large"? ["mine/larg"] → mine/large',
    ],
  ],
  [
    "a model that is not there",
    { agent: { fallbacks: ["mine/xyzzy"] }, models: { providers } },
    [
      'problem at agent.fallbacks[0]: agent.fallbacks[0] is "mine/xyzzy", but models.providers.mine does not list that model. Add the model there, or choose one that is listed. ["mine/xyzzy"]',
    ],
  ],
  [
    "a model of an agent",
    { agents: [{ id: "a", model: "mine/xyzzy", fallbacks: ["mine/large", "mine/zzz"] }], models: { providers } },
    [
      'problem at agents[0].model: agents[0].model is "mine/xyzzy", but models.providers.mine does not list that model. Add the model there, or choose one that is listed. ["mine/xyzzy"]',
      'problem at agents[0].fallbacks[1]: agents[0].fallbacks[1] is "mine/zzz", but models.providers.mine does not list that model. Add the model there, or choose one that is listed. ["mine/zzz"]',
    ],
  ],
  [
    "a model of a role",
    { roles: { profiles: { guest: { model: "mine/xyzzy" } } }, models: { providers } },
    [
      'problem at roles.profiles.guest.model: roles.profiles.guest.model is "mine/xyzzy", but models.providers.mine does not list that model. Add the model there, or choose one that is listed. ["mine/xyzzy"]',
    ],
  ],
  [
    "sources of a key",
    { models: { keys: { openai: [{ value: "k" }, { value: "k", file: "/k" }] } } },
    ["problem at models.keys.openai[1]: models.keys.openai[1] must have exactly one of value, file and command."],
  ],
  [
    "skills without a tool that reads",
    { agent: { skills: ["~/x"], tools: "chat" } },
    [
      'warning at agent.skills: agent.skills has no effect: a skill is a file, and this agent has no tool that reads files. Set agent.tools to "workspace", or to a list with "read" in it.',
    ],
  ],
  [
    "skills of one agent",
    { agents: [{ id: "a", skills: ["~/x"], tools: [] }] },
    [
      'warning at agents[0].skills: agents[0].skills has no effect: a skill is a file, and this agent has no tool that reads files. Set agents[0].tools to "workspace", or to a list with "read" in it.',
    ],
  ],
  [
    "the bridge of all",
    { agent: { bridge: "off" } },
    [
      `warning at agent.bridge: agent.bridge is off, so agents have no tools at all: not the gateway's, not pi's, not those of extensions. Set it to "live" to have them back.`,
    ],
  ],
  [
    "the bridge of one",
    { agents: [{ id: "a", bridge: "off" }] },
    [
      `warning at agents[0].bridge: agents[0].bridge is off, so this agent has no tools at all: not the gateway's, not pi's, not those of extensions. Set it to "live" to have them back.`,
    ],
  ],
  [
    "an agent called default",
    { agents: [{ id: "default" }] },
    [
      'problem at agents[0].id: agents[0].id is "default", which is there already. Its settings are in agent; give this one a name.',
    ],
  ],
  [
    "two agents of one name",
    { agents: [{ id: "a" }, { id: "a" }] },
    ['problem at agents[1].id: agents[1].id is "a", and so is an earlier one. Each agent has a name of its own.'],
  ],
  [
    "a binding to nobody",
    { agents: [{ id: "clerk" }], bindings: [{ agent: "clark" }] },
    [
      'problem at bindings[0].agent: bindings[0].agent is "clark", but there is no such agent. Did you mean "clerk"? → clerk',
    ],
  ],
  [
    "a binding of a chat and an account without a channel",
    { bindings: [{ agent: "default", chat: "1", account: "b" }] },
    [
      "problem at bindings[0].chat: bindings[0].chat means nothing without a channel. Add bindings[0].channel.",
      "problem at bindings[0].account: bindings[0].account means nothing without a channel. Add bindings[0].channel.",
    ],
  ],
  [
    "a binding of the web console",
    { bindings: [{ agent: "default", channel: "webchat" }] },
    [
      'warning at bindings[0].channel: bindings[0].channel is "webchat", but chats in the web console name their agent themselves, so it has no effect.',
    ],
  ],
  [
    "a budget of nobody",
    { budget: { agents: { nobody: {} } } },
    [
      'problem at budget.agents.nobody: budget.agents.nobody is "nobody", but there is no such agent. There are: default.',
    ],
  ],
  [
    "a delegate that is nobody",
    { agent: { delegates: ["nobody"] } },
    ['problem at agent.delegates[0]: agent.delegates[0] is "nobody", but there is no such agent. There are: default.'],
  ],
  [
    "delegates of one agent",
    { agents: [{ id: "a", delegates: ["b"] }] },
    [
      'problem at agents[0].delegates[0]: agents[0].delegates[0] is "b", but there is no such agent. Did you mean "a"? → a',
    ],
  ],
  [
    "delegates without a second process",
    { agent: { delegates: ["default"], pool: { max: 1 } } },
    [
      "warning at agent.delegates: agent.delegates names agents, but agent.pool.max is 1: the process that asks is the only one. Set it to 2 or more.",
    ],
  ],
  [
    "one id of two people",
    { session: { identityLinks: { ann: ["x:user:1"], bob: ["x:user:2", "x:user:1"] } } },
    [
      "problem at session.identityLinks.bob[1]: session.identityLinks.bob[1] is linked to ann already. One id is one person; remove it from one of them.",
    ],
  ],
  [
    "a search service without its key",
    { tools: { webSearch: { provider: "brave" } } },
    [
      "problem at tools.webSearch.apiKey: tools.webSearch.apiKey is missing; brave needs it. Set it, or leave provider out.",
    ],
  ],
  [
    "a search service without its address",
    { tools: { webSearch: { provider: "searxng" } } },
    [
      "problem at tools.webSearch.baseUrl: tools.webSearch.baseUrl is missing; searxng needs it. Set it, or leave provider out.",
    ],
  ],
  [
    "hooks without a token",
    { hooks: { enabled: true, secret: T2 } },
    [
      "problem at hooks.token: hooks.token is missing, so no request would be accepted. Set one, or set hooks.enabled to false.",
    ],
  ],
  [
    "hooks without a secret",
    { hooks: { enabled: true, token: T } },
    [
      "warning at hooks.secret: hooks.secret is not set, and there are no hooks.keys, so wake and agent take requests that are not signed: whoever sees one can repeat it.",
    ],
  ],
  [
    "a short token of hooks",
    hooks({ token: "short" }),
    [
      "problem at hooks.token: hooks.token is too short; it must have at least 22 characters. Make one with: openssl rand -hex 32",
    ],
  ],
  [
    "a token of hooks that opens the gateway",
    { ...hooks({}), gateway: { auth: { token: T } } },
    [
      "problem at hooks.token: hooks.token is the same as gateway.auth.token, so every sender of a hook could do all that you can. Choose another one.",
    ],
  ],
  [
    "a secret of hooks that is their token",
    hooks({ secret: T }),
    ["problem at hooks.secret: hooks.secret is the same as hooks.token. Choose another one for signing."],
  ],
  [
    "a secret of a target that is one of hooks",
    hooks({ targets: { ops: { url: "https://a.example", secret: T2 } } }),
    [
      "problem at hooks.targets.ops.secret: hooks.targets.ops.secret is the same as hooks.secret, so what is posted there could be sent back as a request. Choose another one.",
    ],
  ],
  [
    "a previous secret of hooks",
    hooks({ previousSecret: "short" }),
    [
      "problem at hooks.previousSecret: hooks.previousSecret is too short; it must have at least 22 characters. Make one with: openssl rand -hex 32",
    ],
  ],
  [
    "a key of a hook",
    hooks({ mappings: { deploy: { message: "x", keys: { old: "short" } } } }),
    [
      "problem at hooks.mappings.deploy.keys.old: hooks.mappings.deploy.keys.old is too short; it must have at least 22 characters. Make one with: openssl rand -hex 32",
    ],
  ],
  [
    "a hook called wake",
    hooks({ mappings: { wake: { message: "x" } } }),
    ["problem at hooks.mappings.wake: hooks.mappings.wake: there is a hook called wake already. Choose another name."],
  ],
  [
    "a hook called agent",
    hooks({ mappings: { agent: { message: "x" } } }),
    [
      "problem at hooks.mappings.agent: hooks.mappings.agent: there is a hook called agent already. Choose another name.",
    ],
  ],
  [
    "a template of a hook",
    hooks({ mappings: { deploy: { message: "{{ x" } } }),
    ["problem at hooks.mappings.deploy.message: hooks.mappings.deploy.message has {{ or }} without the other half."],
  ],
  [
    "a signed hook without a secret",
    { hooks: { mappings: { deploy: { message: "x", signed: true } } } },
    [
      "problem at hooks.mappings.deploy: hooks.mappings.deploy takes signed requests only, but there is no secret to check them with. Set hooks.secret or hooks.mappings.deploy.secret, or set hooks.mappings.deploy.signed to false when its sender cannot sign.",
    ],
  ],
  [
    "an agent of a hook",
    hooks({ mappings: { deploy: { message: "x", agent: "nobody" } } }),
    [
      'problem at hooks.mappings.deploy.agent: hooks.mappings.deploy.agent is "nobody", but there is no such agent. There are: default.',
    ],
  ],
  [
    "a target of a hook",
    hooks({
      mappings: { deploy: { message: "x", webhook: "opps" } },
      targets: { ops: { url: "https://a.example", secret: T3 } },
    }),
    [
      'problem at hooks.mappings.deploy.webhook: hooks.mappings.deploy.webhook is "opps", but there is no such entry in hooks.targets. Did you mean "ops"? → ops',
    ],
  ],
  [
    "a target of a hook that answers in a chat",
    hooks({
      mappings: { deploy: { message: "x", webhook: "ops", session: "main" } },
      targets: { ops: { url: "https://a.example", secret: T3 } },
    }),
    [
      "warning at hooks.mappings.deploy.webhook: hooks.mappings.deploy.webhook has no effect: with this session the answer is said in a conversation, and not posted.",
    ],
  ],
  [
    "a target of a job",
    { cron: { jobs: [{ id: "a", task: "x", schedule: { kind: "every", expr: "1h" }, webhook: "ops" }] } },
    [
      'problem at cron.jobs[0].webhook: cron.jobs[0].webhook is "ops", but there is no such entry in hooks.targets. There are none yet.',
    ],
  ],
  [
    "too many keys of hooks",
    hooks({ keys: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`k${at}`, `${T3}${at}`])) }),
    ["problem at hooks.keys: hooks.keys has 9 keys, and 8 is the most. Take out those nobody signs with."],
  ],
  [
    "a time zone",
    { heartbeat: { activeHours: { start: "08:00", end: "09:00", timezone: "Nowhere" } } },
    [
      'problem at heartbeat.activeHours.timezone: heartbeat.activeHours.timezone is "Nowhere", which is no time zone this machine knows. Write one such as "Europe/Berlin".',
    ],
  ],
  [
    "a time zone of one agent",
    { agents: [{ id: "a", heartbeat: { activeHours: { start: "08:00", end: "09:00", timezone: "Nowhere" } } }] },
    [
      'problem at agents[0].heartbeat.activeHours.timezone: agents[0].heartbeat.activeHours.timezone is "Nowhere", which is no time zone this machine knows. Write one such as "Europe/Berlin".',
    ],
  ],
  [
    "a key of Discord that anybody signs for",
    { channels: { discord: { publicKey: "0".repeat(64) } } },
    [
      "problem at channels.discord.publicKey: channels.discord.publicKey is a key that anybody can sign for (a point of small order). Copy the public key from the application's page at Discord.",
    ],
  ],
  [
    "an MCP server that is nothing",
    { mcp: { servers: { shop: {} } } },
    ["problem at mcp.servers.shop: mcp.servers.shop must have exactly one of command and url."],
  ],
  [
    "an MCP server that is both",
    { mcp: { servers: { shop: { command: "x", url: "https://a.example" } } } },
    ["problem at mcp.servers.shop: mcp.servers.shop must have exactly one of command and url."],
  ],
  [
    "a program with a header",
    { mcp: { servers: { shop: { command: "x", headers: { "X-A": "b" } } } } },
    ["problem at mcp.servers.shop.headers: mcp.servers.shop.headers has no effect beside command. Remove it."],
  ],
  [
    "an address with arguments",
    { mcp: { servers: { shop: { url: "https://a.example", args: ["a"] } } } },
    ["problem at mcp.servers.shop.args: mcp.servers.shop.args has no effect beside url. Remove it."],
  ],
  [
    "two ways to sign in to an MCP server",
    { mcp: { servers: { shop: { url: "https://a.example", headers: { AUTHORIZATION: "b" }, oauth: {} } } } },
    [
      "problem at mcp.servers.shop.oauth: mcp.servers.shop has both oauth and a header Authorization. Keep one of them.",
    ],
  ],
  [
    "a database of another kind",
    { store: { url: "mysql://host/x" } },
    [
      "problem at store.url: store.url is not the address of a Postgres database. It begins with postgres:// and has no spaces.",
    ],
  ],
  [
    "a short secret of the database",
    { store: { secret: "short" } },
    [
      "problem at store.secret: store.secret is too short; it must have at least 22 characters. `openssl rand -base64 32` makes a good one.",
    ],
  ],
  [
    "a bucket without a database",
    {
      store: {
        files: { kind: "s3", endpoint: "https://s3.example", bucket: "b", accessKeyId: "id", secretAccessKey: "key" },
      },
    },
    [
      "problem at store.files: store.files is only for a Postgres database: set store.url as well, or leave store.files out. With SQLite, files are in the state directory.",
    ],
  ],
];

test.each(CASES)("%s is found, with all that is said about it", (_what, settings, findings) => {
  const { problems, warnings } = checkConfigText(JSON.stringify(settings), () => undefined);
  const said = (severity: string, { path, message, value, suggestion }: (typeof problems)[number]): string => {
    const written = value === undefined ? "" : ` [${value}]`;
    return `${severity} at ${path}: ${message}${written}${suggestion === undefined ? "" : ` → ${suggestion}`}`;
  };
  const found = [...problems.map((one) => said("problem", one)), ...warnings.map((one) => said("warning", one))];
  expect(found).toEqual([...findings]);
});
