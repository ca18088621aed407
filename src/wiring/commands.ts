/** The commands of the gateway, with what they need to know. */
import {
  type BuiltinCommandDeps,
  builtinCommands,
  type CommandRegistry,
  createCommandRegistry,
  type TemplateNames,
} from "../commands/index.ts";
import { templateNames } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import type { AgentPool } from "../contracts/agent.ts";
import type { Queue } from "../contracts/queue.ts";

export interface CommandParts extends Omit<BuiltinCommandDeps, "configured" | "queued" | "all"> {
  readonly pool: AgentPool;
  readonly userHome: string;
  queue(): Queue;
}

export function createCommands(
  config: () => Config,
  { pool, userHome, queue, ...deps }: CommandParts,
): CommandRegistry {
  const configured: BuiltinCommandDeps["configured"] = (agentId) => {
    const { agent, agents } = config();
    const own = agents.find(({ id }) => id === agentId);
    const model = own?.model ?? agent.model ?? pool.stats().model; // without a setting pi, or the environment, has chosen
    return { model, thinking: own?.thinking ?? agent.thinking ?? null };
  };
  const queued: BuiltinCommandDeps["queued"] = {
    session: (...lane) => queue().session(...lane),
    choose: (...chosen) => queue().choose(...chosen),
  };
  const all = () => registry.all();
  const templates: TemplateNames = (agentId) => {
    const { agent, agents } = config();
    const paths = agents.find(({ id }) => id === agentId)?.promptTemplates ?? agent.promptTemplates;
    return templateNames(paths, userHome);
  };
  const list = builtinCommands({ ...deps, configured, queued, all });
  const registry: CommandRegistry = createCommandRegistry(list, templates);
  return registry;
}
