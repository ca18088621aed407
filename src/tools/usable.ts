/** What somebody could use, before it is called: what an agent is offered, what a search may find, and what a job asks before anything is spent. Pure. */
import type { Caller } from "../contracts/agent.ts";
import { piTool } from "./pi-tools.ts";
import { judgeOf, mayUse, type ToolPolicy } from "./policy.ts";
import type { LiveToolRegistry, UsableTool } from "./registry.ts";

interface UsableDeps<K extends keyof LiveToolRegistry> {
  readonly registry: Pick<LiveToolRegistry, K>;
  readonly policy: () => ToolPolicy;
}

/** A part of a sentence that says why not; null: nothing is known against it. */
export function whyNotUsable({ registry, policy }: UsableDeps<"usable">, name: string, caller: Caller): string | null {
  const rules = policy();
  const tool = registry.usable(name, caller)?.tool ?? piTool(name, caller, rules);
  if (!tool) return "this agent has no such tool";
  const { may, because } = mayUse(tool, caller, rules);
  return may ? null : because;
}

/** In the order of registration. `caller` null: before anybody is served. */
export function usableTools(
  { registry, policy }: UsableDeps<"allUsable">,
  caller: Caller | null,
): readonly UsableTool[] {
  const judge = judgeOf(caller, policy());
  return registry.allUsable(caller).filter(({ tool }) => judge(tool).may);
}
