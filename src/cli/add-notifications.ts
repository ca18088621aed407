/** `pi-gw notifications` as commander sees it. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";

interface Parts {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addNotifications(program: Command, world: CliWorld, { common, finish }: Parts): void {
  const group = program.command("notifications").description("browsers that get notifications");
  common(group.command("list").description("list them")).action(async (flags: CommonFlags) => {
    const { listNotified } = await import("./notifications.ts");
    finish(await listNotified(world, flags));
  });
  common(group.command("test").description("send one a notification that says that it works"))
    .argument("<id>", "as the list shows it")
    .action(async (id: string, flags: CommonFlags) => {
      const { testNotified } = await import("./notifications.ts");
      finish(await testNotified(world, id, flags));
    });
  common(group.command("remove").description("send one no more notifications"))
    .argument("<id>", "as the list shows it")
    .action(async (id: string, flags: CommonFlags) => {
      const { removeNotified } = await import("./notifications.ts");
      finish(await removeNotified(world, id, flags));
    });
}
