/** pi tools: which of them a profile has. For whom a profile has them is decided in profile.ts. Pure. */
import type { ToolsFilter } from "../../config/index.ts";
import type { Role } from "../../contracts/ids.ts";
import type { SandboxTier } from "../../contracts/sandbox.ts";

const FILES = ["read", "write", "edit", "grep", "find", "ls"] as const;
const SHELL = "bash";
/** Everything pi brings. What a profile does not have is shut out by a flag, whatever is told to the process later. */
const ALL: readonly string[] = [...FILES, SHELL, "powershell"];

export function profileTools(profile: ToolsFilter): readonly string[] {
  if (profile === "chat") return [];
  if (profile === "files") return FILES;
  if (profile === "workspace" || profile === "full") return [...FILES, SHELL];
  return ALL.filter((name) => profile.includes(name));
}

interface Settings {
  readonly tools?: ToolsFilter;
  readonly sandbox: "auto" | "required" | "off";
}

/** What the settings mean on a machine with this wall. Without one pi tools are off, unless the owner has switched the wall off. */
export function settledTools({ tools, sandbox }: Settings, role: Role, tier: SandboxTier): ToolsFilter {
  if (sandbox === "off") return tools === "workspace" ? "files" : (tools ?? "chat");
  if (tier === "none") return withoutPiTools(tools);
  if (tools !== undefined && tools !== "workspace") return tools;
  return role === "owner" ? "workspace" : "files"; // a shell is for owners
}

export function withoutPiTools(tools: ToolsFilter | undefined): ToolsFilter {
  return tools === undefined || typeof tools === "string" ? "chat" : tools.filter((name) => !ALL.includes(name));
}

export function piToolFlags(profile: ToolsFilter): readonly string[] {
  const allowed = profileTools(profile);
  const excluded = ALL.filter((name) => !allowed.includes(name));
  return ["--no-builtin-tools", ...(excluded.length > 0 ? ["--exclude-tools", excluded.join(",")] : [])];
}
