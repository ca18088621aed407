/** `pi-gw service` as commander sees it. */
import type { Command } from "commander";
import type { ServiceFlags } from "./service/commands.ts";
import type { CliWorld } from "./world.ts";

type Common = (command: Command) => Command;

export function addService(
  program: Command,
  world: CliWorld,
  parts: { common: Common; finish(code: number): void; lines: (text: string) => number },
): void {
  const { common, finish, lines } = parts;
  const service = program
    .command("service")
    .description("run the gateway as a service of this machine (systemd, launchd)");
  const scoped = (command: Command): Command =>
    common(command).option("--system", "of the whole machine, not of your user; needs root");
  scoped(service.command("install").description("install it, start it now and with the machine"))
    .option("--as <user>", "the user it runs as, with --system (default: pi-gateway)")
    .option("--print", "print the file of the service and change nothing")
    .option("--no-start", "write the file and start nothing")
    .action(async (flags: ServiceFlags) => {
      const { serviceInstall } = await import("./service/commands.ts");
      finish(await serviceInstall(world, flags));
    });
  scoped(service.command("uninstall").description("stop it and remove it; the state directory stays")).action(
    async (flags: ServiceFlags) => {
      const { serviceUninstall } = await import("./service/commands.ts");
      finish(await serviceUninstall(world, flags));
    },
  );
  scoped(service.command("status").description("show what the service manager says about it")).action(
    async (flags: ServiceFlags) => {
      const { serviceStatus } = await import("./service/commands.ts");
      finish(await serviceStatus(world, flags));
    },
  );
  scoped(service.command("logs").description("show what it wrote"))
    .option("-f, --follow", "go on showing new lines until Ctrl-C")
    .option("-n, --lines <number>", "how many lines to begin with", lines, 100)
    .action(async (flags: ServiceFlags) => {
      const { serviceLogs } = await import("./service/commands.ts");
      finish(await serviceLogs(world, flags));
    });
}
