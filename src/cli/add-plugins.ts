/** The commands `pi-gw plugins …`, as commander sees them. */
import type { Command } from "commander";
import type { CheckPluginFlags } from "./plugins/check-plugin.ts";
import type { NewPluginFlags } from "./plugins/new-plugin.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

interface AddOptions {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addPlugins(program: Command, world: CliWorld, { common, finish }: AddOptions): void {
  const plugins = program.command("plugins").description("write plugins, check them, and look at those that run");
  common(plugins.command("new").description("make a plugin to begin with, and the types for your editor"))
    .argument("<name>", "small letters, digits and dashes")
    .option("--dir <folder>", "where to put it (default: plugins/ in the state directory)")
    .option("--js", "JavaScript instead of TypeScript")
    .action(async (name: string, flags: NewPluginFlags) => {
      const { newPlugin } = await import("./plugins/new-plugin.ts");
      finish(await newPlugin(world, name, flags));
    });
  common(plugins.command("list").description("show the plugins of the running gateway")).action(
    async (flags: CommonFlags) => {
      const { listPlugins } = await import("./plugins/list-plugins.ts");
      finish(await listPlugins(world, flags));
    },
  );
  common(plugins.command("check").description("load a plugin without a gateway and say what is wrong with it"))
    .argument("<name>", "its name, or its folder")
    .option("--config <file>", "configuration file")
    .action(async (name: string, flags: CheckPluginFlags) => {
      const { checkOnePlugin } = await import("./plugins/check-plugin.ts");
      finish(await checkOnePlugin(world, name, flags));
    });
  common(plugins.command("reload").description("start a plugin of the running gateway anew"))
    .argument("<name>", "its name")
    .action(async (name: string, flags: CommonFlags) => {
      const { reloadPlugin } = await import("./plugins/list-plugins.ts");
      finish(await reloadPlugin(world, name, flags));
    });
}
