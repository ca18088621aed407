/** pi tools: which of them a profile has, and for whom. Pure. */
import type { Role } from "../../contracts/ids.ts";

/** `chat`: none. `workspace`: files of the agent's folder. `full`: a shell as well. A list: those that it names. */
export type ToolProfile = "chat" | "workspace" | "full" | readonly string[];

const FILES = ["read", "write", "edit", "grep", "find", "ls"] as const;
const SHELL = "bash";
/** Everything pi brings. What a profile does not have is shut out by a flag, whatever is told to the process later. */
const ALL: readonly string[] = [...FILES, SHELL, "powershell"];

export function profileTools(profile: ToolProfile): readonly string[] {
  if (profile === "chat") return [];
  if (profile === "workspace") return FILES;
  if (profile === "full") return [...FILES, SHELL];
  return ALL.filter((name) => profile.includes(name));
}

/** They touch files under the gateway's own user: nobody has them while the process works for nobody. For whom a profile has them is decided where profiles are made. */
export function piToolsFor(profile: ToolProfile, role: Role | null): readonly string[] {
  return role === null ? [] : profileTools(profile);
}

export function piToolFlags(profile: ToolProfile): readonly string[] {
  const allowed = profileTools(profile);
  const excluded = ALL.filter((name) => !allowed.includes(name));
  return ["--no-builtin-tools", ...(excluded.length > 0 ? ["--exclude-tools", excluded.join(",")] : [])];
}
