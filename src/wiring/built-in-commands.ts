/** Registers the commands that ship with the gateway, with what they need to know. */
import { type BuiltinCommandDeps, builtinCommands } from "../commands/index.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { createRoleDirectory } from "../routing/index.ts";
import type { Agents } from "./agents.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

interface CommandParts extends Groups {
  status(): GatewayStatus;
}

export function registerBuiltInCommands(core: Core, parts: CommandParts): void {
  const { clock, log, events, store, config } = core;
  const { people, tools, agents, messages, automation, status } = parts;
  const { commands, queue, lastStats } = messages;
  const list = builtinCommands({
    clock,
    log,
    events,
    store,
    stats: lastStats,
    status,
    people: people.times,
    roles: createRoleDirectory({ clock, config, grants: people.grants, policies: people.policies }),
    pairing: people.pairing,
    budget: people.budget,
    tools: tools.gate,
    approvals: tools.approvals,
    jobs: automation.jobs,
    models: agents.models,
    queued: queue,
    configured: configuredModel(core, agents),
    all: commands.all,
  });
  for (const command of list) commands.register(command);
}

/** Without a setting pi, or the environment, has chosen. */
function configuredModel({ config }: Core, { pool }: Agents): BuiltinCommandDeps["configured"] {
  return (agentId) => {
    const { agent, agents } = config();
    const own = agents.find(({ id }) => id === agentId);
    return {
      model: own?.model ?? agent.model ?? pool.stats().model,
      thinking: own?.thinking ?? agent.thinking ?? null,
    };
  };
}
