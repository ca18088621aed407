/** What processes are compared by, and what a role changes about an agent. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import { type AgentProfile, agentProfiles, covers, profileFolder, profileKey, profileSignature } from "./profile.ts";

const profiles = (agents: readonly object[], profiles: object = {}, agent: object = {}) => {
  const base = { model: "a/b", systemPrompt: "base", timeoutMs: 5_000, ...agent };
  const { config, problems } = checkConfigText(
    JSON.stringify({ agent: base, agents, roles: { profiles } }),
    () => undefined,
  );
  if (!config) throw new Error(`the test's own configuration is not valid: ${JSON.stringify(problems)}`);
  return agentProfiles(config, "full");
};
const named = (map: ReadonlyMap<string, AgentProfile>, id: string, role: Role = "owner"): AgentProfile => {
  const found = map.get(profileKey(id as AgentId, role));
  if (!found) throw new Error(`no ${id}`);
  return found;
};

test("the default agent is always there for every role, and what an entry leaves out is taken from it", () => {
  const map = profiles([{ id: "x", model: "c/d", role: "guest", gatewayPrompts: { cron: false } }]);
  expect([...map.keys()]).toEqual([
    ...["default/owner", "default/member", "default/guest"],
    ...["x/owner", "x/member", "x/guest"],
  ]);
  expect(named(map, "x").config).toMatchObject({
    model: "c/d",
    systemPrompt: "base",
    timeoutMs: 5_000,
    gatewayPrompts: { heartbeat: true, cron: false, media: true },
  });
});

describe("the signature", () => {
  test.each([
    [{}, true],
    [{ role: "guest" }, true],
    [{ model: "a/b" }, true],
    [{ model: "c/d" }, false],
    [{ thinking: "low" }, false],
    [{ systemPrompt: "other" }, false],
    [{ appendSystemPrompt: "more" }, false],
    [{ workspace: "/elsewhere" }, false],
    [{ timeoutMs: 6_000 }, false],
    [{ tools: "chat" }, false],
    [{ tools: "workspace" }, true],
    [{ tools: ["read"] }, false],
    [{ skills: ["/s"] }, false],
    [{ gatewayPrompts: { cron: false } }, true], // there are no jobs, so nothing is said about them either way
  ])("of an agent with %j is that of the default one: %p", (changes, same) => {
    const map = profiles([{ id: "x", ...changes }]);
    const [x, base] = [named(map, "x"), named(map, "default")];
    expect(profileSignature(x)).toEqual(
      same ? profileSignature(base) : expect.not.objectContaining(profileSignature(base)),
    );
  });

  test("changes with what the instructions speak of", () => {
    const base = named(profiles([]), "default");
    const withMedia = profileSignature(base, { heartbeat: false, cron: false, media: true });
    expect(covers(withMedia, profileSignature(base))).toBe(false);
  });

  test.each([
    [["/a", "/b"], ["/a"], true],
    [["/a"], ["/a"], true],
    [["/b", "/a"], ["/a", "/b"], true],
    [["/a"], ["/a", "/b"], false],
    [[], ["/a"], false],
    [["/a"], [], true],
  ])("with the skills %j covers one that wants %j: %p", (has, wants, fits) => {
    const of = (skills: readonly string[]) =>
      profileSignature(named(profiles([], {}, { skills, tools: "workspace" }), "default"));
    expect(covers(of(has), of(wants))).toBe(fits);
  });

  test("keeps a skill, an extension and a template of the same path apart", () => {
    const of = (agent: object) => profileSignature(named(profiles([], {}, agent), "default"));
    expect(covers(of({ extensions: ["/x"] }), of({ promptTemplates: ["/x"] }))).toBe(false);
  });
});

describe("a role", () => {
  const toolsOf = (map: ReadonlyMap<string, AgentProfile>) =>
    (["owner", "member", "guest"] as const).map((role) => named(map, "default", role).config.tools);

  test.each([
    ["chat", ["chat", "chat", "chat"]],
    ["workspace", ["workspace", "chat", "chat"]],
    ["files", ["files", "chat", "chat"]],
    ["full", ["full", "chat", "chat"]],
    [
      ["read", "bash", "web_search"],
      [["read", "bash", "web_search"], ["web_search"], ["web_search"]],
    ],
  ])("other than owner gets none of the pi tools from agent.tools %j", (tools, expected) => {
    expect(toolsOf(profiles([], {}, { tools })) as unknown).toEqual(expected);
  });

  test("gets them when its own profile says so, and can be given fewer than owners", () => {
    const map = profiles([], { member: { tools: "workspace" }, owner: { tools: ["notes"] } }, { tools: "full" });
    expect(toolsOf(map)).toEqual([["notes"], "files", "chat"]); // a shell is for owners
  });

  test("has its own working folder and model before those of the agent", () => {
    const map = profiles([{ id: "x", workspace: "/x", model: "x/y" }], { guest: { workspace: "/g", model: "g/h" } });
    expect(named(map, "x", "guest").config).toMatchObject({ workspace: { path: "/g" }, model: "g/h" });
    expect(named(map, "x", "member").config).toMatchObject({ workspace: { path: "/x" }, model: "x/y" });
    expect(covers(profileSignature(named(map, "x")), profileSignature(named(map, "x", "guest")))).toBe(false);
  });
});

test("each agent has a folder of its own, and so has a role that differs", () => {
  expect([profileFolder("default" as AgentId), profileFolder("x" as AgentId, "owner")]).toEqual([
    ["agent"],
    ["agents", "x"],
  ]);
  expect(profileFolder("x" as AgentId, "guest")).toEqual(["roles", "guest", "x"]);
});
