/** The commands of the gateway, with what they need to know. */
import {
  type BuiltinCommandDeps,
  builtinCommands,
  type CommandRegistry,
  createCommandRegistry,
} from "../commands/index.ts";
import type { Config } from "../config/index.ts";
import type { AgentPool } from "../contracts/agent.ts";
import type { Queue } from "../contracts/queue.ts";

export interface CommandParts extends Omit<BuiltinCommandDeps, "configured" | "queued" | "all"> {
  readonly pool: AgentPool;
  queue(): Queue;
}

export function createCommands(config: () => Config, { pool, queue, ...deps }: CommandParts): CommandRegistry {
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
  const registry: CommandRegistry = createCommandRegistry(builtinCommands({ ...deps, configured, queued, all }));
  return registry;
}
