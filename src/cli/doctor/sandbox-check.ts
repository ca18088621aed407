/** The line about the wall around agents: what it is, what it does not hold, and what to do. Pure. */
import type { Check } from "./check.ts";

export interface SandboxFinding {
  readonly setting: string;
  readonly tier: string;
  readonly because: string;
  readonly leaks: readonly string[];
  readonly advice: string | null;
}

export function sandboxCheck({ setting, tier, because, leaks, advice }: SandboxFinding): Check {
  const line = (state: Check["state"], ...parts: readonly string[]): Check => ({
    check: "sandbox",
    state,
    say: [...parts, ...(advice === null ? [] : [advice])].join(" "),
    about: because,
  });
  if (setting === "off")
    return {
      check: "sandbox",
      state: "note",
      say: `agent.sandbox is "off": a shell of an agent can do whatever your user can. Set it to "auto".`,
    };
  if (tier === "none" && setting === "required") return line("broken", because, "Agents do not start.");
  if (tier === "none") return line("note", because, "Agents run without pi tools (shell and files).");
  const open = leaks.length === 0 ? [] : [`It does not hold: ${leaks.join(" ")}`];
  return line(tier === "full" ? "ok" : "note", `${tier}: ${because}`, ...open);
}
