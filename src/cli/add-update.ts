/** `pi-gw update` as commander sees it. */
import type { Command } from "commander";
import type { UpdateFlags } from "./update/update.ts";
import type { CliWorld } from "./world.ts";

export function addUpdate(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: (command: Command) => Command; finish(code: number): void },
): void {
  common(program.command("update").description("install a newer version beside this one and switch to it"))
    .argument("[version]", "which one (default: the newest)")
    .option("--check", "only say whether there is a newer one")
    .option("--status", "only say which version runs, and how an update goes on or ended")
    .option("--from <file>", "a packed package (npm pack) instead of the registry")
    .option("--no-backup", "make no backup first")
    .option("--config <file>", "configuration file")
    .addHelpText(
      "after",
      `
The new version is tried on a copy of the database first. When it does not get as far as serving, the old one goes on.`,
    )
    .action(async (version: string | undefined, flags: UpdateFlags) => {
      const { update } = await import("./update/update.ts");
      finish(await update(world, version, flags));
    });
}
