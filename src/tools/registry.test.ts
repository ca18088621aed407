/** What the registry promises to plugins and to the gate. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { ToolFactory } from "../contracts/tools/tool.ts";
import { recordingLog } from "../testing/recording-log.ts";
import type { SessionKey } from "../contracts/ids.ts";
import { noSessionTools } from "../testing/tools/quiet-deps.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { createToolRegistry } from "./registry.ts";

const named = (name: string) => tool(async () => says(name), { name });

describe("the registry", () => {
  test("tells every change, with a number that grows, and forgets what is taken away", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    const seen: number[] = [];
    using _listening = registry.onChange(() => void seen.push(registry.revision));
    const one = registry.register(named("one"), "p");
    registry.register(named("two"), "q");
    one[Symbol.dispose]();
    one[Symbol.dispose]();
    expect([seen, registry.list().map(({ name, plugin }) => `${plugin}:${name}`)]).toEqual([[1, 2, 3], ["q:two"]]);
  });

  test("lists a tool with everything that decides who may use it, and who brought it", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    const rules = { origins: ["chat"], approval: true, limit: { calls: 1, perMs: 1_000 } } as const;
    registry.register({ ...named("one"), ...rules }, "p");
    registry.register(() => ({ ...named("two"), ...rules }), "q");
    expect(registry.list()).toMatchObject([
      { name: "one", plugin: "p", ...rules },
      { name: "two", plugin: "q", ...rules },
    ]);
    expect(registry.allUsable(null).map(({ plugin }) => plugin)).toEqual(["p", "q"]);
    expect(registry.usable("two", MEMBER)?.plugin).toBe("q");
  });

  test("finds a tool that a factory makes for some callers alone, by its name and for those", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    registry.register(({ role }) => (role === "member" ? named("first") : null), "p");
    registry.register(({ role }) => (role === "member" ? named("second") : null), "p");
    expect(registry.usable("second", MEMBER)?.tool.name).toBe("second");
    expect([registry.usable("second", OWNER), registry.usable("third", MEMBER)]).toEqual([null, null]);
  });

  test("refuses a name that is taken, and says by whom", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    registry.register(named("one"), "gateway");
    const refusal = (() => {
      try {
        registry.register(named("one"), "stranger");
        return null;
      } catch (error) {
        return isGatewayError(error) ? [error.code, error.say] : error;
      }
    })();
    expect(refusal).toEqual([
      "tool_collision",
      "There is a tool called one already, from gateway. Give this one another name.",
    ]);
    expect(registry.list().length).toBe(1);
  });

  test("quarantines a tool it cannot use, alone: it is listed with the reason and never offered or run", async () => {
    const bad = { ...named("bad"), parameters: { type: "string" } };
    const world = toolWorld([named("good"), bad, { ...named("Bad Name") }]);
    expect(world.registry.list().map(({ name, status, reason }) => [name, status, reason !== undefined])).toEqual([
      ["good", "ok", false],
      ["bad", "quarantined", true],
      ["Bad Name", "quarantined", true],
    ]);
    expect(world.gate.specs(OWNER).map(({ name }) => name)).toEqual(["good"]);
    expect(await world.call({ text: "x" }, { tool: "bad" })).toMatchObject({ code: "unknown_tool" });
  });

  test("says why a tool is quarantined, to whoever calls it and in the log, and to nobody who may not use it", async () => {
    const bad = { ...named("bad"), parameters: { type: "string" } };
    const world = toolWorld([named("good"), bad]);
    const reason = 'The schema must be of type "object" at the top, because parameters have names.';
    expect(await world.call({}, { tool: "bad" })).toMatchObject({
      message: `bad is quarantined and cannot be called. ${reason}`,
    });
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({
        level: "warn",
        words: "tool quarantined",
        fields: { tool: "bad", plugin: "test", reason },
      }),
    );
    world.rules.now = policy({ deny: ["bad"] });
    expect(await world.call({}, { tool: "bad" })).toMatchObject({
      message: "There is no tool called bad. The tools are: good.",
    });
  });

  test.each(["createIssue", "API-post-page", "list-tasks", "X", "_private", "__proto__", "constructor", "3d-render"])(
    "takes the name %s as it is, and finds the tool under it",
    async (name) => {
      const world = toolWorld([named(name)]);
      expect(world.gate.specs(OWNER).map((spec) => spec.name)).toEqual([name]);
      expect(await world.call({ text: "x" }, { tool: name })).toEqual({ kind: "ok", result: says(name) });
    },
  );

  test.each(["", "a b", "näh", "a.b", "a/b", "x".repeat(65)])("quarantines a tool with the name %j", (name) => {
    const [listing] = toolWorld([named(name)]).registry.list();
    expect(listing).toMatchObject({
      status: "quarantined",
      reason: expect.stringContaining("letters, digits, _ or -"),
    });
  });

  test("keeps names that differ in - and _, runs the one that was called, and offers neither as a spelling of the other", async () => {
    const world = toolWorld([named("list_tasks"), named("list-tasks"), named("listTasks")]);
    for (const name of ["list_tasks", "list-tasks", "listTasks"])
      expect(await world.call({ text: "x" }, { tool: name })).toEqual({ kind: "ok", result: says(name) });
    expect(world.gate.specs(OWNER).map(({ otherNames }) => otherNames)).toEqual([undefined, undefined, undefined]);
  });

  test("offers another spelling again when the tool of that name has gone", () => {
    const world = toolWorld([named("list_tasks")]);
    const other = world.registry.register(named("listTasks"), "q");
    const spellings = () => world.gate.specs(OWNER).map(({ name, otherNames }) => `${name}: ${otherNames ?? ""}`);
    expect(spellings()).toEqual(["list_tasks: ", "listTasks: "]);
    other[Symbol.dispose]();
    expect(spellings()).toEqual(["list_tasks: listTasks"]);
  });

  test("never runs another tool for one that is quarantined", async () => {
    const world = toolWorld([named("list_tasks"), { ...named("listTasks"), parameters: { type: "string" } }]);
    expect(await world.call({ text: "x" }, { tool: "listTasks" })).toMatchObject({
      code: "unknown_tool",
      message: expect.stringContaining("listTasks is quarantined"),
    });
  });

  test("refuses a name that differs in case alone, because pi would take one for the other", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    registry.register(named("search"), "a");
    expect(() => registry.register(named("Search"), "b")).toThrow("Search is registered by a");
    expect(registry.usable("SEARCH", null)).toBeNull();
  });

  test("notes what Google does not take, and offers it all the same", () => {
    const [listing] = toolWorld([named("3d-render")]).registry.list();
    expect(listing).toMatchObject({
      status: "ok",
      notices: ["Its name does not begin with a letter or _: Google refuses it."],
    });
  });

  test("goes on when a listener throws", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    let heard = 0;
    registry.onChange(() => {
      throw new Error("broken");
    });
    registry.onChange(() => void heard++);
    registry.register(named("one"), "p");
    expect(heard).toBe(1);
  });

  test("tells a listener as often as it listens, and leaves the other when one stops", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    let heard = 0;
    const listener = () => void heard++;
    const [first] = [registry.onChange(listener), registry.onChange(listener)];
    registry.register(named("one"), "p");
    expect(heard).toBe(2);
    first?.[Symbol.dispose]();
    registry.register(named("two"), "p");
    expect(heard).toBe(3);
  });

  test("gives the gate a tool that is taken away while it runs to the end of that call", async () => {
    const world = toolWorld([]);
    const open = Promise.withResolvers<void>();
    const handle = world.registry.register(
      tool(async () => {
        await open.promise;
        return says("done");
      }),
      "p",
    );
    const outcome = world.call({ text: "x" });
    await world.clock.advance(1);
    handle[Symbol.dispose]();
    open.resolve();
    expect(await outcome).toMatchObject({ kind: "ok" });
    expect(await world.call({ text: "x" })).toMatchObject({ code: "unknown_tool" });
  });
});

describe("a factory", () => {
  const forOwners =
    (made: Caller[]): ToolFactory =>
    (caller) => {
      made.push(caller);
      return caller.role === "owner" ? named("mine") : null;
    };

  test("makes its tool once for a caller, and none for whom it is not", async () => {
    const made: Caller[] = [];
    const world = toolWorld([forOwners(made)]);
    const before = made.length;
    world.gate.specs(OWNER);
    await world.call({ text: "x" }, { tool: "mine" });
    await world.call({ text: "x" }, { tool: "mine" });
    expect(made.length - before).toBe(1);
    expect(world.gate.specs(MEMBER)).toEqual([]);
    expect(await world.call({ text: "x" }, { tool: "mine", context: MEMBER })).toMatchObject({ code: "unknown_tool" });
  });

  test("that makes the same schema for several callers has it inspected once, and another one by itself", () => {
    const registry = createToolRegistry({ log: recordingLog() });
    const schemaFor = ({ role }: Caller) => ({ type: "object", properties: { [role]: { type: "string" } } });
    registry.register((caller) => ({ ...named("mine"), parameters: schemaFor(caller) as never }), "test");
    const [first, again, other] = [{ ...OWNER }, { ...OWNER }, MEMBER].map((who) => registry.usable("mine", who));
    expect(again?.check).toBe(first?.check as never);
    expect(other?.check({ member: 1 }).ok).toBe(false);
    expect(first?.check({ owner: 1 }).ok).toBe(false);
  });

  test("that throws, or makes a tool with the name of another, takes nothing from anybody", async () => {
    const broken: ToolFactory = () => {
      throw new Error("broken");
    };
    const late: ToolFactory = ({ role }) => (role === "member" ? tool(async () => says("stolen")) : null);
    const world = toolWorld([named("echo"), broken, late]);
    expect(await world.call({ text: "x" }, { context: MEMBER })).toEqual({ kind: "ok", result: says("echo") });
    expect(world.gate.specs(MEMBER).length).toBe(1);
  });

  test("whose first tool is wrong fails its registration; one that is wrong later is missing for that caller", () => {
    const wrong = (): never => {
      throw new GatewayError("plugin_invalid", "the tool is wrong");
    };
    const world = toolWorld([]);
    expect(() => world.registry.register(wrong, "test")).toThrow("the tool is wrong");
    world.registry.register(({ role }) => (role === "owner" ? named("mine") : wrong()), "test");
    expect(world.gate.specs(MEMBER)).toEqual([]);
    expect(world.log.lines.map(({ words }) => words)).toContain("tool factory failed");
  });

  test("that makes a tool of another name than at first offers nothing to that caller, and answers nobody else's name", async () => {
    const other: ToolFactory = ({ role }) => named(role === "owner" ? "mine" : "echo");
    const world = toolWorld([named("echo"), other]);
    expect(world.gate.specs(OWNER).map(({ name }) => name)).toEqual(["echo", "mine"]);
    expect(world.gate.specs(MEMBER).map(({ name }) => name)).toEqual(["echo"]);
    expect(await world.call({ text: "x" }, { tool: "mine", context: MEMBER })).toMatchObject({ code: "unknown_tool" });
  });
});

test("an output schema is offered with its tool", () => {
  const outputSchema = { type: "object", properties: { text: { type: "string" } } };
  const world = toolWorld([tool(async () => says("x"), { outputSchema })]);
  expect(world.gate.specs(OWNER)).toMatchObject([{ name: "echo", outputSchema }]);
  expect(toolWorld([named("plain")]).gate.specs(OWNER)[0]).not.toHaveProperty("outputSchema");
});

test("two factories that make a tool of one name for the same caller offer it once", () => {
  const late =
    (who: string): ToolFactory =>
    ({ role }) =>
      role === "member" ? tool(async () => says(who)) : null;
  const world = toolWorld([late("first"), late("second")]);
  expect(world.gate.specs(MEMBER).map(({ name }) => name)).toEqual(["echo"]);
  expect(world.registry.allUsable(MEMBER)).toHaveLength(1);
});

test("whoever stops listening for changes hears of none: not of tools, of sessions, nor of settings", () => {
  const told = new Set<(key: SessionKey) => void>();
  const sessionTools = {
    ...noSessionTools,
    onChange(listener: (key: SessionKey) => void) {
      told.add(listener);
      return { [Symbol.dispose]: () => void told.delete(listener) };
    },
  };
  const world = toolWorld([], { sessionTools });
  const heard: unknown[] = [];
  const listening = world.gate.onChange((key) => void heard.push(key));
  const change = (): void => {
    world.registry.register(named(`tool${heard.length}`), "test");
    for (const tell of told) tell(OWNER.sessionKey);
    world.events.emit("status", { what: "config" });
  };
  change();
  expect(heard).toEqual([null, OWNER.sessionKey, null]);
  listening[Symbol.dispose]();
  change();
  expect([heard.length, told.size]).toEqual([3, 0]);
});

test("a tool with the name of something that every object has is limited and permitted like any other", async () => {
  const world = toolWorld([named("constructor"), named("toString")]);
  for (const name of ["constructor", "toString"])
    expect(await world.call({ text: "x" }, { tool: name })).toEqual({ kind: "ok", result: says(name) });
});

test("a tool that may be used, or that is not made for this caller, is not told as quarantined", async () => {
  const registry = createToolRegistry({ log: recordingLog() });
  registry.register(named("one"), "p");
  registry.register((caller) => (caller.role === "owner" ? named("two") : null), "p");
  registry.register({ ...named("three"), parameters: { type: "nonsense" } }, "p");
  expect(["one", "two", "three", "four"].map((name) => registry.quarantined(name)?.tool.name)).toEqual([
    undefined,
    undefined,
    "three",
    undefined,
  ]);
  const world = toolWorld([(caller) => (caller.role === "owner" ? named("two") : null)]);
  const outcome = await world.call({ text: "x" }, { tool: "two", context: MEMBER });
  expect(outcome).toMatchObject({ kind: "refused", code: "unknown_tool" });
  expect(JSON.stringify(outcome)).not.toContain("quarantined");
});
