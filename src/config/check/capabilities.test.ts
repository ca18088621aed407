/** Keys that take values of several kinds, and what agents and roles may be given. */
import { describe, expect, test } from "bun:test";
import { checkConfigText, publicConfig } from "../index.ts";

const check = (file: object) => checkConfigText(JSON.stringify(file), () => undefined);
const said = (file: object) => check(file).problems.map(({ message }) => message);

describe("agent.tools", () => {
  test.each([["chat"], ["files"], ["workspace"], ["full"], [[]], [["read", "web_search"]]])("may be %j", (tools) => {
    expect(check({ agent: { tools } }).config?.agent.tools as unknown).toEqual(tools);
    expect(publicConfig(check({ agent: { tools } }).config ?? fail())).toMatchObject({ agent: { tools } });
  });

  test("is left to the sandbox unless said otherwise", () => {
    expect(check({}).config?.agent.tools).toBeUndefined();
  });

  test.each([
    [
      "ful",
      'agent.tools is "ful"; it must be "chat", "files", "workspace", "full", or a list of tool names in [ ]. Did you mean "full"?',
    ],
    [true, 'agent.tools is true; it must be "chat", "files", "workspace", "full", or a list of tool names in [ ].'],
    [{}, 'agent.tools is an object; it must be "chat", "files", "workspace", "full", or a list of tool names in [ ].'],
    [["rm -rf"], 'agent.tools[0] is "rm -rf"; it must be the name of a tool.'],
    [["--tools"], 'agent.tools[0] is "--tools"; it must be the name of a tool.'],
    [[1], "agent.tools[0] is 1; it must be the name of a tool."],
  ])("is refused with a sentence when it is %j", (tools, message) => {
    expect(said({ agent: { tools } })).toEqual([message]);
  });
});

test("agent.bridge warns when it is off, because then there are no tools, and is quiet otherwise", () => {
  const warned = (file: object) => check(file).warnings.map(({ path }) => path);
  expect(warned({ agent: { bridge: "off" }, agents: [{ id: "a" }, { id: "b", bridge: "off" }] })).toEqual([
    "agent.bridge",
    "agents[1].bridge",
  ]);
  expect(check({ agent: { bridge: "off" } }).warnings[0]?.message).toContain("no tools at all");
  for (const bridge of ["live", "minimal"]) expect(warned({ agent: { bridge } })).toEqual([]);
});

describe("agent.gatewayPrompts", () => {
  test.each([true, false, "Say OK."])("takes %j for a part, and leaves the others on", (cron) => {
    expect(check({ agent: { gatewayPrompts: { cron } } }).config?.agent.gatewayPrompts).toEqual({
      heartbeat: true,
      cron,
      media: true,
    });
  });

  test.each([[1], [""], [[]]])("refuses %j", (media) => {
    expect(said({ agent: { gatewayPrompts: { media } } })[0]).toContain(
      "it must be true, false, or text of at most 20000 characters.",
    );
  });
});

describe("roles.profiles", () => {
  test("takes a folder, tools and a model for a role, and refuses what is not a role or a setting", () => {
    const guest = { workspace: "/g", tools: ["web_search"], model: "a/b" };
    expect(check({ roles: { profiles: { guest } } }).config?.roles.profiles).toEqual({ guest } as never);
    expect(said({ roles: { profiles: { gest: {} } } })[0]).toContain("Did you mean roles.profiles.guest?");
    expect(said({ roles: { profiles: { guest: { tool: "chat" } } } })[0]).toContain("roles.profiles.guest.tools");
  });

  test("names a model that its provider lists", () => {
    const models = { providers: { local: { baseUrl: "http://h", models: [{ id: "m1" }] } } };
    const file = { models, roles: { profiles: { member: { model: "local/m2" } } } };
    expect(said(file)[0]).toContain('roles.profiles.member.model is "local/m2", but models.providers.local does not');
  });
});

describe("skills", () => {
  test.each([
    [{ skills: ["/s"] }, [], []],
    [{ skills: ["/s"], tools: "chat" }, [], ["agent.skills"]],
    [{ skills: ["/s"], tools: "files" }, [], []],
    [{ skills: ["/s"], tools: "workspace" }, [], []],
    [{ skills: ["/s"], tools: ["bash"] }, [], []],
    [{ skills: ["/s"], tools: ["grep"] }, [], ["agent.skills"]],
    [{ tools: "full" }, [{ id: "x", skills: ["/s"] }], []],
    [{ tools: "chat" }, [{ id: "x", skills: ["/s"] }], ["agents[0].skills"]],
    [{ skills: ["/s"], tools: "full" }, [{ id: "x", tools: "chat" }], ["agents[0].skills"]],
  ])("of %j and %j that no tool can read are warned of: %j", (agent, agents, paths) => {
    expect(check({ agent, agents }).warnings.map(({ path }) => path)).toEqual(paths);
  });
});

function fail(): never {
  throw new Error("the configuration was not taken");
}
