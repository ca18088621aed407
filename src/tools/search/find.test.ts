/** `tool_search` through the gate: what it finds, for whom, and what an agent is offered after that. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { Tool, ToolContext } from "../../contracts/tools/tool.ts";
import { createToolIndex } from "../../store/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { realStore } from "../../testing/real-store.ts";
import { MEMBER, OWNER, PROGRAM, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { createSessionTools, createToolFinder, toolSearch, usableTools } from "../index.ts";
import { mayUse, type ToolPolicy } from "../policy.ts";
import type { UsableTool } from "../registry.ts";

const made = (name: string, over: Partial<Tool> = {}): Tool =>
  tool(async () => says(`${name} done`), {
    name,
    label: name,
    description: `Works with ${name.split("_")[0]}.`,
    parameters: { type: "object", properties: {}, additionalProperties: false },
    ...over,
  });

const SERVICES = ["mail", "calendar", "github", "notion", "weather", "music", "maps", "lights"];
const many = SERVICES.flatMap((service) => Array.from({ length: 10 }, (_, n) => made(`${service}_thing${n}`)));

async function searchWorld(tools: readonly Tool[] = many, rules: Partial<ToolPolicy> = {}) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const open = () => createSessionTools({ clock, log: recordingLog(), store: real.store.sessionTools });
  const sessionTools = open();
  const world = toolWorld(tools, { sessionTools });
  world.rules.now = policy(rules);
  const index = createToolIndex();
  const { registry, rules: current } = world;
  const usable = (caller: Caller) => usableTools({ registry, policy: () => current.now }, caller);
  const toolFinder = createToolFinder({ usable, index, sessionTools });
  world.registry.register(toolSearch({ toolFinder }), "gateway");
  const search = async (query: string, context: ToolContext = OWNER, limit?: number) => {
    const outcome = await world.call({ query, ...(limit ? { limit } : {}) }, { tool: "tool_search", context });
    if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
    const details = outcome.result.details as { tools: { name: string; parameters?: unknown }[]; note: string };
    return { names: details.tools.map(({ name }) => name), ...details };
  };
  return {
    ...world,
    search,
    offered: async (caller: Caller | null = OWNER) => (await world.gate.offered(caller, true)).map(({ name }) => name),
    /** As a gateway that was started again would say it. */
    afterRestart: () => open().of(OWNER.sessionKey),
    async [Symbol.asyncDispose]() {
      index[Symbol.dispose]();
      await real[Symbol.asyncDispose]();
    },
  };
}

