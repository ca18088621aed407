/** Rules about what agents bring along and what a role changes about them. */
import type { Config } from "../schema.ts";
import type { ToolsFilter } from "../sections/capabilities.ts";
import type { Broken, RuleWorld } from "./rule.ts";

/** The model is told where a skill is, and reads it when it needs it. Without a tool for that, pi does not even mention it. */
export function* skillRules({ config: { agent, agents } }: RuleWorld): Generator<Broken> {
  yield* skillRule("agent", agent.skills, agent.tools);
  for (const [index, own] of agents.entries()) {
    if (own.skills === undefined && own.tools === undefined) continue;
    yield* skillRule(`agents[${index}]`, own.skills ?? agent.skills, own.tools ?? agent.tools);
  }
}

function* skillRule(path: string, skills: Config["agent"]["skills"], tools: ToolsFilter): Generator<Broken> {
  if (skills.length === 0 || readsFiles(tools)) return;
  const remedy = `Set ${path}.tools to "workspace", or to a list with "read" in it.`;
  const message = `${path}.skills has no effect: a skill is a file, and this agent has no tool that reads files. ${remedy}`;
  yield { severity: "warning", path: `${path}.skills`, message };
}

function readsFiles(tools: ToolsFilter): boolean {
  if (typeof tools === "string") return tools !== "chat";
  return tools.includes("read") || tools.includes("bash");
}
