/** The rules between settings that keep an unsafe gateway from starting. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "../index.ts";

const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
const problems = (gateway: object, rest: object = {}) =>
  checkConfigText(JSON.stringify({ gateway, ...rest }), () => undefined).problems.map((problem) => problem.path);

describe("a token is refused when it", () => {
  test.each([
    ["is short", "q7Vb2mXc9Lr4Tz8Wk1Hs6"],
    ["is a placeholder", "changeme-changeme-changeme"],
    ["is a placeholder in capital letters", "CHANGE_ME-please-CHANGE_ME-now"],
    ["is a placeholder with your name on it", "your-token-here-1234567890"],
    ["is a word printed by mistake", "undefinedundefinedundefined"],
    ["is a word repeated", "token-token-token-token-token"],
    ["is one character", "a".repeat(40)],
    ["is hardly more than one character", "abababababababababababab"],
    ["is the alphabet", "abcdefghijklmnopqrstuvwxyz"],
    ["counts", "0123456789012345678901234567"],
    ["cannot travel in a header", "q7Vb2mXc9Lr4 Tz8Wk1Hs6Nx"],
    ["has no end", "q7Vb2mXc9Lr4".repeat(60)],
  ])("%s", (_why, token) => {
    expect(problems({ auth: { token } })).toEqual(["gateway.auth.token"]);
  });

  test("and taken when it is random", () => {
    for (const token of [TOKEN, "0f3a9c71be5d28460f3a9c71be5d2846", "correct-horse-battery-staple"]) {
      expect(problems({ auth: { token } })).toEqual([]);
    }
  });
});

describe("a password", () => {
  test("needs 12 characters", () => {
    expect(problems({ auth: { mode: "password", password: "elevenchars" } })).toEqual(["gateway.auth.password"]);
    expect(problems({ auth: { mode: "password", password: "twelve chars" } })).toEqual([]);
  });

  test("must be there when it is what people sign in with", () => {
    expect(problems({ auth: { mode: "password" } })).toEqual(["gateway.auth.mode"]);
  });
});

describe("a bind that other machines can reach", () => {
  const auth = { token: TOKEN };
  const cases: readonly [name: string, gateway: object, paths: readonly string[]][] = [
    ["needs a token and a proxy", { bind: "lan" }, ["gateway.bind", "gateway.bind"]],
    ["needs a proxy besides the token", { bind: "lan", auth }, ["gateway.bind"]],
    ["needs a token besides the proxy", { bind: "lan", trustedProxies: ["10.0.0.1"] }, ["gateway.bind"]],
    ["needs a token even when insecure", { bind: "0.0.0.0", insecure: true }, ["gateway.bind"]],
    ["needs a token and a proxy on one address, too", { bind: "192.168.1.5" }, ["gateway.bind", "gateway.bind"]],
    ["works with token and proxy", { bind: "lan", auth, trustedProxies: ["10.0.0.0/8"] }, []],
    ["works with token and insecure", { bind: "192.168.1.5", auth, insecure: true }, []],
    ["works with a password", { bind: "::", auth: { password: "twelve chars" }, insecure: true }, []],
  ];
  test.each(cases)("%s", (_name, gateway, paths) => {
    expect(problems(gateway)).toEqual([...paths]);
  });

  test.each(["loopback", "127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1"])("is not %s", (bind) => {
    expect(problems({ bind })).toEqual([]);
  });

  test.each(["127.0.0.1.5", "999.0.0.1", "1", "::1::2", "localhost"])("%s is not an address at all", (bind) => {
    expect(problems({ bind, auth, insecure: true })).toEqual(["gateway.bind"]);
  });
});

describe("other rules", () => {
  test.each([
    "10.0.0.0/33",
    "10.0.0/8",
    "proxy.local",
    "::1/129",
    "10.0.0.1/",
    "fe80::1%eth0",
    "1.2.3.4/8/8",
    "10.0.0.0/8x",
  ])("%s is not a proxy address", (proxy) => {
    expect(problems({ trustedProxies: ["10.0.0.1", proxy] })).toEqual(["gateway.trustedProxies[1]"]);
  });

  test("a proxy range that holds everybody is a warning", () => {
    const text = '{"gateway": {"trustedProxies": ["0.0.0.0/0"]}}';
    const { warnings, config } = checkConfigText(text, () => undefined);
    expect(warnings.map(({ path, line, column }) => [path, line, column])).toEqual([
      ["gateway.trustedProxies[0]", 1, 33],
    ]);
    expect(config).not.toBeNull();
  });

  test("an allowed host is a name, not an address with a scheme", () => {
    const allowedHosts = ["chat.example.org", "box.local:8443", "[::1]:80", "https://chat.example.org"];
    expect(problems({ allowedHosts })).toEqual(["gateway.allowedHosts[3]"]);
    const ports = ["a.example:65535", "a.example:123456", "[::1]:65535", "[::1]:123456"];
    expect(problems({ allowedHosts: ports })).toEqual(["gateway.allowedHosts[1]", "gateway.allowedHosts[3]"]);
  });

  test("a budget is for an agent that exists, a person's id or an origin, and never less than nothing", () => {
    const limit = { dailyUsd: 1 };
    expect(problems({}, { budget: { agents: { default: limit, helper: limit } } })).toEqual(["budget.agents.helper"]);
    expect(problems({}, { agents: [{ id: "helper" }], budget: { agents: { helper: limit } } })).toEqual([]);
    expect(problems({}, { budget: { principals: { "*": limit, operator: limit, "telegram:user:1": limit } } })).toEqual(
      [],
    );
    for (const budget of [{ dailyUsd: -1 }, { dailyTokens: 1.5 }, { unattendedShare: 2 }, { dailyusd: 1 }])
      expect(problems({}, { budget })).toEqual([`budget.${Object.keys(budget)[0]}`]);
    expect(problems({}, { budget: { principals: { Olga: limit }, origins: { cronn: limit } } })).toHaveLength(2);
  });

  test("the pool cannot keep more processes ready than it may have", () => {
    expect(problems({}, { agent: { pool: { min: 5, max: 4 } } })).toEqual(["agent.pool.min"]);
  });

  test("a model of a described provider must be described, and the nearest one is named", () => {
    const providers = { local: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "qwen3:4b" }] } };
    const text = JSON.stringify({ agent: { model: "local/qwen3:4" }, models: { providers } });
    expect(checkConfigText(text, () => undefined).problems).toEqual([
      {
        path: "agent.model",
        line: 1,
        column: 19,
        message:
          'agent.model is "local/qwen3:4", but models.providers.local does not list that model. Did you mean "local/qwen3:4b"?',
        value: '"local/qwen3:4"',
        suggestion: "local/qwen3:4b",
      },
    ]);
  });

  test("a model's id may have slashes: the provider is what stands before the first", () => {
    const providers = { local: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "qwen/small" }] } };
    expect(problems({}, { agent: { model: "local/qwen/small" }, models: { providers } })).toEqual([]);
    expect(problems({}, { agent: { model: "local/qwen/large" }, models: { providers } })).toEqual(["agent.model"]);
  });

  test("a model of a provider that only pi knows is left to pi", () => {
    expect(problems({}, { agent: { model: "anthropic/some-model" } })).toEqual([]);
  });
});

describe("agents, bindings and people", () => {
  const found = (config: object) => {
    const { problems: wrong, warnings } = checkConfigText(JSON.stringify(config), () => undefined);
    return [...wrong, ...warnings].map(({ path, suggestion }) =>
      [path, ...(suggestion ? [suggestion] : [])].join(" → "),
    );
  };
  const agents = [{ id: "research" }];
  const cases: readonly [name: string, config: object, found: readonly string[]][] = [
    ["an agent needs a name", { agents: [{}] }, ["agents[0].id"]],
    [
      "a name is small letters, digits and dashes",
      { agents: [{ id: "../x" }, { id: "A" }] },
      ["agents[0].id", "agents[1].id"],
    ],
    ["two agents have two names", { agents: [...agents, ...agents] }, ["agents[1].id"]],
    ["the default agent is not listed", { agents: [{ id: "default" }] }, ["agents[0].id"]],
    [
      "a binding names an agent that exists",
      { agents, bindings: [{ agent: "reserch" }] },
      ["bindings[0].agent → research"],
    ],
    ["or the default one", { bindings: [{ agent: "default", channel: "api" }] }, []],
    [
      "an agent may ask only agents that exist",
      { agent: { delegates: ["reserch"] }, agents: [{ ...agents[0], delegates: ["default", "nobody"] }] },
      ["agent.delegates[0] → research", "agents[0].delegates[1]"],
    ],
    [
      "asking takes a second process",
      { agents, agent: { delegates: ["research"], pool: { min: 1, max: 1 } } },
      ["agent.delegates"],
    ],
    [
      "a chat and an account need a channel",
      { bindings: [{ agent: "default", chat: "1", account: "a" }] },
      ["bindings[0].account", "bindings[0].chat"],
    ],
    ["a person in a binding is an id", { bindings: [{ agent: "default", peer: "ann" }] }, ["bindings[0].peer"]],
    [
      "a misspelt key in a binding is a problem",
      { bindings: [{ agent: "default", pear: "x" }] },
      ["bindings[0].pear → bindings[0].peer"],
    ],
    [
      "a binding for the web console is pointed out",
      { bindings: [{ agent: "default", channel: "webchat" }] },
      ["bindings[0].channel"],
    ],
    [
      "an owner is an id",
      { roles: { owners: ["ann", "1", "telegram:group:1", "*", "telegram:user:1"] } },
      ["roles.owners[0]", "roles.owners[1]", "roles.owners[2]", "roles.owners[3]"],
    ],
    ["a misspelt role is a problem", { roles: { owner: ["telegram:user:1"] } }, ["roles.owner → roles.owners"]],
    [
      "one id is one person",
      { session: { identityLinks: { a: ["x:user:1"], b: ["x:user:1"] } } },
      ["session.identityLinks.b[0]"],
    ],
    [
      "an id may be written twice for the same person",
      { session: { identityLinks: { a: ["x:user:1", "x:user:1"] } } },
      [],
    ],
    [
      "an agent's model is looked up like the default one's",
      {
        agents: [{ id: "a", model: "x/m2" }],
        models: { providers: { x: { baseUrl: "http://h", models: [{ id: "m1" }] } } },
      },
      ["agents[0].model → x/m1"],
    ],
    [
      "an agent's time limit is a duration",
      {
        agents: [
          { id: "a", timeoutMs: "5m" },
          { id: "b", timeoutMs: "soon" },
        ],
      },
      ["agents[1].timeoutMs"],
    ],
  ];
  test.each(cases)("%s", (_name, config, expected) => {
    expect(found(config).toSorted()).toEqual([...expected]);
  });
});

test.each([
  ["the neutral point", `01${"0".repeat(62)}`],
  ["a point of order eight", "26E8958FC2B227B045C3F489F2EF98F0D5DFAC05D3C63339B13802886D53FC85"],
])("a public key of Discord that anybody can sign for is refused: %s", (_what, publicKey) => {
  expect(problems({}, { channels: { discord: { publicKey } } })).toEqual(["channels.discord.publicKey"]);
  const real = "8d2a4a4a8d5b7d1d3a3c1c9a0d5d4f1c7a4e5f60718293a4b5c6d7e8f9010203";
  expect(problems({}, { channels: { discord: { publicKey: real } } })).toEqual([]);
});

test("a wrong value that came from the environment is not shown, in whichever rule it is found", () => {
  const hidden = "value-of-a-variable";
  const settings = {
    gateway: { bind: "${V}", allowedHosts: ["${V} x"], trustedProxies: ["${V}"] },
    models: { providers: { own: { baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "a" }] } } },
    agent: { model: "own/${V}" },
    hooks: { mappings: { b: { message: "x", signed: false, agent: "${V}" } } },
  };
  const { problems } = checkConfigText(JSON.stringify(settings), () => hidden);
  expect(problems.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["gateway.bind", "gateway.allowedHosts[0]", "gateway.trustedProxies[0]", "agent.model"]),
  );
  expect(JSON.stringify(problems)).not.toContain(hidden);
});

test.each([
  ["0.0.0.0/0", true],
  ["0.0.0.0/1", true],
  ["0.0.0.0/2", false],
  ["::/0", true],
  ["2000::/3", true],
  ["::ffff:0.0.0.0/96", true],
  ["::ffff:0:0/96", true],
  ["::ffff:10.0.0.0/104", false],
  ["10.0.0.0/8", false],
])("a trusted proxy range %s covers practically every sender: %p", (range, all) => {
  const { warnings } = checkConfigText(JSON.stringify({ gateway: { trustedProxies: [range] } }), () => undefined);
  expect(warnings.some(({ path }) => path === "gateway.trustedProxies[0]")).toBe(all);
});

describe("keys and fallbacks of models", () => {
  const problemsOf = (models: object, agent: object = {}) =>
    checkConfigText(JSON.stringify({ agent, models }), () => undefined).problems.map(({ message }) => message);
  const local = { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "small" }] };

  test.each([
    [[{}], "models.keys.openai[0] must have exactly one of value, file and command."],
    [
      [{ value: "k" }, { value: "k", file: "/f" }],
      "models.keys.openai[1] must have exactly one of value, file and command.",
    ],
  ])("a key needs exactly one source: %j", (sources, message) => {
    expect(problemsOf({ keys: { openai: sources } })).toEqual([message]);
  });

  test("a fallback must be a model that its provider lists", () => {
    const found = problemsOf({ providers: { local } }, { model: "local/small", fallbacks: ["local/smal"] });
    expect(found).toEqual([expect.stringContaining('agent.fallbacks[0] is "local/smal"')]);
    const own = { agents: [{ id: "a", fallbacks: ["local/small", "local/smal"] }], models: { providers: { local } } };
    expect(problems({}, own)).toEqual(["agents[0].fallbacks[1]"]);
    const profile = { roles: { profiles: { member: { model: "local/smal" } } }, models: { providers: { local } } };
    expect(problems({}, profile)).toEqual(["roles.profiles.member.model"]);
  });
});

test.each([
  ["the heartbeat of all agents", { heartbeat: { activeHours: { timezone: "Mars/Olympus" } } }, "heartbeat"],
  [
    "the heartbeat of one agent",
    { agents: [{ id: "ops", heartbeat: { activeHours: { timezone: "Mars/Olympus" } } }] },
    "agents[0].heartbeat",
  ],
])("a time zone that the machine does not know is refused in %s", (_where, config, path) => {
  expect(problems({}, config)).toEqual([`${path}.activeHours.timezone`]);
});

test.each([
  ["postgres://me:hunter2@db.example/gateway", []],
  ["postgresql://db.example", []],
  ["postgresqlx://db.example", ["store.url"]],
  ["mysql://me:hunter2@db.example/gateway", ["store.url"]],
  ["db.example", ["store.url"]],
])("the address of a database %s is that of Postgres or refused, without being repeated", (url, expected) => {
  const found = checkConfigText(JSON.stringify({ store: { url } }), () => undefined).problems;
  expect(found.map(({ path }) => path)).toEqual([...expected]);
  expect(JSON.stringify(found)).not.toContain("hunter2");
});

test("a bucket for files is refused without a Postgres database and without its keys", () => {
  const files = { kind: "s3", endpoint: "https://s3.example", bucket: "b", accessKeyId: "id", secretAccessKey: "key" };
  const pathsOf = (store: object) =>
    checkConfigText(JSON.stringify({ store }), () => undefined).problems.map(({ path }) => path);
  expect(pathsOf({ url: "postgres://db.example", files })).toEqual([]);
  expect(pathsOf({ files })).toEqual(["store.files"]);
  const { secretAccessKey: _key, ...without } = files;
  expect(pathsOf({ url: "postgres://db.example", files: without })).toEqual(["store.files.secretAccessKey"]);
});

test("a secret of several gateways that could be guessed is refused, without being repeated", () => {
  const check = (text: string) =>
    checkConfigText(JSON.stringify({ store: { secret: text } }), () => undefined).problems;
  expect(check("hunter2hunter2").map(({ path }) => path)).toEqual(["store.secret"]);
  expect(JSON.stringify(check("hunter2hunter2"))).not.toContain("hunter2");
  expect(check("kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e")).toEqual([]);
});

test("time zones that the machine knows are taken, for all agents and for one", () => {
  const heartbeat = { activeHours: { timezone: "Europe/Berlin" } };
  expect(problems({}, { heartbeat, agents: [{ id: "ops", heartbeat }] })).toEqual([]);
});

describe("an MCP server", () => {
  const sayOf = (shop: object) =>
    checkConfigText(JSON.stringify({ mcp: { servers: { shop } } }), () => undefined).problems.map(
      ({ message }) => message,
    );

  test.each([
    [{}, "mcp.servers.shop must have exactly one of command and url."],
    [{ command: "x", url: "https://a.example" }, "mcp.servers.shop must have exactly one of command and url."],
    [{ url: "https://a.example", args: ["x"] }, "mcp.servers.shop.args has no effect beside url. Remove it."],
    [{ url: "https://a.example", network: "all" }, "mcp.servers.shop.network has no effect beside url. Remove it."],
    [{ command: "x", headers: { A: "b" } }, "mcp.servers.shop.headers has no effect beside command. Remove it."],
    [
      { url: "https://a.example", oauth: {}, headers: { authorization: "b" } },
      "mcp.servers.shop has both oauth and a header Authorization. Keep one of them.",
    ],
  ])("with the settings %j is refused: %s", (shop, message) => {
    expect(sayOf(shop)).toEqual([message]);
  });

  test.each([
    [{ command: "x", alow: ["*"] }, "alow"],
    [{ command: "x", network: { allow: [], aks: true } }, "network"],
    [{ url: "https://a.example", oauth: { cleintId: "x" } }, "cleintId"],
  ])("with a misspelt setting is refused: %j", (shop, name) => {
    expect(sayOf(shop)).toEqual([expect.stringContaining(name)]);
  });

  test.each(["Shop", "my_shop", "-shop", "s".repeat(40)])("is not called %s", (name) => {
    const text = JSON.stringify({ mcp: { servers: { [name]: { command: "x" } } } });
    expect(checkConfigText(text, () => undefined).problems).toHaveLength(1);
  });
});
