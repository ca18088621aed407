/** `pi-gw stop`, `restart`, `open` and `sign-in-link` as commander sees them. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";

type Common = (command: Command) => Command;
type Run = (world: CliWorld, flags: CommonFlags) => Promise<number>;

export function addRunningGateway(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const add = (command: Command, description: string, load: () => Promise<Run>): Command =>
    common(command.description(description)).action(async (flags: CommonFlags) => {
      const run = await load();
      finish(await run(world, flags));
    });
  const running = () => import("./running-gateway.ts");
  add(
    program.command("stop"),
    "stop the gateway, when the turns that run have finished",
    async () => (await running()).stop,
  );
  add(
    program.command("restart"),
    "restart the gateway, and wait until it is back",
    async () => (await running()).restart,
  );
  const token = program.command("token").description("the operator's token");
  add(
    token.command("rotate"),
    "put a new token in place of the old one, which is refused at once",
    async () => (await import("./token.ts")).tokenRotate,
  ).addHelpText(
    "after",
    `
Browsers that signed in with the token are signed out; those that signed in with a password stay.`,
  );
  add(
    program.command("open"),
    "open the web console in a browser, signed in",
    async () => (await running()).openConsole,
  );
  add(
    program.command("sign-in-link"),
    "print a link that signs a browser in, once, within ten minutes",
    async () => (await running()).signInLink,
  );
}
