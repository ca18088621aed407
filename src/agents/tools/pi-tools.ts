/** pi tools: which of them a profile has. For whom a profile has them is decided in profile.ts. Pure. */
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

export function isPiTool(name: string): boolean {
  return ALL.includes(name);
}

export function piToolFlags(profile: ToolProfile): readonly string[] {
  const allowed = profileTools(profile);
  const excluded = ALL.filter((name) => !allowed.includes(name));
  return ["--no-builtin-tools", ...(excluded.length > 0 ? ["--exclude-tools", excluded.join(",")] : [])];
}
