/** `pi-gw init` as commander sees it. */
import type { Command } from "commander";
import type { InitFlags } from "./init/choices.ts";
import type { CliWorld } from "./world.ts";

type Common = (command: Command) => Command;

const EXAMPLES = `
Without flags it asks, on a terminal. A file that is there is replaced only when you say so, and a copy of it is kept.

Examples:
  pi-gw init
  pi-gw init --demo
  pi-gw init --provider anthropic --key-file key.txt --telegram-token-file bot.txt --owner telegram:user:123
  pi-gw init --endpoint http://127.0.0.1:11434/v1 --model llama3.2
  pi-gw init --pi-login ~/.pi/agent --replace
  pi-gw init --check`;

export function addInit(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  common(program.command("init").description("set up a gateway: model, channel and owner, each tried for real"))
    .option("--config <file>", "where to write the configuration")
    .option("--demo", "the demo model, which costs nothing")
    .option("--provider <name>", "a provider that pi knows, such as anthropic; with --key-file")
    .option("--endpoint <url>", "a model server of your own that speaks the OpenAI protocol")
    .option("--pi-login <folder>", "a pi folder in which you have logged in")
    .option("--key-file <file>", "holds the key of the provider or the server, and nothing else")
    .option("--model <id>", "as the provider calls it (default: a good one of those it lists)")
    .option("--telegram-token-file <file>", "holds the token of a Telegram bot")
    .option("--discord-token-file <file>", "holds the token of a Discord bot")
    .option("--owner <ids...>", "who may do everything, such as telegram:user:123")
    .option("--replace", "replace a configuration that is there; a copy is kept")
    .option("--no-test", "write it without trying it")
    .option("--check", "say what is set up in the gateway that runs, and change nothing")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: InitFlags) => {
      const { init } = await import("./init/init.ts");
      finish(await init(world, flags));
    });
}
