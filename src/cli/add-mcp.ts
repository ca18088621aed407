/** `pi-gw mcp` as commander sees it. */
import type { Command } from "commander";
import type { McpServeFlags } from "./mcp-serve.ts";
import type { CliWorld } from "./world.ts";

export function addMcp(program: Command, world: CliWorld, { finish }: { finish(code: number): void }): void {
  const mcp = program.command("mcp").description("the gateway as an MCP server");
  mcp
    .command("serve")
    .description("speak MCP on stdin and stdout for a client that starts programs; the gateway has to run")
    .option("--home <folder>", "state directory of the gateway")
    .option("--key-file <file>", "a file with the key of a program, instead of the gateway's token")
    .action(async (flags: McpServeFlags) => {
      const { mcpServe } = await import("./mcp-serve.ts");
      finish(await mcpServe(world, flags));
    });
}
