import { expect, test } from "bun:test";
import type { Workspace } from "../../config/index.ts";
import type { Principal } from "../../contracts/ids.ts";
import { agentWorkspace, overriddenWorkspace, workspaceFor } from "./workspace.ts";

const machine = { home: "/state", environment: { userHome: "/home/ann" } };
const [ann, bob] = ["web:user:ann" as Principal, "web:user:bob" as Principal];
type Setting = Workspace | undefined;

test.each<[Workspace, string]>([
  ["~/work", "/home/ann/work"],
  [{}, "/state/workspace"],
  [{ path: "~/work" }, "/home/ann/work"],
  [{ path: "/srv/work", scope: "agent" }, "/srv/work"],
])("an agent with the workspace %j works in %s for everybody", (workspace, expected) => {
  expect([ann, bob].map((one) => workspaceFor({ workspace }, machine, one))).toEqual([expected, expected]);
});

test("with the scope person each person has a folder of their own below the shared one", () => {
  const workspace = { path: "/srv/work", scope: "person" } as const;
  const folders = [ann, bob, ann].map((one) => workspaceFor({ workspace }, machine, one));
  expect(folders[0]).toBe(folders[2] ?? "");
  expect(folders[0]).not.toBe(folders[1] ?? "");
  for (const folder of folders) expect(folder).toStartWith("/srv/work/people/web-user-");
  expect(agentWorkspace({ workspace }, machine)).toBe("/srv/work");
});

test.each<[Setting, Setting, Workspace]>([
  [undefined, undefined, { scope: "agent" }],
  [undefined, "a", { path: "a", scope: "agent" }],
  ["a", undefined, { path: "a", scope: "agent" }],
  ["a", "b", { path: "b", scope: "agent" }],
  [{ scope: "person" }, "b", { path: "b", scope: "person" }],
  [{ path: "a", scope: "person" }, { scope: "agent" }, { path: "a", scope: "agent" }],
])("settings %j with %j of an agent in their place are %j", (settings, own, expected) => {
  expect(overriddenWorkspace(settings, own)).toEqual(expected);
});
