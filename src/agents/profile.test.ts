import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import { type AgentProfile, agentProfiles, profileFolder, profileSignature } from "./profile.ts";

const profiles = (agents: readonly object[]) => {
  const text = JSON.stringify({ agent: { model: "a/b", systemPrompt: "base", timeoutMs: 5_000 }, agents });
  const { config } = checkConfigText(text, () => undefined);
  if (!config) throw new Error("the test's own configuration is not valid");
  return agentProfiles(config);
};
const named = (map: ReadonlyMap<AgentId, AgentProfile>, id: string): AgentProfile => {
  const found = map.get(id as AgentId);
  if (!found) throw new Error(`no ${id}`);
  return found;
};

test("the default agent is always there, and what an entry leaves out is taken from it", () => {
  const map = profiles([{ id: "x", model: "c/d", role: "guest" }]);
  expect([...map.keys()].map(String)).toEqual(["default", "x"]);
  expect(named(map, "x").config).toMatchObject({ model: "c/d", systemPrompt: "base", timeoutMs: 5_000 });
});

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
])("an agent with %j may share processes with the default one: %p", (changes, same) => {
  const map = profiles([{ id: "x", ...changes }]);
  expect(profileSignature(named(map, "x")) === profileSignature(named(map, "default"))).toBe(same);
});

test("each agent has a folder of its own", () => {
  expect([profileFolder("default" as AgentId), profileFolder("x" as AgentId)]).toEqual([["agent"], ["agents", "x"]]);
});
