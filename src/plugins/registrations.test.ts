/** A mistake in what a plugin registers stops the plugin: every verb, with an unknown key, a wrong type and an unknown value. */
import { describe, expect, test } from "bun:test";
import type { GatewayPlugin, GatewayPluginApi } from "../contracts/plugin.ts";
import { MEMBER, OWNER, toolWorld } from "../testing/tools/tool-world.ts";
import { pluginHouse } from "../testing/worlds/plugin-house.ts";
import { readManifest } from "./folder/manifest.ts";
import { SHAPES } from "./run/shapes.ts";

type Fields = Readonly<Record<string, unknown>>;
type Verb = Extract<keyof GatewayPluginApi, `register${string}`>;

const GOOD: Readonly<Record<Exclude<Verb, "registerHook">, Fields>> = {
  registerTool: {
    name: "tide",
    description: "The tide",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }),
  },
  registerCommand: { name: "wave", help: "Waves", roles: ["owner"], run: async () => "hi" },
  registerRoute: { method: "GET", path: "/x", handle: () => null },
  registerService: { name: "s", start: async () => undefined },
  registerSkill: { name: "knots", path: "run/plugin-copy.ts" },
  registerChannel: { id: "pigeon", open: async () => [] },
  registerMcp: { resources: [{ uri: "tide://now", name: "Tide", read: () => ({ text: "high" }) }] },
};

/** How the plugin ended: "running", or the sentence that its owner reads. */
async function outcome(plugin: GatewayPlugin, registry = toolWorld([]).registry): Promise<string> {
  const { start } = pluginHouse(registry);
  return start(plugin).then(
    () => "running",
    (error: { say: string }) => error.say,
  );
}

function registers(verb: Verb, ...given: readonly unknown[]): GatewayPlugin {
  return (api) => void (api[verb] as (...all: readonly unknown[]) => unknown)(...given);
}

const WRONG: readonly (readonly [Exclude<Verb, "registerHook">, Fields, string])[] = [
  ["registerTool", { flags: { ownerOnyl: true } }, "flags.ownerOnyl is not known. Did you mean flags.ownerOnly?"],
  ["registerTool", { flags: { ownerOnly: "no" } }, "flags.ownerOnly is text; it must be true or false."],
  ["registerTool", { flags: ["ownerOnly"] }, "flags is a list of 1 item; it must be an object in { }."],
  ["registerTool", { origins: ["nowhere"] }, 'origins[0] is "nowhere"; it must be one of "chat"'],
  ["registerTool", { origins: ["webhok"] }, 'Did you mean "webhook"?'],
  ["registerTool", { origins: "chat" }, "origins is text; it must be a list"],
  ["registerTool", { timeout: 5 }, "timeout is not known. Did you mean timeoutMs?"],
  ["registerTool", { timeoutMs: "1m" }, "timeoutMs is text; it must be a number above 0."],
  ["registerTool", { timeoutMs: Number.NaN }, "timeoutMs is NaN; it must be a number above 0."],
  ["registerTool", { ownerOnly: true }, "ownerOnly is not known."],
  ["registerTool", { aproval: true }, "aproval is not known. Did you mean approval?"],
  ["registerTool", { approval: "yes" }, "approval is text; it must be true or false."],
  ["registerTool", { limit: { calls: 3, perMin: 1 } }, "limit.perMin is not known. Did you mean limit.perMs?"],
  ["registerTool", { limit: { calls: 0, perMs: 1 } }, "limit.calls is 0; it must be a whole number above 0."],
  ["registerTool", { parameters: "none" }, "parameters is text; it must be an object in { }."],
  ["registerTool", { execute: "rm" }, "execute is text; it must be a function."],
  ["registerTool", { description: undefined }, "description is missing; it must be text."],
  ["registerCommand", { role: ["owner"] }, "role is not known. Did you mean roles?"],
  ["registerCommand", { roles: ["onwer"] }, 'Did you mean "owner"?'],
  ["registerCommand", { roles: "owner" }, "roles is text; it must be a list"],
  ["registerCommand", { roles: [] }, "roles is an empty list; it must be a list in [ ] of at least 1 item"],
  ["registerCommand", { stopsTurn: 1 }, "stopsTurn is 1; it must be true or false."],
  ["registerCommand", { run: undefined }, "run is missing; it must be a function."],
  ["registerRoute", { acess: "public" }, "acess is not known. Did you mean access?"],
  ["registerRoute", { access: "pubic" }, 'access is "pubic"; it must be "owner" or "public". Did you mean "public"?'],
  ["registerRoute", { access: true }, 'access is true; it must be "owner" or "public".'],
  ["registerRoute", { method: "PUT" }, 'method is "PUT"; it must be "GET" or "POST".'],
  ["registerService", { stop: () => undefined }, "stop is not known."],
  ["registerService", { start: undefined }, "start is missing; it must be a function."],
  ["registerService", { name: 5 }, "name is 5; it must be text."],
  ["registerSkill", { file: "run/plugin-copy.ts" }, "file is not known."],
  ["registerSkill", { path: 5 }, "path is 5; it must be text."],
  ["registerChannel", { acess: { dmPolicy: "open" } }, "acess is not known. Did you mean access?"],
  ["registerChannel", { access: { dmpolicy: "disabled" } }, "Did you mean access.dmPolicy?"],
  ["registerChannel", { access: { dmPolicy: "disbled" } }, 'Did you mean "disabled"?'],
  ["registerChannel", { access: { groups: { "1": { allowfrom: [] } } } }, "access.groups.1.allowfrom is not known."],
  ["registerChannel", { access: { accounts: { a: { alowFrom: [] } } } }, "access.accounts.a.alowFrom is not known."],
  ["registerChannel", { access: { guilds: { g: { role: "boss" } } } }, 'access.guilds.g.role is "boss"'],
  ["registerChannel", { open: undefined }, "open is missing; it must be a function."],
];

