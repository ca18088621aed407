/** `pi-gw acp` as commander sees it. */
import type { Command } from "commander";
import type { AcpFlags } from "./acp/serve-acp.ts";
import type { CliWorld } from "./world.ts";

export function addAcp(program: Command, world: CliWorld, { finish }: { finish(code: number): void }): void {
  program
    .command("acp")
    .description("talk to an agent from an editor that speaks ACP, on stdin and stdout; the gateway has to run")
    .option("--home <folder>", "state directory of the gateway")
    .option("--agent <id>", "the agent to talk to")
    .option("--key-file <file>", "a file with the key of a program, instead of the gateway's token")
    .action(async (flags: AcpFlags) => {
      const { serveAcp } = await import("./acp/serve-acp.ts");
      finish(await serveAcp(world, flags));
    });
}