describe("tool_search", () => {
  test("gives the best tools with their schemas, and from then on the agent has them, at the end of its list", async () => {
    await using world = await searchWorld();
    expect(await world.offered()).toEqual(["tool_search"]);
    const found = await world.search("calendar thing3", OWNER, 3);
    expect([found.names[0], found.names.length]).toEqual(["calendar_thing3", 3]);
    expect(found.tools[0]?.parameters).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(await world.offered()).toEqual(["tool_search", ...found.names]);
    await world.search("mail_thing1", OWNER, 1);
    expect(await world.offered()).toEqual(["tool_search", ...found.names, "mail_thing1"]);
    expect(await world.afterRestart()).toEqual([...found.names, "mail_thing1"]);
  });

  test("describes each tool in 600 characters, and gives schemas as long as all of them together have room", async () => {
    const properties = { text: { type: "string", description: "x".repeat(7_000) } };
    const parameters = { type: "object", properties, additionalProperties: false };
    const large = ["one", "two", "three"].map((n) =>
      made(`paint_${n}`, { parameters, description: "paint ".repeat(200) }),
    );
    await using world = await searchWorld([...many, ...large]);
    const { tools } = await world.search("paint", OWNER, 3);
    expect(tools.map((one) => "parameters" in one)).toEqual([true, true, false]);
    expect(tools.map((one) => (one as unknown as { description: string }).description.length)).toEqual([600, 600, 600]);
  });

  test("an exact name comes first, whatever else has its words", async () => {
    await using world = await searchWorld([...many, made("thing"), made("thing_thing_thing")]);
    expect((await world.search("thing", OWNER, 2)).names[0]).toBe("thing");
  });

  test("an exact name counts among as many as were asked for", async () => {
    await using world = await searchWorld();
    expect((await world.search("music_thing1", OWNER, 1)).names).toEqual(["music_thing1"]);
    expect((await world.search("music_thing1", OWNER, 3)).names).toHaveLength(3);
    expect((await world.search("  music_thing1\n", OWNER, 1)).names).toEqual(["music_thing1"]);
  });

  test("a tool is found by the plugin that brings it", async () => {
    await using world = await searchWorld();
    world.registry.register(made("API-post-page"), "paperwork");
    expect((await world.search("paperwork")).names).toEqual(["API-post-page"]);
  });

  test("other sessions have what they had, and are not told", async () => {
    await using world = await searchWorld();
    const told: (SessionKey | null)[] = [];
    using _listening = world.gate.onChange((key) => void told.push(key));
    await world.search("weather", OWNER, 1);
    const other = { ...OWNER, sessionKey: "agent:default:webchat:dm:2" as SessionKey };
    expect(await world.offered(other)).toEqual(["tool_search"]);
    expect(told).toEqual([OWNER.sessionKey]);
  });

  test("a program that is in no turn gets names and schemas, and nothing is switched on", async () => {
    await using world = await searchWorld();
    const { names, note } = await world.search("weather", PROGRAM);
    expect([names.length, note]).toEqual([5, "Call them by name."]);
    expect(await world.offered()).toEqual(["tool_search"]);
  });

  test("words that no tool has are answered with how to go on", async () => {
    await using world = await searchWorld();
    expect(await world.search("zzz")).toMatchObject({ names: [], note: expect.stringContaining("None of 80 tools") });
  });

  test("plugins that come and go are in the next answer, and the tool of a session that is gone is offered no more", async () => {
    await using world = await searchWorld();
    const plugin = world.registry.register(made("submarine_dive"), "submarine");
    expect((await world.search("submarine")).names).toEqual(["submarine_dive"]);
    expect(await world.offered()).toEqual(["tool_search", "submarine_dive"]);
    plugin[Symbol.dispose]();
    expect((await world.search("submarine")).names).toEqual([]);
    expect(await world.offered()).toEqual(["tool_search"]);
    world.registry.register(made("submarine_dive", { description: "Goes under water." }), "submarine");
    expect((await world.search("under water")).names).toEqual(["submarine_dive"]);
  });

  test("large schemas are left out of the answer, which the model gets with the tool itself", async () => {
    const properties = Object.fromEntries(Array.from({ length: 800 }, (_, n) => [`p${n}`, { type: "string" }]));
    const large = Array.from({ length: 4 }, (_, n) =>
      made(`large_${n}`, { parameters: { type: "object", properties } }),
    );
    await using world = await searchWorld([...many, ...large]);
    const { tools } = await world.search("large");
    expect([tools.length, tools.filter(({ parameters }) => parameters).length]).toEqual([4, 0]);
  });

  test("a call over the pipe keeps its tool in the session; calls of built-in tools and of programs keep nothing", async () => {
    await using world = await searchWorld();
    await world.call({}, { tool: "music_thing1" });
    await world.call({}, { tool: "music_thing2", path: "http" });
    await world.search("lights_thing1", OWNER, 1); // stored after all that was noted before
    expect(await world.offered()).toEqual(["tool_search", "music_thing1", "lights_thing1"]);
  });

  test("few tools are all offered without the search, and a caller who may not search is offered many", async () => {
    await using few = await searchWorld(many.slice(0, 60));
    expect(await few.offered()).toHaveLength(60);
    await using denied = await searchWorld(many, { deny: ["tool_search"] });
    expect(await denied.offered()).toHaveLength(80);
    expect(await denied.offered(null)).toHaveLength(80);
    expect(await denied.call({ query: "mail" }, { tool: "tool_search" })).toMatchObject({ code: "not_allowed" });
  });

  test("the search says from where other tools come, and says it with one and the same object", async () => {
    await using world = await searchWorld();
    const [first] = await world.gate.offered(OWNER, true);
    const [second] = await world.gate.offered({ ...OWNER }, true);
    expect(first?.description).toEndWith("They come from: test.");
    expect(second).toBe(first as never);
  });
});

