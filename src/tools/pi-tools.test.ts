/** pi tools as each profile gives them: which there are, and what the policy is told of the shell. */
import { expect, test } from "bun:test";
import type { AgentId } from "../contracts/ids.ts";
import { isGiven, piTool } from "./pi-tools.ts";
import type { ToolPolicy } from "./policy.ts";

type Profile = ReturnType<ToolPolicy["profile"]>;

const NAMES = ["read", "grep", "find", "ls", "write", "edit", "bash", "deploy"];
const AGENT = { agentId: "default" as AgentId, role: "owner" } as const;

test.each<[Profile, string]>([
  ["chat", ""],
  ["files", "read grep find ls write edit"],
  ["workspace", "read grep find ls write edit bash"],
  ["full", "read grep find ls write edit bash"],
  [["read", "deploy"], "read deploy"],
  [[], ""],
])("the profile %j gives an agent the tools %p", (profile, given) => {
  expect(NAMES.filter((name) => isGiven(name, profile)).join(" ")).toBe(given);
  const made = NAMES.flatMap((name) => piTool(name, AGENT, { profile: () => profile })?.name ?? []);
  expect(made.join(" ")).toBe(given);
});

test.each<[Profile, object]>([
  ["workspace", { name: "bash", flags: { idempotent: false, ownerOnly: true, workspaceOnly: true } }],
  ["full", { name: "bash", flags: { idempotent: false, elevated: true }, byPi: true }],
  [["bash"], { name: "bash", flags: { idempotent: false, elevated: true }, byPi: true }],
])("the shell of the profile %j is judged as %j", (profile, info) => {
  expect<object | null>(piTool("bash", AGENT, { profile: () => profile })).toEqual(info);
});

test.each([
  ["read", true],
  ["grep", true],
  ["find", true],
  ["ls", true],
  ["write", false],
  ["edit", false],
])("%s works on files of the workspace, and may run again: %p", (name, idempotent) => {
  const info = { name, flags: { idempotent, workspaceOnly: true } };
  expect<object | null>(piTool(name, AGENT, { profile: () => "full" })).toEqual(info);
});
