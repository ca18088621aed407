/** `pi-gw sign-ins` as commander sees it. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";

interface Parts {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addSignIns(program: Command, world: CliWorld, { common, finish }: Parts): void {
  const signIns = program.command("sign-ins").description("browsers that are signed in");
  common(signIns.command("list").description("list them")).action(async (flags: CommonFlags) => {
    const { listSignIns } = await import("./sign-ins.ts");
    finish(await listSignIns(world, flags));
  });
  common(signIns.command("end").description("sign one out"))
    .argument("<id>", "as the list shows it")
    .action(async (id: string, flags: CommonFlags) => {
      const { endSignIn } = await import("./sign-ins.ts");
      finish(await endSignIn(world, id, flags));
    });
}
