/** What a change means: which settings, whether a restart is needed, whether it opens a door. */
import { describe, expect, test } from "bun:test";
import { checkConfigText, type Config, diffConfig, sameSettings } from "./index.ts";

const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
const OTHER_TOKEN = "Zp3Yd8Gf5Jn2Bq7Mv4Rk9C";

function configOf(value: object): Config {
  const { config, problems } = checkConfigText(JSON.stringify(value), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}

const diff = (before: object, after: object) => diffConfig(configOf(before), configOf(after));

test("two loads of the same text differ in nothing, secrets included", () => {
  const text = { gateway: { auth: { token: TOKEN } }, models: { providers: { x: provider("key-one") } } };
  expect(diff(text, text)).toEqual({ changed: [], needsRestart: [], weakensAuth: false });
});

test("a channel that is on without any setting differs from one that is off", () => {
  expect([sameSettings(null, {}), sameSettings({}, null)]).toEqual([false, false]);
  expect([sameSettings(null, null), sameSettings({}, {})]).toEqual([true, true]);
});

test("another key in a list of keys is a change, although neither is shown", () => {
  const keys = (value: string) => ({ models: { keys: { openai: [{ value }, { file: "/keys/second" }] } } });
  expect(diff(keys("key-one"), keys("key-two")).changed).toEqual(["models.keys.openai"]);
  expect(diff(keys("key-one"), keys("key-one")).changed).toEqual([]);
});

test("changes are named by path, lists as a whole, and secrets are compared without being shown", () => {
  const before = { gateway: { auth: { token: TOKEN } }, models: { providers: { x: provider("key-one") } } };
  const after = {
    gateway: { auth: { token: OTHER_TOKEN }, allowedHosts: ["a.example"] },
    models: { providers: { x: provider("key-two"), y: provider("key") } },
    agent: { model: "x/m" },
  };
  const result = diff(before, after);
  expect(result.changed.toSorted()).toEqual([
    "agent.model",
    "gateway.allowedHosts",
    "gateway.auth.token",
    "models.providers.x.apiKey",
    "models.providers.y.api",
    "models.providers.y.apiKey",
    "models.providers.y.baseUrl",
    "models.providers.y.models",
  ]);
  expect(JSON.stringify(result)).not.toContain(TOKEN);
});

test.each([
  ["a group of Telegram", { channels: { telegram: { groups: { "-100": {} } } } }, "channels.telegram.groups.-100"],
  [
    "an account of Telegram",
    { channels: { telegram: { accounts: { second: {} } } } },
    "channels.telegram.accounts.second",
  ],
  ["a plugin", { plugins: { config: { weather: {} } } }, "plugins.config.weather"],
])("%s that is named without any setting is a change when it comes and when it goes", (_what, named, path) => {
  expect([diff({}, named).changed, diff(named, {}).changed, diff(named, named).changed]).toEqual([[path], [path], []]);
});

test.each([
  [["read"], "chat"],
  [["read"], undefined],
  [["read"], ["read", "bash"]],
  [
    ["read", "bash"],
    ["bash", "read"],
  ],
])("the tools %j in the place of %j are a change", (one, other) => {
  const tools = (value: unknown) => ({ agent: value === undefined ? {} : { tools: value } });
  expect(diff(tools(one), tools(other)).changed).toEqual(["agent.tools"]);
  expect(diff(tools(other), tools(one)).changed).toEqual(["agent.tools"]);
});

test("port, bind and where the database and its files are need a restart", () => {
  const files = { kind: "s3", endpoint: "https://s3.example", bucket: "b", accessKeyId: "id", secretAccessKey: "key" };
  const store = { url: "postgres://host/name", secret: "q7Vb2mXc9Lr4Tz8Wk1Hs6N", files };
  expect(diff({}, { store }).needsRestart).toEqual(diff({}, { store }).changed);
  const moved = { ...store, files: { ...files, bucket: "another" } };
  expect(diff({ store }, { store: moved }).needsRestart).toEqual(["store.files.bucket"]);
  const { needsRestart } = diff({}, { gateway: { port: 1, bind: "127.0.0.1" }, queue: { maxTotal: 1 } });
  expect(needsRestart).toEqual(["gateway.port", "gateway.bind"]);
});

describe("a change weakens the sign-in when", () => {
  const auth = { token: TOKEN, password: "twelve chars" };
  const open = { auth, insecure: true };
  test.each([
    ["the token goes", { auth }, { auth: { password: auth.password } }],
    ["the password goes", { auth }, { auth: { token: TOKEN } }],
    ["insecure is turned on", { auth }, open],
    ["the bind leaves loopback", open, { ...open, bind: "192.168.1.5" }],
    ["the bind opens to every address", { ...open, bind: "192.168.1.5" }, { ...open, bind: "lan" }],
    ["the bind opens to every IPv6 address", { ...open, bind: "fd00::5" }, { ...open, bind: "0:0:0:0:0:0:0:0" }],
    ["every address becomes a proxy", { trustedProxies: ["10.0.0.1"] }, { trustedProxies: ["10.0.0.1", "0.0.0.0/0"] }],
    ["every IPv6 address becomes a proxy", {}, { trustedProxies: ["::/0"] }],
    ["every mapped address becomes a proxy", {}, { trustedProxies: ["::ffff:0:0/96"] }],
  ])("%s", (_name, before, after) => {
    expect(diff({ gateway: before }, { gateway: after }).weakensAuth).toBe(true);
    expect(diff({ gateway: after }, { gateway: after }).weakensAuth).toBe(false);
  });

  test.each([
    ["browsers sign in with a password instead of the token", { auth }, { auth: { ...auth, mode: "password" } }],
    ["browsers sign in with the token instead of a password", { auth: { ...auth, mode: "password" } }, { auth }],
    ["a host is added", {}, { allowedHosts: ["a.example"] }],
    ["a proxy is added", {}, { trustedProxies: ["10.0.0.0/8"] }],
    ["the token is another one", { auth: { token: TOKEN } }, { auth: { token: OTHER_TOKEN } }],
    ["the bind comes back to loopback", { ...open, bind: "lan" }, { ...open, bind: "::1" }],
    ["loopback is written another way", {}, { bind: "127.0.0.1" }],
  ])("but not when %s", (_name, before, after) => {
    expect(diff({ gateway: before }, { gateway: after }).weakensAuth).toBe(false);
  });
});

describe("a change of webhooks is judged by whether it weakens the sign-in:", () => {
  const KEY = { secret: TOKEN };
  const mapping = (signed: boolean) => ({ ...KEY, mappings: { build: { message: "{{.}}", signed } } });
  const hooks = (settings: object) => ({ hooks: { enabled: true, token: "Kw2Rf7Xb9Tn4Vc6Hm1Ls8D", ...settings } });
  test.each([
    ["the secret that signs them goes", hooks(KEY), hooks({}), true],
    ["one of them need not be signed any more", hooks(mapping(true)), hooks(mapping(false)), true],
    ["they are signed by another secret", hooks(KEY), hooks({ secret: OTHER_TOKEN }), false],
    ["one of them has to be signed from now on", hooks(mapping(false)), hooks(mapping(true)), false],
    ["one of them need not be signed, as before", hooks(mapping(false)), hooks(mapping(false)), false],
    ["a new one need not be signed", hooks(KEY), hooks(mapping(false)), false],
    ["one of them goes", hooks(mapping(true)), hooks(KEY), false],
    ["they are switched off, and the secret goes", hooks(KEY), hooks({ enabled: false }), false],
    ["they were off, and are on without a secret", hooks({ ...KEY, enabled: false }), hooks({}), false],
  ])("%s", (_name, before, after, weakens) => {
    expect(diff(before, after).weakensAuth).toBe(weakens);
  });
});

function provider(apiKey: string): object {
  return { baseUrl: "http://127.0.0.1:1/v1", apiKey, models: [{ id: "m" }] };
}
