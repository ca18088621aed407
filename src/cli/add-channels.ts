/** `pi-gw channels` and `pi-gw pairing` as commander sees them. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";

interface Parts {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addChannels(program: Command, world: CliWorld, { common, finish }: Parts): void {
  common(program.command("channels").description("show each account of a channel, and what passed last")).action(
    async (flags: CommonFlags) => {
      const { listChannels } = await import("./channels.ts");
      finish(await listChannels(world, flags));
    },
  );
}

export function addPairing(program: Command, world: CliWorld, { common, finish }: Parts): void {
  const pairing = program.command("pairing").description("give strangers access by a code");
  common(pairing.command("list").description("who waits, and who has access")).action(async (flags: CommonFlags) => {
    const { listPairings } = await import("./pairing.ts");
    finish(await listPairings(world, flags));
  });
  common(pairing.command("approve").description("give somebody access by the code they read to you"))
    .argument("<code>", "their code")
    .option("--role <role>", "member, owner or guest", "member")
    .action(async (code: string, flags: CommonFlags & { readonly role: string }) => {
      const { approvePairing } = await import("./pairing.ts");
      finish(await approvePairing(world, code, flags));
    });
  common(pairing.command("revoke").description("take their access away"))
    .argument("<code>", "their code, or the id from the list")
    .action(async (code: string, flags: CommonFlags) => {
      const { revokePairing } = await import("./pairing.ts");
      finish(await revokePairing(world, code, flags));
    });
  common(pairing.command("undo").description("undo the last decision about somebody, within ten minutes"))
    .argument("<id>", "the id from the list, or from the answer to the decision")
    .action(async (id: string, flags: CommonFlags) => {
      const { undoPairing } = await import("./pairing.ts");
      finish(await undoPairing(world, id, flags));
    });
}
