/** The harness that authors test their plugins with: what it says is what the gateway would have done. */
import { describe, expect, test } from "bun:test";
import type { GatewayPluginApi, PluginTool } from "../contracts/plugin.ts";
import { defineTool, openHarness } from "./plugin.ts";

const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false } as const;

const registers =
  (...tools: readonly Partial<PluginTool>[]) =>
  (api: GatewayPluginApi): void => {
    for (const over of tools)
      api.registerTool({
        name: "greet",
        description: "Greets.",
        parameters: NO_PARAMETERS,
        execute: async () => ({ content: [{ type: "text", text: "hello" }] }),
        ...over,
      });
  };

const shout = defineTool({
  name: "shout",
  description: "Shouts.",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string" },
      times: { type: "integer", default: 2, maximum: 5 },
      how: { enum: ["loud", "louder"] },
      to: { type: "array", items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
    },
    required: ["text"],
    additionalProperties: false,
  },
  async execute(_callId, params, _signal, onUpdate, context) {
    // these lines do not compile when the types are not those of the schema
    const text: string = params.text;
    const times: number = params.times;
    const how: "loud" | "louder" | undefined = params.how;
    const names: readonly string[] = (params.to ?? []).map(({ name }) => name);
    // @ts-expect-error: the schema has no such parameter
    void params.nothing;
    onUpdate({ content: [{ type: "text", text: "breathing in" }] });
    const said = `${text.toUpperCase().repeat(times)} ${how ?? "-"} ${names.join("+")} ${context.role}`;
    return { content: [{ type: "text", text: said }], details: { times } };
  },
});

describe("the harness", () => {
  test("runs a tool with checked parameters, defaults filled in, and tells its progress and details", async () => {
    await using harness = await openHarness((api) => void api.registerTool(shout));
    const params = { text: "ho", how: "loud", to: [{ name: "Ada" }] };
    expect(await harness.call("shout", params, { role: "member" })).toEqual({
      ok: true,
      text: "HOHO loud Ada member",
      code: null,
      result: { content: [{ type: "text", text: "HOHO loud Ada member" }], details: { times: 2 } },
      progress: ["breathing in"],
    });
    expect(harness.tools().map(({ name }) => name)).toEqual(["shout"]);
  });

  test("refuses what the gateway refuses, with its words and codes", async () => {
    const limited = { name: "limited", limit: { calls: 1, perMs: 60_000 } };
    const owners = { name: "owners", flags: { ownerOnly: true } };
    await using harness = await openHarness(registers({}, limited, owners));
    const codeOf = async (...call: Parameters<typeof harness.call>) => (await harness.call(...call)).code;
    expect(await codeOf("greet", { more: 1 })).toBe("invalid_params");
    expect(await codeOf("gret", {})).toBe("unknown_tool");
    expect([await codeOf("limited", {}), await codeOf("limited", {})]).toEqual([null, "rate_limited"]);
    expect(await codeOf("owners", {}, { role: "member" })).toBe("not_allowed");
    expect(await codeOf("owners", {}, { scope: "group" })).toBe("not_allowed");
    expect(harness.tools("member").map(({ name }) => name)).toEqual(["greet", "limited"]);
  });

  test("asks for approval where it is needed, and the owner answers as the test says", async () => {
    const asks = registers({ approval: true });
    await using denies = await openHarness(asks);
    await using allows = await openHarness(asks, { approve: "once" });
    await using named = await openHarness(registers({}), { ask: ["greet"] });
    const codes = [denies, allows, named].map(async (harness) => (await harness.call("greet", {})).code);
    expect(await Promise.all(codes)).toEqual(["approval_denied", null, "approval_denied"]);
  });

  test("takes calls through the plugin's own hooks, and one call id has one effect", async () => {
    let runs = 0;
    await using harness = await openHarness((api) => {
      registers({ execute: async () => ({ content: [{ type: "text", text: `run ${++runs}` }] }) })(api);
      api.registerHook("before_tool_call", ({ caller }) =>
        caller.role === "guest" ? { block: "not for guests" } : undefined,
      );
    });
    expect((await harness.call("greet", {}, { role: "guest" })).text).toContain("not for guests");
    const twice = [await harness.call("greet", {}, { callId: "a" }), await harness.call("greet", {}, { callId: "a" })];
    expect(twice.map(({ text }) => text)).toEqual(["run 1", "run 1"]);
  });

  test("gives a plugin its settings as the manifest says, with defaults and wrapped secrets", async () => {
    const config = {
      type: "object",
      properties: { city: { type: "string", default: "Oslo" }, key: { type: "string", secret: true } },
      additionalProperties: false,
    };
    const manifest = { id: "weather", version: "1.2.3", main: "index.ts", gateway: "*", config };
    let seen: unknown = null;
    const plugin = (api: GatewayPluginApi): void => {
      const { reveal } = api.config["key"] as { reveal(): string };
      seen = [api.id, api.version, api.config["city"], reveal()];
    };
    await using _harness = await openHarness(plugin, { manifest, config: { key: "k" } });
    expect(seen).toEqual(["weather", "1.2.3", "Oslo", "k"]);
    const wrong = openHarness(plugin, { manifest, config: { town: "Bergen" } });
    await expect(wrong).rejects.toThrow("town");
  });

  test("starts services and ends them, unless it is told not to", async () => {
    const happened: string[] = [];
    const plugin = (api: GatewayPluginApi): void =>
      void api.registerService({
        name: "s",
        start: async () => (happened.push("start"), () => void happened.push("stop")),
      });
    {
      await using harness = await openHarness(plugin);
      expect(harness.provides.services).toEqual(["s"]);
    }
    await using _quiet = await openHarness(plugin, { startServices: false });
    expect(happened).toEqual(["start", "stop"]);
  });

  test("rejects a plugin that does not come up, and names tools that cannot be used", async () => {
    await expect(openHarness(registers({ flags: { ownerOnyl: true } as never }))).rejects.toThrow("ownerOnyl");
    const broken = () => Promise.reject(new Error("no luck"));
    await expect(openHarness(broken)).rejects.toThrow("no luck");
    await using harness = await openHarness(registers({ name: "what is this?" }));
    expect(harness.notices.join()).toStartWith("what is this?: Its name is not 1 to 64 letters");
  });

  test("keeps storage for its time, and logs what the plugin says", async () => {
    await using harness = await openHarness(async (api) => {
      await api.storage.set("n", 1);
      api.log.info("up", { n: await api.storage.get("n") });
    });
    expect(harness.log).toContain('info up {"plugin":"plugin-under-test","n":1}');
  });
});
