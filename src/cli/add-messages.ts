/** `pi-gw messages` and `pi-gw outbox` as commander sees them. */
import type { Command } from "commander";
import type { OutboxFlags } from "./messages.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

interface MessageParts {
  readonly common: Common;
  finish(code: number): void;
  limit(text: string): number;
}

export function addMessages(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish, limit }: MessageParts,
): void {
  const messages = program.command("messages").description("withdraw or change a message that waits for its turn");
  common(messages.command("cancel").description("withdraw a message that still waits"))
    .argument("<id>", "as chat --json says it: accepted")
    .action(async (id: string, flags: CommonFlags) => {
      const { cancelMessage } = await import("./messages.ts");
      finish(await cancelMessage(world, id, flags));
    });
  common(messages.command("edit").description("change the text of a message that still waits"))
    .argument("<id>", "as chat --json says it: accepted")
    .argument("<text...>", "its new text")
    .action(async (id: string, words: string[], flags: CommonFlags) => {
      const { editMessage } = await import("./messages.ts");
      finish(await editMessage(world, id, words, flags));
    });
  common(program.command("outbox").description("list replies that did not arrive, newest first"))
    .addOption(
      new commander.Option("--state <state>", "given up, or perhaps sent twice")
        .choices(["dead", "ambiguous"])
        .default("dead"),
    )
    .option("-n, --limit <number>", "how many", limit, 20)
    .action(async (flags: OutboxFlags) => {
      const { listOutbox } = await import("./messages.ts");
      finish(await listOutbox(world, flags));
    });
}
