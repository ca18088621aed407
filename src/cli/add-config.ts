/** `pi-gw config` as commander sees it. */
import type { Command } from "commander";
import type { ConfigFlags } from "./config-command.ts";
import type { SetFlags } from "./config-edit.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Common = (command: Command) => Command;

export function addConfig(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const config = program.command("config").description("look at the configuration, and change it");
  const withFile = (command: Command): Command => common(command).option("--config <file>", "configuration file");
  withFile(config.command("check").description("check a configuration file"))
    .argument("[file]", "the file; without it, the one the gateway would use")
    .action(async (file: string | undefined, flags: ConfigFlags) => {
      const { configCheck } = await import("./config-command.ts");
      finish(await configCheck(world, file, flags));
    });
  withFile(config.command("get").description("print the settings in force, without secrets"))
    .argument("[path]", "one setting, such as gateway.port")
    .action(async (path: string | undefined, flags: ConfigFlags) => {
      const { configGet } = await import("./config-command.ts");
      finish(await configGet(world, path, flags));
    });
  withFile(config.command("set").description("change a setting in the file; comments stay"))
    .argument("<path>", "the setting, such as gateway.port")
    .argument("[value]", 'JSON, or a text; "-" reads it from the input, so that a secret is in no history')
    .option("--unset", "take the setting away, so that its default holds")
    .action(async (path: string, value: string | undefined, flags: SetFlags) => {
      const { configSet } = await import("./config-edit.ts");
      finish(await configSet(world, path, value, flags));
    });
  common(
    config.command("revert").description("go back to the last good settings, when the file is not in force"),
  ).action(async (flags: CommonFlags) => {
    const { configRevert } = await import("./config-edit.ts");
    finish(await configRevert(world, flags));
  });
  withFile(config.command("edit").description("edit the file in $EDITOR; it is checked before it counts")).action(
    async (flags: ConfigFlags) => {
      const { configEdit } = await import("./config-editor.ts");
      finish(await configEdit(world, flags));
    },
  );
  withFile(config.command("diff").description("print the settings that differ from their defaults")).action(
    async (flags: ConfigFlags) => {
      const { configDiff } = await import("./config-edit.ts");
      finish(await configDiff(world, flags));
    },
  );
  common(config.command("schema").description("print the JSON Schema for editors")).action(
    async (flags: CommonFlags) => {
      const { configSchema } = await import("./config-command.ts");
      finish(await configSchema(world, flags));
    },
  );
}