describe("a registration", () => {
  test.each(Object.entries(GOOD))("of %s without a mistake is accepted", async (verb, good) => {
    expect(await outcome(registers(verb as Verb, good))).toBe("running");
  });

  test.each(WRONG)("by %s with %j stops its plugin with a sentence", async (verb, over, say) => {
    expect(await outcome(registers(verb, { ...GOOD[verb], ...over }))).toContain(say);
  });

  test.each(Object.keys(GOOD) as Exclude<Verb, "registerHook">[])(
    "by %s stops its plugin when it is no object, when any described key is of a wrong type, and when an argument is too many",
    async (verb) => {
      for (const given of [null, undefined, "text", 5, [], Promise.resolve(GOOD[verb])])
        expect([given, await outcome(registers(verb, given))]).toEqual([given, expect.stringContaining("must be")]);
      const shape = SHAPES[verb.slice("register".length).toLowerCase() as keyof typeof SHAPES];
      const keys = "keys" in shape ? Object.keys(shape.keys) : [];
      expect(keys.length).toBeGreaterThan(1);
      for (const key of keys)
        expect([key, await outcome(registers(verb, { ...GOOD[verb], [key]: Symbol("odd") }))]).toEqual([
          key,
          expect.stringContaining(`${key} is a symbol; it must be`),
        ]);
      const extra = await outcome(registers(verb, GOOD[verb], { ownerOnly: true }));
      expect(extra).toBe(`${verb} takes 1 argument, and got 2.`);
    },
  );

  test("of a hook needs a name that exists and a function", async () => {
    const handler = () => ({ block: "no" });
    expect(await outcome(registers("registerHook", "before_tool_call", handler))).toBe("running");
    const late = await outcome(registers("registerHook", "before_tool_calls", handler));
    expect(late).toContain('it is "before_tool_calls"');
    expect(late).toContain('Did you mean "before_tool_call"?');
    for (const name of ["toString", "__proto__", 5, undefined])
      expect(await outcome(registers("registerHook", name, handler))).toContain("must be one of");
    expect(await outcome(registers("registerHook", "gateway_stop", "handler"))).toContain("must be a function");
    expect(await outcome(registers("registerHook", "gateway_stop", handler, {}))).toContain("takes 2 arguments");
  });

  test("that was wrong stops its plugin even when the plugin caught the error", async () => {
    const caught: GatewayPlugin = (api) => {
      try {
        api.registerHook("before_tool_calls" as "before_tool_call", () => ({ block: "no" }));
      } catch {
        // the plugin would go on without its check
      }
    };
    expect(await outcome(caught)).toContain('Did you mean "before_tool_call"?');
  });

  test("of a tool factory is held to the same: a wrong tool for an owner stops the plugin, one for another caller is not there", async () => {
    const bad = { ...GOOD.registerTool, flags: { ownerOnyl: true } };
    expect(await outcome(registers("registerTool", () => bad))).toContain("Did you mean flags.ownerOnly?");
    const world = toolWorld([]);
    const mixed = ({ role }: { role: string }) => (role === "owner" ? GOOD.registerTool : bad);
    expect(await outcome(registers("registerTool", mixed), world.registry)).toBe("running");
    expect(world.gate.specs(OWNER).map(({ name }) => name)).toEqual(["tide"]);
    expect(world.gate.specs(MEMBER)).toEqual([]);
    expect(await world.call({}, { tool: "tide", context: MEMBER })).toMatchObject({ code: "unknown_tool" });
  });

  test("cannot be left without a description: every verb of the API has one", () => {
    const { services } = pluginHouse();
    let verbs: readonly string[] = [];
    return pluginHouse(services.registry)
      .start((api) => {
        verbs = Object.keys(api).filter((key) => key.startsWith("register"));
      })
      .then(() => expect(verbs.toSorted()).toEqual([...Object.keys(GOOD), "registerHook"].toSorted()));
  });

  test("after the start is refused with the same sentence, and the wrong thing is not there", async () => {
    const world = toolWorld([]);
    let late: () => unknown = () => undefined;
    const { start, log } = pluginHouse(world.registry);
    await start((api) => {
      late = () => api.registerTool({ ...GOOD.registerTool, flags: { ownerOnyl: true } } as never);
    });
    expect(late).toThrow("Did you mean flags.ownerOnly?");
    expect(world.registry.list()).toEqual([]);
    expect(log.lines.some(({ words }) => words === "a plugin registered something wrong")).toBe(true);
  });

  test("of news needs a mode that exists", async () => {
    const woken = await outcome((api) => api.wake("hello", "next_heartbeat" as "now"));
    expect(woken).toContain('Did you mean "next-heartbeat"?');
  });
});

