/** pi tools as the policy sees them. They run inside pi; the gate only judges them and writes them down. */
import type { ToolsFilter } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { ToolInfo, ToolPolicy } from "./policy.ts";

const file = (name: string, idempotent: boolean): ToolInfo => ({ name, flags: { idempotent, workspaceOnly: true } });

/** It may do whatever its process may. */
const ofPi = (name: string): ToolInfo => ({ name, flags: { idempotent: false, elevated: true }, byPi: true });

const PI_TOOLS: ReadonlyMap<string, ToolInfo> = new Map(
  [
    ...["read", "grep", "find", "ls"].map((name) => file(name, true)),
    ...["write", "edit"].map((name) => file(name, false)),
    ofPi("bash"),
  ].map((facts) => [facts.name, facts]),
);
/** In the sandbox it reaches what the file tools reach, so nobody is asked; it stays with owners, and with chats where one sits. */
const CONFINED_SHELL: ToolInfo = {
  name: "bash",
  flags: { idempotent: false, ownerOnly: true, workspaceOnly: true },
};
/** For people who look at the list; models read pi's own. */
export const PI_TOOL_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["read", "Reads a file of the workspace."],
  ["write", "Writes a file of the workspace."],
  ["edit", "Changes parts of a file of the workspace."],
  ["grep", "Searches the files of the workspace for text."],
  ["find", "Finds files of the workspace by name."],
  ["ls", "Lists a folder of the workspace."],
  ["bash", "Runs a shell command, in the sandbox unless that is switched off."],
]);
const FILE_TOOLS: readonly string[] = ["read", "write", "edit", "grep", "find", "ls"];

/** Null: the agent does not have it. A tool that only an extension of pi knows may do anything, so it counts as that. */
export function piTool(
  name: string,
  caller: Pick<Caller, "agentId" | "role">,
  policy: Pick<ToolPolicy, "profile">,
): ToolInfo | null {
  const profile = policy.profile(caller.agentId, caller.role);
  if (!isGiven(name, profile)) return null;
  return name === CONFINED_SHELL.name && profile === "workspace" ? CONFINED_SHELL : piToolInfo(name);
}

export function piToolInfo(name: string): ToolInfo {
  return PI_TOOLS.get(name) ?? ofPi(name);
}

export function isGiven(name: string, profile: ToolsFilter): boolean {
  switch (profile) {
    case "chat":
      return false;
    case "files":
      return FILE_TOOLS.includes(name);
    case "workspace":
    case "full":
      return PI_TOOLS.has(name);
    default:
      return profile.includes(name);
  }
}
