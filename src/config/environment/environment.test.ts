/** The environment as data: what is taken, what is left, and which provider a key belongs to. */
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  firstProviderWithKey,
  keysForProvider,
  PROVIDER_KEYS,
  readEnvironment,
  readSupervisor,
  resolveHome,
} from "../index.ts";

const PI_KEY_TABLE = join(import.meta.dir, "../../../node_modules/@earendil-works/pi-ai/dist/env-api-keys.js");

describe("the environment", () => {
  test("is read once, and only what the gateway needs", () => {
    const environment = readEnvironment({
      PI_GATEWAY_HOME: "/srv/gw",
      HOME: "/home/ada",
      PATH: "/usr/bin",
      PI_GATEWAY_PI: "/opt/pi",
      LANG: "de_DE.UTF-8",
      LC_ALL: "C",
      TZ: "Europe/Berlin",
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "/cache",
      NO_COLOR: "1",
      OPENAI_API_KEY: "sk-hunter2",
      GROQ_API_KEY: "",
      UNRELATED: "hunter2",
      LANGUAGE: "de",
      MY_LANG: "de",
      LC_secret: "hunter2",
    });
    const { variables, providerKeys, ...rest } = environment;
    expect(rest).toEqual({
      home: "/srv/gw",
      userHome: "/home/ada",
      path: "/usr/bin",
      piPath: "/opt/pi",
      locale: { LANG: "de_DE.UTF-8", LC_ALL: "C", TZ: "Europe/Berlin" },
      transpilerCache: "/cache",
      noColor: true,
    });
    expect(Object.keys(providerKeys)).toEqual(["OPENAI_API_KEY"]);
    expect(providerKeys.OPENAI_API_KEY?.reveal()).toBe("sk-hunter2");
    expect(JSON.stringify(environment)).not.toContain("hunter2");
    expect([variables("UNRELATED"), variables("NOPE"), variables("toString")]).toEqual([
      "hunter2",
      undefined,
      undefined,
    ]);
  });

  test("gives no key to a provider whose variable holds nothing but white space", () => {
    const environment = readEnvironment({ ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "\t\n", GROQ_API_KEY: "k" });
    expect(Object.keys(environment.providerKeys)).toEqual(["GROQ_API_KEY"]);
    expect(firstProviderWithKey(environment)).toBe("groq");
  });

  test("that is empty still has a home folder", () => {
    expect(readEnvironment({})).toMatchObject({ home: null, path: "", noColor: false, transpilerCache: null });
    expect(readEnvironment({}).userHome).not.toBe("");
    const empty = {
      PI_GATEWAY_HOME: "",
      PI_GATEWAY_PI: "",
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "",
      NO_COLOR: "",
      LANG: "",
    };
    const none = { home: null, piPath: null, transpilerCache: null, noColor: false, locale: {} };
    expect(readEnvironment(empty)).toMatchObject(none);
    expect(readEnvironment({ HOME: "" }).userHome).toBe(readEnvironment({}).userHome);
  });
});

describe("the state directory", () => {
  const environment = { home: null, userHome: "/home/ada" };
  test("is ~/.pi-gateway, or PI_GATEWAY_HOME, or --home, in rising order", () => {
    expect(resolveHome(undefined, environment)).toBe("/home/ada/.pi-gateway");
    expect(resolveHome(undefined, { ...environment, home: "/srv/gw" })).toBe("/srv/gw");
    expect(resolveHome("/elsewhere/", { ...environment, home: "/srv/gw" })).toBe("/elsewhere");
    expect(resolveHome("~/gw", environment)).toBe("/home/ada/gw");
    expect(resolveHome("~", environment)).toBe("/home/ada");
    expect(resolveHome("", { ...environment, home: "/srv/gw" })).toBe("/srv/gw");
  });
});

describe("a provider", () => {
  const withKeys = (...names: string[]) => readEnvironment(Object.fromEntries(names.map((name) => [name, "k"])));

  test("gets its own keys and nobody else's", () => {
    const environment = withKeys("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN");
    expect(Object.keys(keysForProvider(environment, "anthropic"))).toEqual([
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_OAUTH_TOKEN",
    ]);
    expect(keysForProvider(environment, "groq")).toEqual({});
    expect(keysForProvider(environment, "constructor")).toEqual({});
  });

  test("is chosen by a fixed order, whatever the order of the environment", () => {
    expect(firstProviderWithKey(withKeys("GROQ_API_KEY", "OPENAI_API_KEY"))).toBe("openai");
    expect(firstProviderWithKey(withKeys("OPENAI_API_KEY", "GROQ_API_KEY"))).toBe("openai");
    expect(firstProviderWithKey(withKeys())).toBeNull();
  });

  test("is not chosen because of credentials that serve other purposes", () => {
    expect(
      firstProviderWithKey(withKeys("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "HF_TOKEN", "CLOUDFLARE_API_KEY")),
    ).toBeNull();
  });

  test("and its key variables are the ones the installed pi knows", async () => {
    const source = await readFile(PI_KEY_TABLE, "utf8");
    const table = source.slice(source.indexOf("const envMap = {"), source.indexOf("const envVar = envMap"));
    const known = [...table.matchAll(/"?([a-z0-9-]+)"?: "([A-Z0-9_]+)"/g)].map(([, provider, name]) => [
      provider,
      name,
    ]);
    expect(known.length).toBeGreaterThan(20);
    expect(known.filter(([provider = "", name = ""]) => PROVIDER_KEYS[provider]?.[0] !== name)).toEqual([]);
  });
});

test.each(["constructor", "toString", "__proto__"])("a variable called %s is not set unless it is set", (name) => {
  expect(readEnvironment({}).variables(name)).toBeUndefined();
  expect(readEnvironment(Object.fromEntries([[name, "x"]])).variables(name)).toBe("x");
});

describe("a supervisor", () => {
  const supervised = (env: Readonly<Record<string, string>>) => readSupervisor((name) => env[name], 42);
  test.each([
    ["wants to be told at a path", { NOTIFY_SOCKET: "/run/notify" }, { notifySocket: "/run/notify", watchdogMs: null }],
    ["wants to be told at a name", { NOTIFY_SOCKET: "@notify" }, { notifySocket: "@notify", watchdogMs: null }],
    ["names no socket", { WATCHDOG_USEC: "3000000" }, null],
    ["names a socket of another kind", { NOTIFY_SOCKET: "vsock:2:1234" }, null],
    ["names half a socket", { NOTIFY_SOCKET: "/" }, null],
  ])("that %s", (_what, env, settings) => expect(supervised(env)).toEqual(settings));

  test.each([
    ["watches for three seconds", { WATCHDOG_USEC: "3000000" }, 3_000],
    ["watches this process", { WATCHDOG_USEC: "3000000", WATCHDOG_PID: "42" }, 3_000],
    ["watches another process", { WATCHDOG_USEC: "3000000", WATCHDOG_PID: "43" }, null],
    ["counts in less than a millisecond", { WATCHDOG_USEC: "1" }, 1],
    ["counts in parts of a millisecond", { WATCHDOG_USEC: "2999" }, 2],
    ["watches for no time", { WATCHDOG_USEC: "0" }, null],
    ["watches for less than no time", { WATCHDOG_USEC: "-5000" }, null],
    ["says something else", { WATCHDOG_USEC: "soon" }, null],
  ])("that %s", (_what, env, watchdogMs) =>
    expect(supervised({ NOTIFY_SOCKET: "/run/notify", ...env })?.watchdogMs).toBe(watchdogMs),
  );
});