describe("plugin.json", () => {
  const good = { id: "a", version: "1.0.0", main: "index.ts", gateway: "*" };
  const why = (over: object) => {
    const read = readManifest(JSON.stringify({ ...good, ...over }), "0.1.0");
    return read.ok ? "fine" : read.why;
  };

  test.each([
    [{ confg: {} }, 'has "confg", which is not a key of it. Did you mean config?'],
    [{ gateway: 1 }, "gateway must say which versions"],
    [{ gateway: ">=nothing" }, "It works with gateway >=nothing"],
    [{ main: "../index.ts" }, "main must name"],
    [{ config: { type: "object", properties: { key: { type: "string", secert: true } } } }, "Did you mean secret?"],
    [
      { config: { type: "object", properties: { key: { type: "string", secret: "yes" } } } },
      "secret must be true or false",
    ],
    [{ config: { type: "object", propertys: {} } }, "Did you mean properties?"],
  ])("with %j is refused with a sentence", (over, say) => {
    expect(why(over)).toContain(say);
  });

  test("with a settings schema of ordinary keywords is accepted", () => {
    const key = { type: "string", secret: true, title: "Key", minLength: 1, "x-order": 1 };
    const config = {
      type: "object",
      properties: { key, list: { type: "array", items: { enum: [1] } } },
      required: ["key"],
    };
    expect(why({ config: { ...config, additionalProperties: false } })).toBe("fine");
  });
});
