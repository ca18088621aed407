/** What a plugin registers while it lives: there at once, gone once, called with the signal of its caller, and not there twice. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import type { GatewayPlugin, PluginTool } from "../../contracts/plugin.ts";
import { pluginHouse } from "../../testing/worlds/plugin-house.ts";

type PluginApi = Parameters<GatewayPlugin>[0];

const NEVER = new AbortController().signal;

function tool(name: string, more: Partial<PluginTool> = {}): PluginTool {
  const parameters = { type: "object", properties: {}, additionalProperties: false };
  return {
    name,
    description: name,
    parameters,
    execute: async () => ({ content: [{ type: "text", text: "done" }] }),
    ...more,
  };
}

async function running(init: (api: PluginApi) => void = () => undefined) {
  const house = pluginHouse();
  const got = Promise.withResolvers<PluginApi>();
  const plugin = await house.start((api) => {
    got.resolve(api);
    init(api);
  });
  return { ...house, plugin, api: await got.promise };
}

test("plugin api: what is registered after the start is there at once, and its handle removes it once", async () => {
  const { api, tools, plugin } = await running();
  const first = api.registerTool(tool("later"));
  expect([tools.has("later"), plugin.provides().tools]).toEqual([true, ["later"]]);
  first[Symbol.dispose]();
  expect([tools.has("later"), plugin.provides().tools]).toEqual([false, []]);
  api.registerTool(tool("later"));
  first[Symbol.dispose](); // an old handle does nothing to a new tool
  expect(tools.has("later")).toBe(true);
  await plugin.stop();
  expect([tools.size, plugin.provides().tools]).toEqual([0, []]);
});

test("plugin api: a plugin that was stopped begins no turn any more", async () => {
  const house = pluginHouse();
  const told: string[] = [];
  const got = Promise.withResolvers<PluginApi>();
  const tellMain = async (source: string) => (told.push(source), { kind: "ok" }) as never;
  Object.assign(house.services, { tellMain });
  const plugin = await house.start((api) => got.resolve(api));
  const api = await got.promise;
  await api.wake("while it runs");
  await plugin.stop();
  await expect(api.wake("after its end")).rejects.toThrow();
  expect(told).toEqual(["plugin one"]);
});

test("plugin api: a stop withdraws what was registered after the start, in the opposite order, also when one refuses", async () => {
  const { api, plugin, commands, hooks, log, services } = await running();
  const undone: string[] = [];
  services.skills.add = () => ({
    [Symbol.dispose]() {
      undone.push("skill");
      throw new Error("busy");
    },
  });
  api.registerCommand({ name: "wave", help: "", roles: ["owner"], run: async () => "hi" });
  api.registerSkill({ name: "knots", path: "run/plugin-copy.ts" });
  api.registerHook("gateway_start", () => undefined);
  await plugin.stop();
  expect([undone, commands.size, hooks.of("gateway_start")]).toEqual([["skill"], 0, []]);
  expect(log.lines.map(({ words }) => words)).toContain("something of a plugin could not be withdrawn");
});

test("plugin api: the same command, service or skill twice is a mistake with a sentence", async () => {
  const twice: readonly ((api: PluginApi) => void)[] = [
    (api) => api.registerService({ name: "s", start: async () => undefined }),
    (api) => void api.registerSkill({ name: "knots", path: "run/plugin-copy.ts" }),
  ];
  for (const register of twice)
    await expect(
      running((api) => {
        register(api);
        register(api);
      }),
    ).rejects.toMatchObject({ say: expect.stringContaining("twice") });
});

test("plugin api: a tool keeps the flags of its author, and what is left out has a safe value", async () => {
  const { tools } = await running((api) => {
    api.registerTool(tool("careful", { flags: { ownerOnly: true, idempotent: true } }));
    api.registerTool(tool("plain"));
  });
  expect([tools.get("careful")?.flags, tools.get("plain")?.flags]).toEqual([
    { ownerOnly: true, idempotent: true },
    { idempotent: false },
  ]);
});

test("plugin api: hooks and commands get the signal of their caller", async () => {
  const heard: AbortSignal[] = [];
  const { hooks, commands } = await running((api) => {
    api.registerHook("before_tool_call", (_event, signal) => void heard.push(signal));
    const run = async (...given: unknown[]) => (heard.push(given[2] as AbortSignal), "hi");
    api.registerCommand({ name: "wave", help: "", roles: ["owner"], run });
  });
  const { signal } = new AbortController();
  await hooks.of("before_tool_call")[0]?.handler({} as never, signal);
  await commands.get("wave")?.run("", {} as never, signal);
  expect(heard.map((one) => one === signal)).toEqual([true, true]);
});

test("plugin api: a command that fails says so; one that is cancelled, or refuses in the gateway's words, is not hidden", async () => {
  const { commands } = await running((api) => {
    const run = async (args: string) => {
      if (args === "refuse") throw new GatewayError("plugin_invalid", "no", { say: "No." });
      throw new Error("broken");
    };
    api.registerCommand({ name: "wave", help: "", roles: ["owner"], run });
  });
  const wave = commands.get("wave");
  expect(await wave?.run("", {} as never, NEVER)).toBe("/wave did not work. The gateway's log has the reason.");
  await expect(wave?.run("refuse", {} as never, NEVER) as Promise<unknown>).rejects.toMatchObject({ say: "No." });
  await expect(wave?.run("", {} as never, AbortSignal.abort()) as Promise<unknown>).rejects.toThrow("broken");
});
