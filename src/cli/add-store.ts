/** `pi-gw store` as commander sees it. */
import type { Command } from "commander";
import type { MigrateFlags } from "./store/migrate.ts";
import type { CliWorld } from "./world.ts";

type Common = (command: Command) => Command;

export function addStore(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const store = program.command("store").description("the database of the gateway");
  common(store.command("migrate").description("move everything to Postgres, or back, while the gateway is stopped"))
    .option("--to <target>", 'sqlite, or the address of a Postgres database; "${NAME}" reads it from a variable')
    .option("--to-file <file>", "a file whose first line is the address, so that it is in no history")
    .option("--write-config", "set store.url in the configuration at the end")
    .option("--config <file>", "configuration file")
    .action(async (flags: MigrateFlags) => {
      const { storeMigrate } = await import("./store/migrate.ts");
      finish(await storeMigrate(world, flags));
    });
}
