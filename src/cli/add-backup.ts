/** `pi-gw backup` and `pi-gw restore` as commander sees them. */
import type { Command } from "commander";
import type { CliWorld } from "./world.ts";
import type { BackupFlags, RestoreFlags, VerifyFlags } from "./backup/commands.ts";

type Common = (command: Command) => Command;

export function addBackup(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const backup = program.command("backup").description("back up the state directory, also while the gateway runs");
  const passphrase = (command: Command): Command =>
    command.option(
      "--passphrase-file <file>",
      "a file whose first line is the passphrase (default: ask on the terminal)",
    );
  const folder = (command: Command): Command =>
    command.option("--folder <folder>", "where backups are kept (default: backup.folder of the configuration)");
  folder(passphrase(common(backup.command("create").description("make a backup now"))))
    .option("--encrypt", "encrypt it with a passphrase")
    .option("--config <file>", "configuration file")
    .action(async (flags: BackupFlags) => {
      const { backupCreate } = await import("./backup/commands.ts");
      finish(await backupCreate(world, flags));
    });
  folder(common(backup.command("list").description("list backups, the newest first")))
    .option("--config <file>", "configuration file")
    .action(async (flags: BackupFlags) => {
      const { backupList } = await import("./backup/commands.ts");
      finish(await backupList(world, flags));
    });
  passphrase(common(backup.command("verify").description("read a whole backup and check every file in it")))
    .argument("<file>", "the backup")
    .action(async (file: string, flags: VerifyFlags) => {
      const { backupVerify } = await import("./backup/commands.ts");
      finish(await backupVerify(world, file, flags));
    });
  passphrase(common(program.command("restore").description("bring a backup back as a state directory")))
    .argument("<file>", "the backup")
    .option("--replace", "put the state directory that is there aside")
    .action(async (file: string, flags: RestoreFlags) => {
      const { restore } = await import("./backup/commands.ts");
      finish(await restore(world, file, flags));
    });
}
