/** Checks at their boundaries, as tables: credentials, addresses, lists, numbers, names, and rules that two settings make together. */
import { describe, expect, test } from "bun:test";
import { readEnvironment } from "../environment/index.ts";
import { sameSettings } from "../diff.ts";
import { publicView } from "../public.ts";
import { coversEverything, isAddressOrRange, isBindAddress, reachOf } from "./address.ts";
import { checkConfigText } from "./check.ts";
import { weakPassword, weakToken } from "./credentials.ts";

const check = (settings: object) => {
  const { config, problems, warnings } = checkConfigText(JSON.stringify(settings), () => undefined);
  return { isGood: config !== null, paths: problems.map(({ path }) => path), problems, warnings };
};
const GOOD = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
const long = (chars: number): string => GOOD.repeat(30).slice(0, chars);

describe("a credential", () => {
  test.each([
    ["a token of 22 characters", weakToken(long(22)), null],
    ["a token of 21 characters", weakToken(long(21)), "is too short; it must have at least 22 characters"],
    ["a token of 512 characters", weakToken(long(512)), null],
    ["a token of 513 characters", weakToken(long(513)), "is too long; it must have at most 512 characters"],
    ["a token with a space", weakToken(`${GOOD} x`), "cannot travel in a header"],
    ["a token with a letter beyond ASCII", weakToken(`${GOOD}ä`), "cannot travel in a header"],
    ["a token of the last sign there is", weakToken(`!~${GOOD}`), null],
    ["a password of 12 characters", weakPassword(long(12)), null],
    ["a password of 11 characters", weakPassword(long(11)), "is too short; it must have at least 12 characters"],
    ["a password of 512 characters", weakPassword(long(512)), null],
    ["a password of 513 characters", weakPassword(long(513)), "is too long; it must have at most 512 characters"],
    ["a password with spaces", weakPassword("correct horse battery"), null],
    ["a password of four different signs", weakPassword("abdfabdfabdf"), "placeholder"],
    ["a password of five different signs", weakPassword("adgjmadgjmad"), null],
    ["a password that runs along the alphabet", weakPassword("abcdefghijklm"), "placeholder"],
    ["a password that runs along the digits", weakPassword("567890123456"), "placeholder"],
    [
      "a password that runs along the digits and on from 9 to 0",
      weakPassword("x678901678901678901678901"),
      "placeholder",
    ],
    ["a password that runs along in parts", weakPassword("abcdxbcdeyzqm"), null],
    ["words that everybody tries", weakPassword("My-Admin-Password-1"), "placeholder"],
  ])("%s is judged as it should be", (_what, verdict, words) => {
    if (words === null) expect(verdict).toBeNull();
    else expect(verdict).toContain(words);
  });

  test.each([
    "changeme",
    "changethis",
    "replaceme",
    "replacethis",
    "placeholder",
    "yourtoken",
    "yourpassword",
    "yoursecret",
    "tokenhere",
    "passwordhere",
    "secrethere",
  ])("with %p in it is a placeholder, however it is written", (part) => {
    const spelt = [...part].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : `${letter}-`)).join("");
    expect(weakPassword(`x9q!${spelt}`)).toContain("placeholder");
  });
});

describe("an address", () => {
  test.each([
    ["loopback", "loopback"],
    ["127.0.0.1", "loopback"],
    ["127.9.9.9", "loopback"],
    ["::1", "loopback"],
    ["0:0:0:0:0:0:0:1", "loopback"],
    ["lan", "all"],
    ["0.0.0.0", "all"],
    ["::", "all"],
    ["0::0", "all"],
    ["192.168.1.5", "one"],
    ["::2", "one"],
  ] as const)("%s reaches %s", (bind, reach) => {
    expect(reachOf(bind)).toBe(reach);
  });

  test.each([
    ["0.0.0.0/0", true],
    ["128.0.0.0/1", true],
    ["0.0.0.0/2", false],
    ["::/0", true],
    ["2000::/3", true],
    ["2000::/4", false],
    ["::ffff:0:0/96", true],
    ["::ffff:0:0/97", true],
    ["::ffff:0:0/98", false],
    ["10.0.0.1", false],
    ["::1", false],
    ["nonsense", false],
  ])("%s covers everything: %p", (range, all) => {
    expect(coversEverything(range)).toBe(all);
  });

  test.each([
    ["10.0.0.1", true],
    ["10.0.0.0/32", true],
    ["10.0.0.0/33", false],
    ["10.0.0.0/", false],
    ["10.0.0.0/8/8", false],
    ["10.0.0.0/x", false],
    ["::/128", true],
    ["::/129", false],
    ["fe80::1%eth0", false],
    ["host", false],
  ])("%s is an address or a range: %p", (range, isOne) => {
    expect(isAddressOrRange(range)).toBe(isOne);
  });

  test.each([
    ["loopback", true],
    ["lan", true],
    ["192.168.1.5", true],
    ["::1", true],
    ["localhost", false],
    ["", false],
  ])("%p can be bound to: %p", (bind, can) => {
    expect(isBindAddress(bind)).toBe(can);
  });
});

