/** The tools about the gateway itself: whose session may be asked about, and which settings a model may see. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkConfigText, ConfigSchema, publicConfig } from "../../config/index.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { BENCH_CONTEXT, type BuiltinBench, builtinBench } from "../../testing/tools/builtin-bench.ts";
import { gatewayTool, shownConfig } from "./gateway-tool.ts";
import { sessionStatus } from "./session-status.ts";

const OTHER = "agent:default:webchat:dm:other" as SessionKey;
const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
let bench: BuiltinBench;
let mayRestart = false;
let restarts = 0;

function configured(): unknown {
  const text = JSON.stringify({
    gateway: { auth: { token: TOKEN }, allowedHosts: ["secret.example"], commands: { restart: true } },
    agent: { model: "local/one", systemPrompt: "a private instruction" },
    agents: [{ id: "pirate", systemPrompt: "another private one", workspace: "/home/somebody" }],
    roles: { owners: ["telegram:user:1"] },
    models: { providers: { local: { baseUrl: "http://10.0.0.1/v1", apiKey: "key-key-key", models: [{ id: "one" }] } } },
    tools: { webSearch: { provider: "brave", apiKey: "search-key-123" } },
  });
  const { config, problems } = checkConfigText(text, () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return publicConfig(config);
}

beforeAll(async () => {
  bench = await builtinBench(() => [
    sessionStatus({
      async recorded(key) {
        if (key !== OTHER) return null;
        const usage = { inputTokens: 640, outputTokens: 12_340, costUsd: 1.5 };
        return {
          ...usage,
          model: "fake/two",
          messages: 3,
          contextPercent: null,
          contextWindow: null,
          streaming: false,
        };
      },
    }),
    gatewayTool({
      publicConfig: configured,
      reloadConfig: async () => ({ changed: ["logging.level"], needsRestart: [], problems: [] }),
      restart() {
        if (mayRestart) restarts++;
        return mayRestart;
      },
    }),
  ]);
});
afterAll(() => bench[Symbol.asyncDispose]());

describe("session_status", () => {
  test("reports the caller's own session in the form that is documented", async () => {
    const expected = [
      "Model: fake/one",
      "Context: 42.3% (84.6k/200k)",
      "Tokens: 85k in / 12k out",
      "Cost: $0.1234",
      "Messages: 15",
      "Streaming: true",
    ];
    expect((await bench.text("session_status", {})).split("\n")).toEqual(expected);
    const named = { sessionKey: BENCH_CONTEXT.sessionKey };
    expect((await bench.text("session_status", named, { role: "guest" })).split("\n")).toEqual(expected);
  });

  test("reports another session to an owner, from what is on record", async () => {
    expect((await bench.text("session_status", { sessionKey: OTHER })).split("\n")).toEqual([
      "Model: fake/two",
      "Context: not known yet",
      "Tokens: 640 in / 12.3k out",
      "Cost: $1.5000",
      "Messages: 3",
      "Streaming: false",
    ]);
    expect(await bench.call("session_status", { sessionKey: "agent:x:main" })).toMatchObject({
      kind: "failed",
      message: "There is no such session.",
    });
  });

  test.each([
    [null, 200_000, "not known yet"],
    [42.35, null, "42.4%"],
    [100, 1_000, "100.0% (1k/1k)"],
    [1, 999, "1.0% (10/999)"],
  ])("tells of a context of %p percent of %p tokens: %s", async (contextPercent, contextWindow, use) => {
    const stats = async () => ({
      ...(await BENCH_CONTEXT.stats(new AbortController().signal)),
      contextPercent,
      contextWindow,
    });
    expect((await bench.text("session_status", {}, { stats })).split("\n")[1]).toBe(`Context: ${use}`);
  });

  test.each(["member", "guest"] as const)("tells a %s nothing about another session", async (role) => {
    expect(await bench.call("session_status", { sessionKey: OTHER }, { role })).toMatchObject({
      kind: "failed",
      message: "Only this conversation can be asked about. Leave sessionKey out.",
    });
  });

  test.each([[{ sessionKey: true }], [{ session: OTHER }], [{ sessionKey: "x".repeat(513) }]])(
    "refuses %j",
    async (params) => {
      expect(await bench.call("session_status", params)).toMatchObject({ code: "invalid_params" });
    },
  );
});

describe("gateway", () => {
  test("shows the settings on its list and nothing else", async () => {
    const { config } = await bench.json("gateway", { action: "config.get" });
    expect(config).toMatchObject({
      gateway: { port: 18789, bind: "loopback", stopGraceMs: 30_000, commands: { restart: true } },
      agent: { model: "local/one", timeoutMs: 600_000, pool: expect.objectContaining({ min: 1 }) },
      agents: [{ id: "pirate" }],
      models: { providers: { local: { models: [{ id: "one" }] } } },
      session: { dmScope: expect.any(String) },
      queue: expect.objectContaining({ mode: "collect" }),
      media: { maxMb: 25 },
      tools: { webSearch: { provider: "brave" } },
      logging: { level: expect.any(String), retentionDays: expect.any(Number) },
    });
    const text = JSON.stringify(config);
    const hidden = [TOKEN, "key-key-key", "search-key-123", "private instruction", "private one", "/home/somebody"];
    for (const secret of [...hidden, "secret.example", "10.0.0.1", "telegram:user", "not set", '"set"'])
      expect(text).not.toContain(secret);
  });

  test("shows something of every section of the configuration, but for the one that is an address with a password", async () => {
    const { config } = await bench.json("gateway", { action: "config.get" });
    const sections = Object.keys(ConfigSchema.properties).filter((name) => !["$schema", "store"].includes(name));
    expect(Object.keys(config as object).toSorted()).toEqual(sections.toSorted());
  });

  test("hides a setting that nobody has put on the list", () => {
    expect(
      shownConfig({ gateway: { port: 1, brandNew: 2 }, brandNew: { port: 3 }, agents: [{ id: "a", brandNew: 4 }] }),
    ).toEqual({
      gateway: { port: 1 },
      agents: [{ id: "a" }],
    });
  });

  test("reloads, and says what changed", async () => {
    expect(await bench.json("gateway", { action: "reload" })).toEqual({
      reloaded: true,
      changed: ["logging.level"],
      needsRestart: [],
      problems: [],
    });
  });

  test("restarts only when the configuration allows it", async () => {
    expect(await bench.call("gateway", { action: "restart" })).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("gateway.commands.restart"),
    });
    mayRestart = true;
    expect(await bench.json("gateway", { action: "restart" })).toMatchObject({ restarting: true });
    expect(restarts).toBe(1);
  });

  test.each(["member", "guest"] as const)("does nothing for a %s", async (role) => {
    for (const action of ["config.get", "reload", "restart"])
      expect(await bench.call("gateway", { action }, { role })).toMatchObject({
        kind: expect.stringMatching(/failed|refused/),
      });
    expect(restarts).toBe(1);
  });

  test("is for owners, offered only where it is named, and not from groups, schedules or hooks", () => {
    const { flags, origins } = gatewayTool({} as never);
    expect([flags.ownerOnly, flags.optional, origins]).toEqual([true, true, ["chat", "api"]]);
  });

  test.each([[{}], [{ action: "config.set" }], [{ action: "config.get", key: "x" }]])("refuses %j", async (params) => {
    expect(await bench.call("gateway", params)).toMatchObject({ code: "invalid_params" });
  });
});
