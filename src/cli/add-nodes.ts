/** `pi-gw nodes` as commander sees it. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";

interface Parts {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addNodes(program: Command, world: CliWorld, { common, finish }: Parts): void {
  const group = program.command("nodes").description("the gateways that use this database");
  common(group.command("list").description("show them, and which of them live")).action(async (flags: CommonFlags) => {
    const { nodes } = await import("./nodes.ts");
    finish(await nodes(world, flags));
  });
  common(group.command("drain").description("leave new sessions to the other gateways, before this one is stopped"))
    .argument("[name]", "another gateway, as the list names it")
    .action(async (name: string | undefined, flags: CommonFlags) => {
      const { drainNode } = await import("./nodes.ts");
      finish(await drainNode(world, flags, name));
    });
}
