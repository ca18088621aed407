/** `pi-gw agents` as commander sees it. */
import type { Command } from "commander";
import type { AgentFlags } from "./agents.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

const ROLES = ["owner", "member", "guest"];

export function addAgents(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const agents = program.command("agents").description("look at agents, what they are told, and what they may do");
  common(agents.command("list").description("list agents and the processes that run")).action(
    async (flags: CommonFlags) => {
      const { listAgents } = await import("./agents.ts");
      finish(await listAgents(world, flags));
    },
  );
  common(agents.command("show").description("show one agent: settings, permissions, instructions"))
    .argument("<id>", "as the list shows it")
    .addOption(new commander.Option("--role <role>", "for whom it works").choices(ROLES).default("owner"))
    .action(async (id: string, flags: AgentFlags) => {
      const { showAgent } = await import("./agents.ts");
      finish(await showAgent(world, id, flags));
    });
}