test("everybody finds exactly what they may use, whatever list, flag or factory says so", async () => {
  const flagged = [
    made("mail_owner", { flags: { idempotent: true, ownerOnly: true } }),
    made("mail_optional", { flags: { idempotent: true, optional: true } }),
    made("mail_files", { flags: { idempotent: true, workspaceOnly: true } }),
    made("mail_chat", { origins: ["chat"] }),
  ];
  const rules: Partial<ToolPolicy> = {
    deny: ["mail_thing0"],
    roles: { member: { deny: ["mail_thing1"] }, guest: { allow: ["mail_thing2", "tool_search"] } },
    agents: { other: { deny: ["mail_thing3"] } },
    principals: { "telegram:user:7": { deny: ["mail_thing4"] } },
    origins: { cron: { deny: ["mail_thing5"] }, group: { allow: ["mail_*", "tool_search"] } },
    limits: { tool_search: { calls: 10_000, perMs: 60_000 } },
    keyTools: (principal) => (principal.startsWith("key:") ? ["mail_thing6", "tool_search"] : undefined),
    profile: (agentId) => (agentId === "listed" ? ["mail_thing7", "tool_search"] : "chat"),
  };
  await using world = await searchWorld([...many, ...flagged], rules);
  world.registry.register((caller) => (caller.role === "owner" ? made("mail_made") : null), "test");
  const callers: readonly ToolContext[] = [
    OWNER,
    MEMBER,
    PROGRAM,
    { ...OWNER, role: "guest" },
    { ...OWNER, agentId: "other" as AgentId },
    { ...OWNER, agentId: "listed" as AgentId },
    { ...OWNER, principal: "key:user:key-1" as Principal },
    { ...OWNER, cause: "cron" },
    { ...OWNER, scope: "group" },
    { ...MEMBER, cause: "heartbeat" },
    { ...OWNER, askedBy: MEMBER },
  ];
  const all = [...many, ...flagged, made("mail_made")].filter(({ name }) => name.startsWith("mail_"));
  for (const caller of callers) {
    const may = all.filter(
      (one) => mayUse(one, caller, world.rules.now).may && (one.name !== "mail_made" || caller.role === "owner"),
    );
    const found = new Set<string>();
    for (const { name } of all) for (const one of (await world.search(name, caller, 10)).names) found.add(one);
    const mail = [...found].filter((name) => name.startsWith("mail_"));
    expect([caller, mail.toSorted()]).toEqual([caller, may.map(({ name }) => name).toSorted()]);
    const offered = await world.offered(caller);
    expect(
      offered.filter((name) => name !== "tool_search" && !mayUse(made(name), caller, world.rules.now).may),
    ).toEqual([]);
  }
});

/** A finder over these tools, whose index knows nothing but their order. */
function finderOf(names: readonly string[]) {
  const on: (readonly [SessionKey, readonly string[]])[] = [];
  const stored = Promise.withResolvers<void>();
  const finder = createToolFinder({
    usable: () => names.map((name) => ({ ...({} as UsableTool), tool: made(name), plugin: "p" })),
    index: { search: (texts, _words, limit) => texts.slice(0, limit), [Symbol.dispose]: () => undefined },
    sessionTools: {
      switchOn(key, tools) {
        on.push([key, tools]);
        return stored.promise;
      },
    },
  });
  return { finder, on, stored };
}

test("an exact name, with spaces around it too, comes before what the index ranks, and counts among as many as were asked for", async () => {
  const { finder, stored } = finderOf(["a", "b", "c", "exact"]);
  stored.resolve();
  const found = async (query: string, limit: number) =>
    (await finder.find(query, limit, OWNER)).tools.map(({ name }) => name);
  expect(await found("exact", 2)).toEqual(["exact", "a"]);
  expect(await found("  exact\n", 3)).toEqual(["exact", "a", "b"]);
  expect(await found("exactly", 3)).toEqual(["a", "b", "c"]);
  expect(await found("b", 3)).toEqual(["b", "a", "c"]);
});

test("a tool that is found is switched on before it is told, in the session of the caller, and none is for a program or for no find", async () => {
  const { finder, on, stored } = finderOf(["a", "b", "tool_search"]);
  let told: unknown = null;
  const finding = finder.find("x", 2, OWNER).then((found) => (told = found));
  await Promise.resolve();
  expect([told, on]).toEqual([null, [[OWNER.sessionKey, ["a", "b"]]]]);
  stored.resolve();
  await finding;
  expect(told).toMatchObject({ among: 2, switchedOn: true });
  expect(await finder.find("x", 2, PROGRAM)).toMatchObject({ among: 2, switchedOn: false });
  expect(await finder.find("x", 0, OWNER)).toMatchObject({ tools: [], among: 2, switchedOn: true });
  expect(on).toHaveLength(1);
});
