/** `pi-gw keys` as commander sees it. */
import type { Command } from "commander";
import { KEY_SCOPES } from "../contracts/api-keys.ts";
import type { AddKeyFlags } from "./keys.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

export function addKeys(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const keys = program.command("keys").description("keys that let programs in: make one, list them, revoke one");
  const amount = (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value;
    throw new commander.InvalidArgumentError("It must be a number, and not below 0.");
  };
  const scope = new commander.Option("--scope <scopes...>", "what it may do").choices(KEY_SCOPES).makeOptionMandatory();
  common(keys.command("add").description("make a key and print its secret, which is shown only now"))
    .argument("<name>", "the program it is for")
    .addOption(scope)
    .option("--agent <ids...>", "agents it may talk to (default: all)")
    .option("--tool <names...>", "tools that it and its turns may call, such as notes_* (default: all)")
    .option("--daily-usd <amount>", "what it may spend a day, in US dollars", amount)
    .option("--daily-tokens <number>", "how many tokens it may use a day", amount)
    .option("--rate <number>", "requests a minute", amount)
    .option("--expires <duration>", "how long it is valid, such as 90d (default: until it is revoked)")
    .action(async (name: string, flags: AddKeyFlags) => {
      const { addKey } = await import("./keys.ts");
      finish(await addKey(world, name, flags));
    });
  common(keys.command("list").description("list keys, with their last use")).action(async (flags: CommonFlags) => {
    const { listKeys } = await import("./keys.ts");
    finish(await listKeys(world, flags));
  });
  common(keys.command("revoke").description("revoke a key, and end all that runs in its name"))
    .argument("<id>", "the id from the list")
    .action(async (id: string, flags: CommonFlags) => {
      const { revokeKey } = await import("./keys.ts");
      finish(await revokeKey(world, id, flags));
    });
}