describe("a setting", () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, at) => `h${at}.example`);
  test.each([
    ["a list with as many entries as it may have", { gateway: { allowedHosts: hosts(32) } }, []],
    ["a list with one more", { gateway: { allowedHosts: hosts(33) } }, ["gateway.allowedHosts"]],
    ["the smallest number", { gateway: { port: 0 } }, []],
    ["the largest number", { gateway: { port: 65_535 } }, []],
    ["a number above", { gateway: { port: 65_536 } }, ["gateway.port"]],
    ["a number below", { gateway: { port: -1 } }, ["gateway.port"]],
    ["a part of a number", { gateway: { port: 1.5 } }, ["gateway.port"]],
    ["a text of full length", { agent: { model: `x/${"m".repeat(198)}` } }, []],
    ["a text that is longer", { agent: { model: `x/${"m".repeat(199)}` } }, ["agent.model"]],
    ["a flag as text", { gateway: { insecure: "true" } }, ["gateway.insecure"]],
    ["a group that is a number", { agent: 5 }, ["agent"]],
    ["a group above what a rule reads", { tools: 5, agents: 7 }, ["tools", "agents"]],
    ["a pool of one", { agent: { pool: { min: 1, max: 1 } } }, []],
    ["a pool with more at least than at most", { agent: { pool: { min: 2, max: 1 } } }, ["agent.pool.min"]],
    ["a search with its key", { tools: { webSearch: { provider: "brave", apiKey: "k" } } }, []],
    ["a search without its key", { tools: { webSearch: { provider: "brave" } } }, ["tools.webSearch.apiKey"]],
    ["a search with an address", { tools: { webSearch: { provider: "searxng", baseUrl: "https://s.example" } } }, []],
    ["a search without its address", { tools: { webSearch: { provider: "searxng" } } }, ["tools.webSearch.baseUrl"]],
    ["no search at all", { tools: { webSearch: { apiKey: "k" } } }, []],
    ["a binding of a chat", { bindings: [{ agent: "default", channel: "telegram", chat: "1", account: "a" }] }, []],
    [
      "a binding of a chat nowhere",
      { bindings: [{ agent: "default", chat: "1", account: "a" }] },
      ["bindings[0].chat", "bindings[0].account"],
    ],
    ["a budget of an agent there is", { budget: { agents: { default: { dailyUsd: 1 } } } }, []],
  ])("as %s is judged as it should be", (_what, settings, paths) => {
    expect(check(settings).paths).toEqual(paths);
  });

  test("that names an agent there is not names those there are, or the one that was meant", () => {
    const agents = [{ id: "cook" }, { id: "gardener" }];
    const said = (agent: string) => check({ agents, bindings: [{ agent, channel: "telegram" }] }).problems[0];
    expect(said("zzzzzzzz")?.message).toContain("There are: default, cook, gardener.");
    expect(said("zzzzzzzz")).not.toHaveProperty("suggestion");
    expect(said("gardner")).toMatchObject({ suggestion: "gardener" });
    expect(said("gardner")?.message).toContain('Did you mean "gardener"?');
  });

  test("that is a choice has a suggestion only where one is near", () => {
    expect(check({ gateway: { auth: { mode: "pasword" } } }).problems[0]).toMatchObject({ suggestion: "password" });
    expect(check({ gateway: { auth: { mode: "zzz" } } }).problems[0]).not.toHaveProperty("suggestion");
  });
});

test.each([
  ["the same", { a: { b: [1] } }, { a: { b: [1] } }, true],
  ["another value deep down", { a: { b: 1 } }, { a: { b: 2 } }, false],
  ["another order of a list", { a: [1, 2] }, { a: [2, 1] }, false],
  ["a setting more", {}, { a: 1 }, false],
  ["off and on", null, {}, false],
  ["off and off", null, null, true],
])("settings with %s are compared to the last value", (_what, before, after, same) => {
  expect(sameSettings(before, after)).toBe(same);
});

test("the public view says of somebody else's object only whether it is there, and shows flags and numbers", () => {
  const schema = {
    properties: {
      own: { free: true },
      missing: { free: true },
      flag: { type: "boolean" },
      count: { type: "integer" },
      group: { properties: { x: { type: "integer" } } },
    },
  };
  expect(publicView(schema, { own: { password: "hunter2" }, flag: false, count: 0, group: null })).toEqual({
    own: "set",
    missing: "not set",
    flag: false,
    count: 0,
    group: {},
  });
});

test("the environment hands on the locale that is set, and nothing that is empty", () => {
  const env = { LANG: "de_DE", TZ: "", LC_ALL: "C", LC_x: "no", LANGUAGE: "no", PI_GATEWAY_HOME: "", NO_COLOR: "" };
  const { locale, home, noColor, path, transpilerCache } = readEnvironment(env);
  expect({ locale, home, noColor, path, transpilerCache }).toEqual({
    locale: { LANG: "de_DE", LC_ALL: "C" },
    home: null,
    noColor: false,
    path: "",
    transpilerCache: null,
  });
  expect(readEnvironment({ NO_COLOR: "1", HOME: "/h", PATH: "/bin" })).toMatchObject({
    noColor: true,
    userHome: "/h",
    path: "/bin",
  });
});
