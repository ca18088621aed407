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
  test.each(["10.0.0.0/33", "10.0.0/8", "proxy.local", "::1/129", "10.0.0.1/", "fe80::1%eth0", "1.2.3.4/8/8"])(
    "%s is not a proxy address",
    (proxy) => {
      expect(problems({ trustedProxies: ["10.0.0.1", proxy] })).toEqual(["gateway.trustedProxies[1]"]);
    },
  );

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
  });

  test("the pool cannot keep more processes ready than it may have", () => {
    expect(problems({}, { agent: { pool: { min: 5 } } })).toEqual(["agent.pool.min"]);
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

  test("a model of a provider that only pi knows is left to pi", () => {
    expect(problems({}, { agent: { model: "anthropic/some-model" } })).toEqual([]);
  });
});
