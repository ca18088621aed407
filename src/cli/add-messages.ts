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
  const outbox = program.command("outbox").description("replies that did not arrive, and sending one again");
  common(outbox.command("list").description("list them, newest first"))
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
  common(outbox.command("retry").description("send one again, now and behind what waits in its chat"))
    .argument("<id>", "as the list shows it")
    .option("--yes", "also when it may have arrived: its chat may show it twice")
    .action(async (id: string, flags: CommonFlags & { readonly yes?: boolean }) => {
      const { retryReply } = await import("./messages.ts");
      finish(await retryReply(world, id, flags));
    });
}
