/** Whether somebody could use a tool, before it is called: what begins by itself asks that first, while nothing has been spent. Pure. */
import type { Caller } from "../contracts/agent.ts";
import { piTool } from "./pi-tools.ts";
import { mayUse, type ToolPolicy } from "./policy.ts";
import type { LiveToolRegistry } from "./registry.ts";

interface UsableDeps {
  readonly registry: Pick<LiveToolRegistry, "usable">;
  readonly policy: () => ToolPolicy;
}

/** A part of a sentence that says why not; null: nothing is known against it. */
export function whyNotUsable({ registry, policy }: UsableDeps, name: string, caller: Caller): string | null {
  const rules = policy();
  const tool = registry.usable(name, caller)?.tool ?? piTool(name, caller, rules);
  if (!tool) return "this agent has no such tool";
  const { may, because } = mayUse(tool, caller, rules);
  return may ? null : because;
}
