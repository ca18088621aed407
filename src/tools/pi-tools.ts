/** pi tools as the policy sees them. They run inside pi; the gate only judges them and writes them down. */
import type { ToolsFilter } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { ToolInfo, ToolPolicy } from "./policy.ts";

const file = (name: string, idempotent: boolean): ToolInfo => ({ name, flags: { idempotent, workspaceOnly: true } });

const PI_TOOLS: ReadonlyMap<string, ToolInfo> = new Map(
  [
    ...["read", "grep", "find", "ls"].map((name) => file(name, true)),
    ...["write", "edit"].map((name) => file(name, false)),
    { name: "bash", flags: { idempotent: false, elevated: true } },
  ].map((facts) => [facts.name, facts]),
);
/** For people who look at the list; models read pi's own. */
export const PI_TOOL_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["read", "Reads a file of the workspace."],
  ["write", "Writes a file of the workspace."],
  ["edit", "Changes parts of a file of the workspace."],
  ["grep", "Searches the files of the workspace for text."],
  ["find", "Finds files of the workspace by name."],
  ["ls", "Lists a folder of the workspace."],
  ["bash", "Runs a shell command as the gateway's user."],
]);
const FILE_TOOLS: readonly string[] = ["read", "write", "edit", "grep", "find", "ls"];

/** Null: the agent does not have it. A tool that only an extension of pi knows may do anything, so it counts as that. */
export function piTool(
  name: string,
  caller: Pick<Caller, "agentId" | "role">,
  policy: Pick<ToolPolicy, "profile">,
): ToolInfo | null {
  if (!isGiven(name, policy.profile(caller.agentId, caller.role))) return null;
  return piToolInfo(name);
}

export function piToolInfo(name: string): ToolInfo {
  return PI_TOOLS.get(name) ?? { name, flags: { idempotent: false, elevated: true } };
}

export function isGiven(name: string, profile: ToolsFilter): boolean {
  switch (profile) {
    case "chat":
      return false;
    case "workspace":
      return FILE_TOOLS.includes(name);
    case "full":
      return PI_TOOLS.has(name);
    default:
      return profile.includes(name);
  }
}
