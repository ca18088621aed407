/** Rules about what agents bring along and what a role changes about them. */
import type { Config } from "../schema.ts";
import type { ToolsFilter } from "../sections/capabilities.ts";
import { type RuleInput, type RuleProblem, warning } from "./rule.ts";

/** The model is told where a skill is, and reads it when it needs it. Without a tool for that, pi does not even mention it. */
export function* skillRules({ config: { agent, agents } }: RuleInput): Generator<RuleProblem> {
  yield* skillRule("agent", agent.skills, agent.tools);
  for (const [index, own] of agents.entries()) {
    if (own.skills === undefined && own.tools === undefined) continue;
    yield* skillRule(`agents[${index}]`, own.skills ?? agent.skills, own.tools ?? agent.tools);
  }
}

/** A way back for a bad day: nobody should wonder later where the tools are. */
export function* bridgeRules({ config: { agent, agents } }: RuleInput): Generator<RuleProblem> {
  const off = [["agent", agent.bridge] as const, ...agents.map(({ bridge }, at) => [`agents[${at}]`, bridge] as const)];
  for (const [path, bridge] of off) {
    if (bridge !== "off") continue;
    const who = path === "agent" ? "agents have" : "this agent has";
    const message = `${path}.bridge is off, so ${who} no tools at all: not the gateway's, not pi's, not those of extensions. Set it to "live" to have them back.`;
    yield warning(`${path}.bridge`, message);
  }
}

function* skillRule(
  path: string,
  skills: Config["agent"]["skills"],
  tools: ToolsFilter | undefined,
): Generator<RuleProblem> {
  if (skills.length === 0 || readsFiles(tools)) return;
  const remedy = `Set ${path}.tools to "workspace", or to a list with "read" in it.`;
  const message = `${path}.skills has no effect: a skill is a file, and this agent has no tool that reads files. ${remedy}`;
  yield warning(`${path}.skills`, message);
}

function readsFiles(tools: ToolsFilter | undefined): boolean {
  if (tools === undefined) return true; // in a sandbox; whether there is one is not known here
  if (typeof tools === "string") return tools !== "chat";
  return tools.includes("read") || tools.includes("bash");
}
